"""What ran on a server, as its performance_schema counted it: a digest without a log.

Nothing that the server has counted is emptied. Rows of one fingerprint are one group, whatever schemas they
ran in, with the id that the same statements have in a slow log's digest.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from mydyno.core.plurals import listed
from mydyno.queries.digest_table import Reading, look_at_table, read, refuse_what_is_off, uncounted
from mydyno.queries.fingerprints import fingerprints
from mydyno.queries.records import Digest, Problem, ProblemKind, Source
from mydyno.queries.statement_groups import Limits, Named, beyond, example, groups_of, representative
from mydyno.queries.summary import Row, difference, figures, was_reset
from mydyno.server.access import dbapi
from mydyno.server.access.login import Login
from mydyno.server.access.session import session, show_global
from mydyno.survey.asking import Asking, account_of
from mydyno.survey.server.interval import Report, Wait, pause, sit_out

_ANSWER_SECONDS = 120
"""A full table of digests with their histograms takes about a second; on a busy server longer."""
_NAMED_KINDS = 5


@dataclass(frozen=True)
class _Counts:
    """What the server has counted."""

    source: str
    variables: Mapping[str, str]
    before: Reading | None
    after: Reading
    problems: tuple[Problem, ...]


def read_digests(
    login: Login, *, seconds: float | None, limit: int | None, report: Report, wait: Wait = pause
) -> Digest:
    """All since the server began to count, or with `seconds` what ends within them (Ctrl-C ends them early).

    `limit`: so many groups, and the others summed up. Raises ServerError where the server counts nothing or
    the account may not read it, with what helps; MissingToolError, EngineError.
    """
    counts = _read_counts(login, seconds, report, wait)
    report("grouping the digests")
    return _digest(counts, limit)


def _read_counts(login: Login, seconds: float | None, report: Report, wait: Wait) -> _Counts:
    source = f"performance_schema of {login.address}"
    with session(login, answer_seconds=_ANSWER_SECONDS) as cursor:
        leave_itself_out(cursor)
        asking = Asking(cursor, account_of(cursor), [])
        variables = {name.lower(): value for name, value in show_global(cursor, "VARIABLES").items()}
        refuse_what_is_off(asking, login.address, variables)
        not_counted, not_timed = uncounted(asking, login.address)
        table = look_at_table(asking, login.address)
        before, is_whole = None, True
        if seconds is not None:
            before = read(asking, login.address, table, with_texts=False)
            is_whole = sit_out(cursor, seconds, report, wait)
        report("reading the digests")
        after = read(asking, login.address, table, with_texts=True)
    problems = [
        *_of_kinds("not-counted", source, "not counted", not_counted),
        *_of_kinds("not-timed", source, "counted but not timed", not_timed),
    ]
    if before is not None and not is_whole:
        watched = (after.at_us - before.at_us) / 1e6
        says = f"ended by Ctrl-C after {watched:.0f} of {seconds:g} s"
        problems.insert(0, Problem(kind="interrupted", source=source, count=1, says=says))
    return _Counts(source, variables, before, after, tuple(problems))


def leave_itself_out(cursor: dbapi.Cursor) -> None:
    """Requests that this session is not counted; an account without that right is counted."""
    with suppress(dbapi.Error):
        cursor.execute(
            "UPDATE performance_schema.threads SET INSTRUMENTED = 'NO' WHERE PROCESSLIST_ID = CONNECTION_ID()"
        )


def _digest(counts: _Counts, limit: int | None) -> Digest:
    limits = Limits.of(counts.variables)
    before = counts.before.rows if counts.before else {}
    rows = difference(before, counts.after.rows.values())
    nameless = [row for row in rows if row.digest is None]
    named = _named([row for row in rows if row.digest is not None], limits, counts.source)
    groups = groups_of(named)
    total = figures(rows)
    return Digest(
        sources=(
            Source(
                name=counts.source,
                bytes=0,
                server=f"{counts.variables.get('version')} ({counts.variables.get('version_comment')})",
                entries=total.count,
                first_us=counts.before.at_us if counts.before else total.first_us,
                last_us=counts.after.at_us,
            ),
        ),
        problems=(*counts.problems, *_problems(counts, nameless, named)),
        total=total,
        groups=tuple(groups[:limit]),
        rest=beyond(groups, limit, nameless),
    )


def _named(rows: Sequence[Row], limits: Limits, source: str) -> list[Named]:
    chosen = [representative(row, limits) for row in rows]
    samples = [row.sample.text for row in rows if row.sample is not None]
    answers = fingerprints([*(text for text, _ in chosen), *samples])
    masked = iter(answers[len(rows) :])
    return [
        Named(row, answer, is_cut, example(row, next(masked).example, limits, source) if row.sample else None)
        for row, (_, is_cut), answer in zip(rows, chosen, answers, strict=False)
    ]


def _problems(counts: _Counts, nameless: Sequence[Row], named: Sequence[Named]) -> Iterator[Problem]:
    size = counts.variables.get("performance_schema_digests_size")
    length = Limits.of(counts.variables).digest
    before, after = counts.before.rows if counts.before else {}, counts.after.rows
    problems: Sequence[tuple[ProblemKind, int, str]] = (
        (
            "digests-lost",
            sum(row.count for row in nameless),
            f"statements found the server's table of {size} digests full and are in no group; a larger"
            " performance_schema_digests_size (and a restart) has space for all",
        ),
        (
            "cut-digest",
            sum(each.is_cut for each in named),
            f"the server keeps {length} bytes of a digest (max_digest_length,"
            " performance_schema_max_digest_length): statements that differ later are one group here",
        ),
        (
            "counters-reset",
            sum(key not in after or was_reset(old, after[key]) for key, old in before.items()),
            "the server's table was emptied meanwhile: earlier statements are missing",
        ),
    )
    for kind, count, says in problems:
        if count:
            yield Problem(kind=kind, source=counts.source, count=count, says=says)


def _of_kinds(kind: ProblemKind, source: str, what: str, names: Sequence[str]) -> Iterator[Problem]:
    if not names:
        return
    yield Problem(
        kind=kind,
        source=source,
        count=len(names),
        says=f"kinds of statement are {what} (performance_schema.setup_instruments):"
        f" {listed(names, _NAMED_KINDS)}",
    )
