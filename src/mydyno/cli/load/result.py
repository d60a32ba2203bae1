"""The figures of an ad-hoc load, as JSON and as text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from mydyno.lab.load import messages
from mydyno.lab.trial.collect import Collector, phase_record

_COUNTS = ("queries", "transactions", "queries_per_second", "transactions_per_second")


def figures(workload: str, collected: Collector) -> dict[str, Any]:
    """What --json prints (docs/reference/cli.md): one object a phase, in order."""
    assert collected.hello is not None
    assert collected.done is not None
    return {
        "workload": workload,
        "server_version": collected.hello.server_version,
        "seed": collected.hello.seed,
        "phases": [_phase(end, collected.labels.get(end.phase)) for end in collected.ends],
        "checks": [{"name": one.name, "holds": one.holds, "detail": one.detail} for one in collected.checks],
        "client_peak_rss_bytes": collected.done.peak_rss_bytes,
        "interrupted": collected.done.exit == "interrupted",
    }


def _phase(end: messages.PhaseEnd, label: str | None) -> dict[str, Any]:
    phase = phase_record(end)
    return {
        "label": label,
        "connections": phase.connections_reached,
        "connections_asked": phase.connections_asked,
        "seconds": None
        if phase.measured_from_s is None or phase.measured_to_s is None
        else phase.measured_to_s - phase.measured_from_s,
        **{name: getattr(phase, name) for name in _COUNTS},
        "errors": sum(phase.errors.values()),
        "errors_by_code": dict(phase.errors),
        "retries": end.retries,
        "reconnects": end.reconnects,
        "unanswered": end.unanswered,
        "latency_kind": phase.latency_kind,
        "latency": _latency(end.queries.latency),
        "transaction_latency": _latency(end.transactions.latency),
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
    kind = "from sending" if phase["latency_kind"] == "service" else "from the intended start"
    seconds = phase["seconds"]
    label = f"{phase['label']}: " if phase["label"] else ""
    events = f"{_rate(phase['transactions_per_second'])} transactions/s, " if phase["transactions"] else ""
    rates = (
        f"  {label}{events}{_rate(phase['queries_per_second'])} queries/s"
        f" over {'–' if seconds is None else f'{seconds:.1f}'} s with"
        f" {phase['connections']} of {phase['connections_asked']} connections"
    )
    return [
        textwrap.fill(rates, width, subsequent_indent="    "),
        f"  errors: {phase['errors']} {phase['errors_by_code'] or ''}".rstrip() + _again(phase),
        f"  client CPU: {phase['client_cpu_seconds']:.2f} s",
        "",
        f"  latency in ms, {kind}:",
        *_latency_lines(phase, width),
    ]


def _latency_lines(phase: dict[str, Any], width: int) -> Iterator[str]:
    # Transactions first, as sysbench has them; sql-bench's test programs have none.
    timed = phase["transaction_latency"]
    rows = [("transactions", phase["transactions"], timed)] if timed["count"] else []
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
    done = [f"{phase[what]} {what}" for what in ("retries", "reconnects", "unanswered") if phase[what]]
    return f", {', '.join(done)}" if done else ""


def _rate(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def _ms(value: float | None) -> str:
    return "–" if value is None else f"{value / 1e6:.3f}"
