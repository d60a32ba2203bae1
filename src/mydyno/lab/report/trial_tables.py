"""The numbers of one trial's page as tables of text."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from mydyno.core.units import format_bytes
from mydyno.lab.analysis.littles_law import Utilisation
from mydyno.lab.analysis.time_spent import Key, Part
from mydyno.lab.analysis.words import Words
from mydyno.lab.report.tables import place_name
from mydyno.lab.report.trial_data import COUNTED, MACHINE, SPEED, charts_of
from mydyno.lab.report.views.transactions import differ_from_statements, per_second
from mydyno.lab.report.views.trial_pages import KEYS, LABEL, TrialPage, TrialPhase
from mydyno.lab.results.records import Latency, PhaseRecord, StatementRecord
from mydyno.page.format import MISSING, count, duration, latency, number, seconds
from mydyno.page.table import Table

_LATENCIES: Mapping[str, Callable[[Latency], float | None]] = {
    "mean": lambda one: one.mean_ns,
    "p50": lambda one: one.p50_ns,
    "p95": lambda one: one.p95_ns,
    "p99": lambda one: one.p99_ns,
    "p99.9": lambda one: one.p999_ns,
}
_DEPTH: dict[Key, str] = dict.fromkeys(
    ("row-locks", "commit", "cpu-user", "cpu-system", "between", "unknown"), "\N{NO-BREAK SPACE}" * 3
)
"""The prefix of a part that is of the statements."""


def facts(page: TrialPage) -> tuple[tuple[str, str], ...]:
    """What the trial was, one fact a line."""
    trial = page.trial
    values = [
        ("setting", page.row.setting.title),
        ("order", f"{page.row.order} of {page.planned}"),
        ("block", str(trial.block)),
        ("host", trial.host or MISSING),
        ("started", MISSING if page.imported else trial.started_at),
        ("took", duration(trial.seconds)),
        ("server", trial.server_version or MISSING),
        ("durability", trial.durability or MISSING),
        ("seed", MISSING if page.imported else str(trial.seed)),
        *page.data,
    ]
    if trial.ground is not None:
        memory = "" if trial.ground.memory_bytes is None else f", {format_bytes(trial.ground.memory_bytes)}"
        text = f"{trial.ground.kind}, kernel {trial.ground.kernel}, CPUs: {trial.ground.cpus}{memory}"
        values.append(("environment", text))
    return tuple((name, value) for name, value in values if value != MISSING)


def settings_table(page: TrialPage) -> Table:
    """In force, and as configured where that is written differently."""
    rows = tuple(
        (name, MISSING if value.in_force is None else value.in_force or "(empty)", value.configured or "")
        for name, value in page.settings
    )
    return Table(("variable", "in force", "configured"), rows, frozenset({0, 1, 2}))


def phases_table(page: TrialPage, words: Words) -> Table:
    """Phases down. What no phase of the trial has (retries, reconnects) has no column."""
    records = [phase.record for phase in page.phases]
    again = [name for name in ("retries", "reconnects") if any(getattr(one, name) for one in records)]
    named = any(isinstance(phase.place, str) for phase in page.phases)
    rows = tuple(
        (
            place_name(phase.place),
            count(one.connections_reached),
            number(one.queries_per_second),
            seconds(_measured(one)),
            *_latencies(one.latency)[1:],
            count(sum(one.errors.values())),
            *(count(getattr(one, name)) for name in again),
        )
        for phase, one in zip(page.phases, records, strict=True)
    )
    place = words.part if named else f"{words.load} configured"
    heads = (place, "reached", words.rate_short, "measured", *[*_LATENCIES][1:], "errors", *again)
    return Table(heads, rows, frozenset({0} if named else ()))


def _latencies(of: Latency) -> list[str]:
    return [latency(value(of)) for value in _LATENCIES.values()]


def transactions_table(page: TrialPage, words: Words) -> Table | None:
    """A row for each phase and name of a transaction; None where they say no more than the statements do."""
    if not differ_from_statements(phase.record for phase in page.phases):
        return None
    rows = tuple(
        (
            place_name(phase.place),
            name,
            count(of.count),
            number(per_second(phase.record, name)),
            *_latencies(of),
        )
        for phase in page.phases
        for name, of in phase.record.transactions_by_name.items()
    )
    heads = (words.load, "transaction", "count", "per second", *_LATENCIES)
    return Table(heads, rows, frozenset({1}))


def statements_table(page: TrialPage, words: Words, *, all_phases: bool) -> Table | None:
    """A row for each phase and kind of statement, else the kinds of the phase with the best rate; None when
    no phase distinguishes kinds."""
    rows = tuple(
        (
            place_name(phase.place),
            statement.kind,
            count(statement.count),
            _share_of(statement, phase.record),
            *_latencies(statement.latency),
            count(statement.errors),
        )
        for phase in (page.phases if all_phases else _fastest(page.phases))
        for statement in phase.record.statements
    )
    if not rows:
        return None
    heads = (words.load, "kind", "count", "of the time", *_LATENCIES, "errors")
    return Table(heads, rows, frozenset({1}))


def _fastest(phases: Sequence[TrialPhase]) -> Sequence[TrialPhase]:
    return sorted(phases, key=lambda phase: phase.record.queries_per_second or 0.0)[-1:]


def _measured(phase: PhaseRecord) -> float | None:
    if phase.measured_from_s is None or phase.measured_to_s is None:
        return None
    return phase.measured_to_s - phase.measured_from_s


def _share_of(statement: StatementRecord, phase: PhaseRecord) -> str:
    """Of the connections' time, where latency is the time of the statement alone."""
    measured = _measured(phase)
    mean = statement.latency.mean_ns
    if phase.latency_kind != "service" or not measured or mean is None or not phase.connections_reached:
        return MISSING
    return percent(statement.latency.count * mean / 1e9 / (measured * phase.connections_reached))


