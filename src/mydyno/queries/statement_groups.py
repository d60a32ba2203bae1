"""Rows of performance_schema under their fingerprints, as the groups of a digest: pure.

A digest text is a list of tokens with blanks between them: identifiers are in backticks, literals are
`?`, and a keyword is spelled as one of the words that mean the same to the server's lexer (source:
sql/sql_digest.cc and sql/lex.h of MySQL; tried on MySQL 5.6 and 9.7 and MariaDB 10.5, 10.11 and 11.8).
Written as a statement with the usual words, it has the fingerprint of the statements that it covers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from mydyno.core.words import words
from mydyno.queries.fingerprints import Fingerprint
from mydyno.queries.records import Example, Group, Rest
from mydyno.queries.summary import Row, Sample, figures

_USUAL_BYTES = 1024
_CUT = "..."
"""How a sample ends that was longer than the server keeps."""
_TOKEN = re.compile(
    r"(?:@@)?`[^`]*`"
    r"|\((?:\.\.\.|\?)\)(?: /\* , \.\.\. \*/)?"
    r"|@?\?, \.\.\."
    r"|\(_charset\) \?"
    r"|\S+"
)
"""One of the server's tokens; a reduced list is one, too."""

_LISTS: Mapping[str, str] = {
    "?, ...": "?, ?",
    "@?, ...": "@?, ?",
    "(?)": "(?)",
    "(...)": "(?, ?)",
    "(?) /* , ... */": "(?), (?)",
    "(...) /* , ... */": "(?, ?), (?, ?)",
    "(_charset) ?": "?",
    "(unknown)": "?",
}
"""`(unknown)` is how MariaDB writes the token of X'41'."""

_USUAL: Mapping[str, str] = {
    "CHARACTER": "char",
    "DISTINCTROW": "distinct",
    "INTEGER": "int",
    "RLIKE": "regexp",
    "SCHEMA": "database",
    "SCHEMAS": "databases",
    "SOME": "any",
    **{f"SQL_TSI_{unit.upper()}": unit for unit in words("second minute hour day week month quarter year")},
    "SYSTEM_USER": "user",
    "VARCHARACTER": "varchar",
}
"""The word that people write, for the one that the server shows."""
_SHOW_FIELDS = re.compile(r"^(SHOW (?:FULL )?)FIELDS\b")
"""Elsewhere FIELDS is what people write: LOAD DATA ... FIELDS TERMINATED BY."""


def as_statement(digest_text: str) -> str:
    """A statement of this digest, as it is usually written."""
    written = " ".join(_written(token) for token in tokens(digest_text))
    return _SHOW_FIELDS.sub(r"\1columns", written)


def tokens(digest_text: str) -> Iterator[str]:
    return (token[0] for token in _TOKEN.finditer(digest_text))


def _written(token: str) -> str:
    return _LISTS.get(token) or _USUAL.get(token) or token


_NAME_BYTES = 36
"""What a name of 32 bytes takes."""


def is_cut(digest_text: str, most_bytes: int) -> bool:
    """Whether a token may be missing at its end, since it would not have fitted any more.

    The server keeps `most_bytes` of tokens, two bytes each and the name's length and bytes for a name, and
    does not report whether it kept all of them: a text without space for another name counts as cut.
    """
    return sum(map(_kept_bytes, tokens(digest_text))) + _NAME_BYTES > most_bytes


def _kept_bytes(token: str) -> int:
    return 4 + len(token[1:-1].encode()) if token.startswith("`") else 2


@dataclass(frozen=True)
class Limits:
    """How much of a statement a server keeps, in bytes."""

    digest: int
    sample: int

    @classmethod
    def of(cls, variables: Mapping[str, str]) -> Limits:
        """MySQL up to 5.6.23 has no variable for it and keeps the usual 1024."""
        digest = min(
            int(variables.get("max_digest_length", _USUAL_BYTES)),
            int(variables.get("performance_schema_max_digest_length", 1 << 20)),
        )
        return cls(digest, int(variables.get("performance_schema_max_sql_text_length", _USUAL_BYTES)))

    def cuts_sample(self, sample: Sample) -> bool:
        return sample.text.endswith(_CUT) and len(sample.text.encode()) >= self.sample - len(_CUT)


@dataclass(frozen=True)
class Named:
    """A row with what its statements have in common."""

    row: Row
    fingerprint: Fingerprint
    is_cut: bool
    """Whether the fingerprint is of the beginning only, and so the id no other source's."""
    example: Example | None


def representative(row: Row, limits: Limits) -> tuple[str, bool]:
    """A statement of this digest, and whether it is the beginning only.

    The digest's own text is the same for all of its statements. Where the server has cut it, a sample that is
    whole says more.
    """
    if not is_cut(row.text, limits.digest):
        return as_statement(row.text), False
    if row.sample is not None and not limits.cuts_sample(row.sample):
        return row.sample.text, False
    return as_statement(row.text), True


def example(row: Row, shown: str, limits: Limits, source: str) -> Example | None:
    """The server's sample, as `shown`: with its secrets masked."""
    if row.sample is None:
        return None
    return Example(
        text=shown,
        bytes=len(row.sample.text.encode()),
        is_cut=limits.cuts_sample(row.sample),
        query_time_us=row.sample.query_time_us,
        time_us=row.sample.seen_us,
        database=row.schema,
        source=source,
    )


def groups_of(named: Iterable[Named]) -> list[Group]:
    """By total query time, the largest first; ties by count, then by id."""
    by_id: dict[str, list[Named]] = {}
    for each in named:
        by_id.setdefault(each.fingerprint.id, []).append(each)
    groups = [_group(id_, members) for id_, members in by_id.items()]
    return sorted(groups, key=lambda group: (-group.query_time_us, -group.count, group.id))


def _group(id_: str, members: list[Named]) -> Group:
    examples = [each.example for each in members if each.example is not None]
    first = members[0]
    return Group(
        **dict(figures([each.row for each in members])),
        id=id_,
        fingerprint=first.fingerprint.text,
        is_cut=first.fingerprint.is_cut or first.is_cut,
        example=max(examples, key=lambda each: each.query_time_us or 0, default=None),
    )


def beyond(groups: list[Group], limit: int | None, nameless: Iterable[Row]) -> Rest | None:
    """What the groups after the first `limit` come to, with the statements that belong to no group."""
    left = [] if limit is None else groups[limit:]
    lost = figures(list(nameless))
    if not left and not lost.count:
        return None
    return Rest(
        groups=len(left),
        count=lost.count + sum(group.count for group in left),
        query_time_us=lost.query_time_us + sum(group.query_time_us for group in left),
    )
