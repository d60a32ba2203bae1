"""A trace for people: lines of text."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from mydyno.core.plurals import counted, listed
from mydyno.core.synthetic import SYNTHETIC
from mydyno.core.units import format_bytes, format_duration
from mydyno.queries.traces.records import Count, Group, Skipped, Summary, Trace

_BARS = " ▁▂▃▄▅▆▇█"
_SECOND = 1_000_000
_NAMED = 10
_FINGERPRINT = 90
"""Characters that are shown of one."""


def written_line(trace: Trace, name: str) -> str:
    """`a.trace: 12 statements of 2 connections in 3.1 s`; of a synthetic trace it says so first."""
    footer = trace.footer
    kind = "synthetic, " if trace.header.source == SYNTHETIC else ""
    return (
        f"{name}: {kind}{counted(footer.statements, 'statement')} of "
        f"{counted(footer.connections, 'connection')} in {format_duration(footer.length_us / _SECOND)}"
    )


def skipped_lines(skipped: Sequence[Skipped]) -> Iterator[str]:
    for one in skipped:
        place = "" if one.at_byte is None else f", first at byte {one.at_byte}"
        yield f"{one.file}: {one.count} x {one.kind}{place}: {one.says}"


def summary_lines(summary: Summary, name: str) -> Iterator[str]:
    header, footer = summary.header, summary.footer
    yield written_line(summary, name)
    if not footer.statements:
        return
    if header.start_us is not None:
        start = datetime.fromtimestamp(header.start_us / _SECOND, UTC)
        yield f"start        {start:%Y-%m-%d %H:%M:%S} UTC{_exactness(header.resolution_us)}"
    yield f"source       {header.source}{f' of {header.server}' if header.server else ''}"
    yield f"literals     {'masked' if header.masked else 'kept; passwords masked'}"
    errors = "not known" if summary.errors is None else f"{summary.errors}"
    yield (
        f"statements   {summary.reads} reads, {summary.writes} writes, {summary.other} other; "
        f"{summary.prepared} prepared; errors: {errors}; {format_bytes(footer.sql_bytes)}"
    )
    yield f"connections  {footer.connections} opened, {footer.closed} closed"
    yield from _rate(summary)
    yield from _counts("schemas", summary.schemas)
    yield from _counts("users", summary.users)
    yield from _groups(summary)
    if footer.skipped:
        yield "skipped"
        yield from (f"  {line}" for line in skipped_lines(footer.skipped))


def _exactness(resolution_us: int) -> str:
    if resolution_us < _SECOND:
        return ""
    return ", whole seconds: statements are spread evenly within each"


def _rate(summary: Summary) -> Iterator[str]:
    most = max(summary.rate, default=0)
    if most:
        seconds = summary.span_us / _SECOND
        bars = "".join(_BARS[-(-count * (len(_BARS) - 1) // most)] for count in summary.rate)
        yield f"rate         {bars} up to {most / seconds:.4g} statements/s"


def _counts(title: str, counts: Sequence[Count]) -> Iterator[str]:
    named = [f"{one.name or '(none)'} {one.statements}" for one in counts]
    yield f"{title:<12} {listed(named, _NAMED)}"


def _groups(summary: Summary) -> Iterator[str]:
    yield f"fingerprints {summary.fingerprints}"
    for group in summary.top:
        yield f"  {group.id}  {group.statements:>9} x{_time(group)}  {_short(group.fingerprint)}"


def _time(group: Group) -> str:
    return "" if group.duration_us is None else f" {format_duration(group.duration_us / _SECOND):>9}"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _FINGERPRINT else text[: _FINGERPRINT - 3] + "..."