def percent(share: float | None) -> str:
    return MISSING if share is None else f"{share * 100:.1f}%"


def time_table(page: TrialPage, words: Words) -> Table | None:
    """Parts of the connections' time down, phases across; None when nothing was measured."""
    wholes = [phase.spent.whole if phase.spent else None for phase in page.phases]
    there = {key for whole in wholes if whole for key in _keys(whole)}
    if not there:
        return None
    rows = tuple(
        (_DEPTH.get(key, "") + LABEL[key], *(_share(whole, key) for whole in wholes))
        for key in KEYS
        if key in there and key != "all"
    )
    return Table(("part of the time", *_heads(page.phases, words)), rows, frozenset({0}))


def _keys(part: Part) -> Iterator[Key]:
    yield part.key
    for inner in part.parts:
        yield from _keys(inner)


def _share(whole: Part | None, key: Key) -> str:
    part = whole.find(key) if whole else None
    return MISSING if part is None else percent(part.share)


def generators_table(page: TrialPage, words: Words) -> Table | None:
    """What each generator did, a row for each phase and host; None where the load came from one machine."""
    rows = tuple(
        (
            place_name(phase.place),
            share.host,
            count(share.connections),
            count(share.queries),
            percent(share.queries / phase.record.queries if phase.record.queries else None),
            percent(share.cpu_s / (share.threads * share.measured_s) if share.measured_s else None),
            percent(share.machine_busy),
            latency(None if share.late_s is None else abs(share.late_s) * 1e9),
            latency(share.clock_error_s * 1e9),
        )
        for phase in page.phases
        for share in phase.record.shares
    )
    heads = (
        *(words.load, "generator", "connections", words.events, "share", "CPU of its threads"),
        *("its machine busy", "off the start", "clock known within"),
    )
    return Table(heads, rows, frozenset({1})) if rows else None


def busy_table(page: TrialPage, words: Words) -> Table | None:
    """How busy CPUs and disks were, phases across; None where nothing was sampled."""
    seen = [phase.machine for phase in page.phases]
    disks = sorted({name for one in seen if one for name in one.disks})
    rows = [
        (name, *(MISSING if one is None else cell(one) for one in seen))
        for name, cell in (*_machine(), *((f"disk {name} busy", _disk(name)) for name in disks))
    ]
    known = tuple(row for row in rows if set(row[1:]) != {MISSING})
    return Table(("busy", *_heads(page.phases, words)), known, frozenset({0})) if known else None


