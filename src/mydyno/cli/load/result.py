"""The figures of an ad-hoc load, as JSON and as text."""

import textwrap
from collections.abc import Iterator
from typing import Any

from mydyno.cli.load.progress import percentile_name, rate
from mydyno.core.plurals import counted
from mydyno.lab.load import messages
from mydyno.lab.trial.collect import Collector, phase_record

_COUNTS = ("queries", "transactions", "queries_per_second", "transactions_per_second")


def figures(workload: str, collected: Collector, percentile: float = 95) -> dict[str, Any]:
    """What --json prints (docs/how-to/load.md): one object a phase, in order.

    `percentile`: of the transactions, next to those that every latency has.
    """
    assert collected.hello is not None
    assert collected.done is not None
    return {
        "workload": workload,
        "server_version": collected.hello.server_version,
        "seed": collected.hello.seed,
        "phases": [_phase(end, collected.labels.get(end.phase), percentile) for end in collected.ends],
        "checks": [{"name": one.name, "holds": one.holds, "detail": one.detail} for one in collected.checks],
        "client_peak_rss_bytes": collected.done.peak_rss_bytes,
        "interrupted": collected.done.exit == "interrupted",
    }


def _phase(end: messages.PhaseEnd, label: str | None, percentile: float) -> dict[str, Any]:
    phase = phase_record(end)
    seconds = None
    if phase.measured_from_s is not None and phase.measured_to_s is not None:
        seconds = phase.measured_to_s - phase.measured_from_s
    mean_ns = end.transactions.latency.mean_ns
    return {
        "label": label,
        "connections": phase.connections_reached,
        "connections_asked": phase.connections_asked,
        "seconds": seconds,
        **{name: getattr(phase, name) for name in _COUNTS},
        "sql_statistics": _statistics(end, seconds),
        "errors": sum(phase.errors.values()),
        "errors_by_code": dict(phase.errors),
        "retries": end.retries,
        "reconnects": end.reconnects,
        "unanswered": end.unanswered,
        "latency_kind": phase.latency_kind,
        "latency": _latency(end.queries.latency),
        "transaction_latency": {
            **_latency(end.transactions.latency),
            "sum_ns": mean_ns and mean_ns * end.transactions.latency.count,
            "percentile": percentile,
            "percentile_ns": _percentile(end.transactions.latency, percentile),
        },
        "transactions_by_name": {
            name: {"count": one.count, "latency": _latency(one.latency)}
            for name, one in end.transactions_by_name.items()
        },
        "threads_fairness": end.fairness and end.fairness.model_dump(),
        "connect_latency": _latency(end.connects.latency),
        "statements": {
            kind: {name: getattr(statement, name) for name in ("count", "errors", "rows")}
            | {"latency": _latency(statement.latency)}
            for kind, statement in end.statements.items()
        },
        "client_cpu_seconds": end.client_cpu.user_s + end.client_cpu.system_s,
        "client_cpu_user_seconds": end.client_cpu.user_s,
        "client_cpu_system_seconds": end.client_cpu.system_s,
        "interrupted": end.interrupted,
        "aborted": end.aborted,
    }


def _statistics(end: messages.PhaseEnd, seconds: float | None) -> dict[str, Any]:
    """The rows of sysbench's block of that name, each with its number a second."""
    by_class = end.queries_by_class
    counts = {
        **(by_class.model_dump() if by_class else {}),
        "queries": end.queries.count,
        "transactions": end.transactions.count,
        "ignored_errors": sum(end.errors.values()),
        "reconnects": end.reconnects,
    }
    return {
        name: {"count": count, "per_second": count / seconds if seconds else None}
        for name, count in counts.items()
    }


def _percentile(histogram: messages.Histogram, percentile: float) -> int | None:
    """None where the program reports only others."""
    for name, share in messages.PERCENTILES.items():
        if percentile == share * 100:
            value: int | None = getattr(histogram, name)
            return value
    if not histogram.count or histogram.histogram is None:
        return None
    from mydyno.lab.sampling.histograms import merged

    whole = merged([histogram.histogram])
    return None if whole is None else whole.quantile_ns(percentile / 100)


def _latency(histogram: messages.Histogram) -> dict[str, Any]:
    return histogram.model_dump(exclude={"histogram"})


def as_text(figures: dict[str, Any], address: str, width: int) -> str:
    """The same for people, in lines of `width` characters: a head, then a table for each phase."""
    head = f"{figures['workload']} on {figures['server_version']} at {address} (seed {figures['seed']})"
    parts = [textwrap.fill(head, width, subsequent_indent="  ")]
    parts += ["\n".join(_phase_lines(phase, width)) for phase in figures["phases"]]
    if figures["checks"]:
        results = [
            f"  {'holds' if one['holds'] else 'DOES NOT HOLD'}: {one['name']}"
            + (f" ({one['detail']})" if one["detail"] else "")
            for one in figures["checks"]
        ]
        parts.append("\n".join(["after the load", *results]))
    return "\n\n".join(parts)


_COLUMNS = {
    "mean": "mean_ns", "p50": "p50_ns", "p95": "p95_ns", "p99": "p99_ns", "p99.9": "p999_ns", "max": "max_ns",
}  # fmt: skip
_LEFT_OUT = ("p99.9", "p50")
"""Columns that a narrow terminal does without, in this order."""


