"""The Query Barrel Report, its figures true or under strict-compat the original's, and their use in `main`.

Times are milliseconds. `q_per_s` has the time base of the original: from before the first connection to
after the last disconnection. The steady rate next to it counts from the moment at which all are connected.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mydyno.lab.load.failures import added
from mydyno.lab.load.messages import Histogram, PhaseEnd
from mydyno.lab.workload.smack.grammar import Expression, Figure, Joined, Literal, Variable

CONNECT = "connect"
"""How the engine calls the opening of a connection by an event, as under strict-compat: no query type."""
_SHORTEST_S = 1e-9


@dataclass(frozen=True)
class Spread:
    """Times of a number of events, in ms; None without any."""

    count: int = 0
    max_ms: float | None = None
    min_ms: float | None = None
    mean_ms: float | None = None
    p95_ms: float | None = None
    """Of several phases the largest."""


@dataclass(frozen=True)
class TypeFigures:
    """Statements of one query type."""

    type: str
    count: int
    errors: int
    times: Spread
    q_per_s: float | None
    steady_q_per_s: float | None


@dataclass(frozen=True)
class ClientReport:
    """What one client type did between create_threads and collect_threads."""

    client: str
    asked: int
    clients: int
    """Connections that could be opened."""
    connect: Spread
    types: tuple[TypeFigures, ...]
    run_s: float
    errors: dict[str, int] = field(default_factory=dict)
    error_examples: dict[str, str] = field(default_factory=dict)
    interrupted: bool = False
    aborted: str | None = None

    def of_type(self, name: str) -> TypeFigures | None:
        return next((one for one in self.types if one.type == name), None)


def gather(client: str, threads: int, ends: list[PhaseEnd], slept_s: float = 0.0) -> ClientReport:
    """The report of all barrels unloaded since create_threads; `slept_s` is part of its run time."""
    run_s = slept_s + sum((end.ended_ns - end.started_ns) / 1e9 for end in ends)
    steady_s = sum(
        (end.measured_to_ns - end.measured_from_ns) / 1e9
        for end in ends
        if end.measured_from_ns is not None and end.measured_to_ns is not None
    )
    names = sorted({name for end in ends for name in end.statements} - {CONNECT})
    return ClientReport(
        client=client,
        asked=threads,
        clients=min((end.connections_reached for end in ends), default=0),
        connect=_spread([end.connects.latency for end in ends]),
        types=tuple(_type(name, ends, run_s, steady_s) for name in names),
        run_s=run_s,
        errors=added(end.errors for end in ends),
        error_examples={code: text for end in ends for code, text in end.error_examples.items()},
        interrupted=any(end.interrupted for end in ends),
        aborted=next((end.aborted for end in ends if end.aborted), None),
    )


def _type(name: str, ends: list[PhaseEnd], run_s: float, steady_s: float) -> TypeFigures:
    found = [end.statements[name] for end in ends if name in end.statements]
    count = sum(one.count for one in found)
    return TypeFigures(
        type=name,
        count=count,
        errors=sum(one.errors or 0 for one in found),
        times=_spread([one.latency for one in found]),
        q_per_s=count / run_s if run_s > _SHORTEST_S else None,
        steady_q_per_s=count / steady_s if steady_s > _SHORTEST_S else None,
    )


def _spread(histograms: list[Histogram]) -> Spread:
    filled = [one for one in histograms if one.count]
    count = sum(one.count for one in filled)
    if not count:
        return Spread()
    return Spread(
        count=count,
        max_ms=max(one.max_ns or 0 for one in filled) / 1e6,
        min_ms=min(one.min_ns or 0 for one in filled) / 1e6,
        mean_ms=sum((one.mean_ns or 0.0) * one.count for one in filled) / count / 1e6,
        p95_ms=max(one.p95_ns or 0 for one in filled) / 1e6,
    )


def as_text(report: ClientReport, strict: bool) -> str:
    """The report as it is printed, without the last line's end."""
    lines = [f"Query Barrel Report for client {report.client}", _connect_line(report, strict)]
    if strict:
        lines.append("Query_type\tnum_queries\tmax_time\tmin_time\tq_per_s")
        for one in report.types:
            # Which of its times each client saw last is not kept: the true maximum stands in for it.
            lines.append(f"{one.type}\t{one.count}\t{_whole(one.times.max_ms)}\t0\t{_rate(one.q_per_s)}")
        return "\n".join(lines)
    lines.append(
        "Query_type\tnum_queries\tmax_time(corrected)\tmin_time(corrected)\tq_per_s(compat)"
        "\tq_per_s(steady)\tp95_time\terrors"
    )
    for one in report.types:
        times = one.times
        cells = [one.type, str(one.count), _ms(times.max_ms), _ms(times.min_ms), _rate(one.q_per_s)]
        cells += [_rate(one.steady_q_per_s), _ms(times.p95_ms), str(one.errors)]
        lines.append("\t".join(cells))
    if report.errors:
        counts = ", ".join(f"{code}: {count}" for code, count in sorted(report.errors.items()))
        lines.append(f"errors by code: {counts}")
    return "\n".join(lines)


def _connect_line(report: ClientReport, strict: bool) -> str:
    show = _whole if strict else _ms
    low, high = report.connect.min_ms, report.connect.max_ms
    average = report.connect.mean_ms
    least = show(low)
    if strict and report.clients == 1:
        least = "-1"  # The original leaves its parent out of both ends, and here nobody else is.
    return f"connect: max={show(high)}ms  min={least}ms avg= {show(average)}ms from {report.clients} clients "


def _ms(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.3f}"


def _whole(value: float | None) -> str:
    return "0" if value is None else str(int(value))


def _rate(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.2f}"


def evaluate(
    expression: Expression,
    arguments: Sequence[str],
    variables: Mapping[str, str],
    reports: Mapping[str, ClientReport],
    strict: bool,
) -> str:
    """The text that `expression` stands for; `arguments[0]` is the file, `reports` the last of each client.

    A figure of a client that has no report here is empty, as is a query type that it did not run.
    """
    match expression:
        case Literal():
            return expression.text
        case Variable() if expression.name.isdecimal():
            return arguments[int(expression.name)]
        case Variable():
            return variables.get(expression.name, "")
        case Joined():
            parts = (evaluate(part, arguments, variables, reports, strict) for part in expression.parts)
            return "".join(parts)
        case Figure():
            report = reports.get(expression.client)
            return _figure(expression, report, strict) if report else ""


def _figure(figure: Figure, report: ClientReport, strict: bool) -> str:
    """Milliseconds with three decimals, rates with two, counts as they are.

    Under strict-compat all have six decimals, as the original writes every number (src/val.h of super-smack
    1.3): of milliseconds the whole ones, and 0 for a rate without time.
    """
    if figure.type is None:
        times = report.connect
        key = {"max_connect_time": "max_ms", "min_connect_time": "min_ms", "avg_connect_time": "mean_ms"}
        return _shown_ms(getattr(times, key[figure.param]), strict)
    one = report.of_type(figure.type)
    if one is None:
        return ""
    match figure.param:
        case "num_queries":
            return f"{one.count:f}" if strict else str(one.count)
        case "q_per_s" if strict:
            return f"{one.q_per_s or 0:f}"
        case "q_per_s":
            return _rate(one.q_per_s)
        case "max_time":
            return _shown_ms(one.times.max_ms, strict)
        case _:
            return f"{0:f}" if strict else _shown_ms(one.times.min_ms, strict)


def _shown_ms(value: float | None, strict: bool) -> str:
    return f"{int(value or 0):f}" if strict else _ms(value)