def _machine() -> list[tuple[str, Callable[[Utilisation], str]]]:
    return [
        ("CPUs in user mode", lambda one: percent(one.user)),
        ("CPUs in the kernel", lambda one: percent(one.system)),
        ("CPUs idle, waiting for a disk", lambda one: percent(one.iowait)),
        ("CPU time stolen by the hypervisor", lambda one: percent(one.steal)),
        ("CPUs that the server kept busy", lambda one: number(one.server_cpus)),
        ("CPUs that the client kept busy", lambda one: number(one.client_cpus)),
    ]


def _disk(name: str) -> Callable[[Utilisation], str]:
    return lambda one: percent(one.disks.get(name, 0.0))


def counted_table(page: TrialPage, words: Words) -> Table | None:
    """What takes time and was only counted, per second, phases across; what never happened is left out."""
    rates = [
        {one.name: one.per_second for one in phase.spent.untimed} if phase.spent else {}
        for phase in page.phases
    ]
    names = dict.fromkeys(name for each in rates for name, rate in each.items() if rate)
    if not names:
        return None
    rows = tuple((name, *(number(each.get(name)) for each in rates)) for name in names)
    return Table(("per second", *_heads(page.phases, words)), rows, frozenset({0}))


def _heads(phases: Sequence[TrialPhase], words: Words) -> Iterator[str]:
    return (words.amount(phase.place) if isinstance(phase.place, int) else phase.place for phase in phases)


def notes(page: TrialPage, words: Words) -> tuple[str, ...]:
    """What to know when reading where the time went, one sentence each."""
    known = [phase for phase in page.phases if phase.spent]
    background = [phase for phase in known if phase.spent and phase.spent.background >= _WORTH_TELLING]
    full = [
        phase
        for phase in known
        if phase.machine and phase.machine.busy is not None and phase.machine.busy >= _CPUS_FULL
    ]
    blind = [phase for phase in known if phase.machine is None]
    sentences = []
    if background:
        most = max(phase.spent.background for phase in background if phase.spent)
        sentences.append(
            f"The server used more CPU than its statements took{_at(background, known, words)}, by up to "
            f"{percent(most)} of the connections' time: its background threads, cut off here."
        )
    if full:
        sentences.append(
            f"The machine's CPUs were over {_CPUS_FULL * 100:g}% busy{_at(full, known, words)}: much of the "
            "time that is not accounted for, or is between client and server, was probably spent waiting "
            "for a CPU."
        )
    if blind and not page.series.empty:
        sentences.append(
            f"Fewer than two samples were taken in the measured window{_at(blind, known, words)}: the "
            "server's share of the time is unknown there (sampling.every)."
        )
    return tuple(sentences)


def _at(phases: Sequence[TrialPhase], of: Sequence[TrialPhase], words: Words) -> str:
    """` at 1 connection, at 16 connections`, or nothing when it is all of them."""
    return "" if len(phases) == len(of) else ",".join(words.at(phase.place) for phase in phases)


_WORTH_TELLING = 0.01
_CPUS_FULL = 0.9


def trial_sections(pages: Sequence[TrialPage], words: Words) -> Iterator[dict[str, object]]:
    """What the template of the trials shows of each."""
    few = sum(len(phase.record.statements) for page in pages for phase in page.phases) <= _MOST_STATEMENTS
    for page in pages:
        yield {
            "page": page,
            "facts": facts(page),
            "settings": settings_table(page),
            "phases": phases_table(page, words),
            "transactions": transactions_table(page, words),
            "statements": statements_table(page, words, all_phases=few),
            "time": time_table(page, words),
            "generators": generators_table(page, words),
            "busy": busy_table(page, words),
            "counted": counted_table(page, words),
            "notes": notes(page, words),
            "charts": tuple(_over_time(page, words)),
        }


def _over_time(page: TrialPage, words: Words) -> Iterator[tuple[str, str]]:
    """(name, what it shows) of the charts that are drawn over time."""
    titles = {
        SPEED: f"{words.rate_short} and p99 latency",
        COUNTED: "Counters of the server",
        MACHINE: "CPU time and disks of the machine",
    }
    for name in charts_of(page):
        if name in titles:
            yield name, f"{titles[name]} of {page.row.label} over time"


_MOST_STATEMENTS = 3_000
"""Rows for kinds of statement on one page; with more, each trial shows them of its fastest phase alone."""