def _phase_lines(phase: dict[str, Any], width: int) -> list[str]:
    """The headline, sysbench's final block, and a table of all latencies."""
    kind = "from sending" if phase["latency_kind"] == "service" else "from the intended start"
    return [
        textwrap.fill(_headline(phase), width, subsequent_indent="    "),
        *(line for block in _blocks(phase, kind) for line in ("", *block)),
        *([] if not phase["errors"] else _errors(phase, width)),
        "",
        f"  latency in ms, {kind}:",
        *_latency_lines(phase, width),
    ]


def _headline(phase: dict[str, Any]) -> str:
    label = f"{phase['label']}: " if phase["label"] else ""
    parts = [f"{_rate(phase['queries_per_second'])} queries/s"]
    if phase["transactions"]:
        timed = phase["transaction_latency"]
        parts.insert(0, f"{_rate(phase['transactions_per_second'])} transactions/s")
        if timed["percentile_ns"] is not None:
            name = percentile_name(timed["percentile"])
            parts.append(f"transaction {name} {_ms(timed['percentile_ns'])} ms")
    return (
        f"  {label}{', '.join(parts)} over {_seconds(phase['seconds'])} with"
        f" {phase['connections']} of {phase['connections_asked']} connections"
    )


def _blocks(phase: dict[str, Any], kind: str) -> Iterator[list[str]]:
    """Each with its title. Without what the program does not report."""
    statistics = {name.replace("_", " "): one for name, one in phase["sql_statistics"].items()}
    yield [
        f"  {'SQL statistics':<20}{'count':>15}{'per second':>15}",
        *(
            f"    {name:<18}{one['count']:>15,}{_per_second(one['per_second']):>15}"
            for name, one in statistics.items()
        ),
    ]
    timed = phase["transaction_latency"]
    general = {
        "measured time": _seconds(phase["seconds"]),
        "events": f"{phase['transactions']:,}",
        "client CPU": _seconds(phase["client_cpu_seconds"], 2),
    }
    yield _block("General statistics", general)
    if timed["count"]:
        percentile = percentile_name(timed["percentile"])
        figures = {"min": "min_ns", "avg": "mean_ns", "max": "max_ns", percentile: "percentile_ns"}
        rows = {name: _ms(timed[key]) for name, key in {**figures, "sum": "sum_ns"}.items()}
        yield _block(f"Transaction latency (ms, {kind})", rows)
    if fairness := phase["threads_fairness"]:
        rows = {
            "events": f"{fairness['events_mean']:.4f}/{fairness['events_stddev']:.2f}",
            "execution time (s)": f"{fairness['busy_mean_s']:.4f}/{fairness['busy_stddev_s']:.2f}",
        }
        yield _block("Threads fairness (avg/stddev)", rows)


def _block(title: str, rows: dict[str, str]) -> list[str]:
    return [f"  {title}", *(f"    {name:<18}{value:>15}" for name, value in rows.items())]


def _errors(phase: dict[str, Any], width: int) -> list[str]:
    """By code, and what was done about them."""
    by_code = ", ".join(f"error {code}: {count:,}" for code, count in phase["errors_by_code"].items())
    text = f"  errors: {phase['errors']} ({by_code}){_again(phase)}"
    return ["", textwrap.fill(text, width, subsequent_indent="    ")]


def _latency_lines(phase: dict[str, Any], width: int) -> Iterator[str]:
    # Transactions first, as sysbench has them; sql-bench's test programs have none.
    timed = phase["transaction_latency"]
    rows = [("transactions", phase["transactions"], timed)] if timed["count"] else []
    named = phase["transactions_by_name"]
    if len(named) > 1:
        rows += [(f"  {name}", one["count"], one["latency"]) for name, one in named.items()]
    rows.append(("all statements", phase["queries"], phase["latency"]))
    rows += [(f"  {name}", one["count"], one["latency"]) for name, one in phase["statements"].items()]
    rows.append(("connect", phase["connect_latency"]["count"], phase["connect_latency"]))
    columns = dict(_COLUMNS)
    for left_out in ("", *_LEFT_OUT):
        columns.pop(left_out, None)
        table = [("", "count", *columns)]
        table += [(name, f"{count:,}", *(_ms(one[k]) for k in columns.values())) for name, count, one in rows]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        if 2 + sum(widths) + 2 * (len(widths) - 1) <= width:
            break
    for first, *cells in table:
        numbers = (cell.rjust(wide) for cell, wide in zip(cells, widths[1:], strict=True))
        yield "  ".join([f"  {first:{widths[0]}}", *numbers])


def _again(phase: dict[str, Any]) -> str:
    """What was done about errors, when anything was."""
    done = {"retries": counted(phase["retries"], "retry"), "unanswered": f"{phase['unanswered']} unanswered"}
    return "".join(f", {text}" for what, text in done.items() if phase[what])


def _rate(value: float | None) -> str:
    return "–" if value is None else rate(value)


def _per_second(value: float | None) -> str:
    return "–" if value is None else f"{value:,.2f}"


def _seconds(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{value:.{digits}f} s"


def _ms(value: float | None) -> str:
    return "–" if value is None else f"{value / 1e6:,.3f}"
