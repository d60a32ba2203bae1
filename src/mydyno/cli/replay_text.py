"""The figures of a replay, as JSON and as text."""

from collections.abc import Iterator
from typing import Any

from mydyno.core.synthetic import SAYS
from mydyno.core.visible import one_line
from mydyno.lab.load.messages import Histogram, OfFingerprint, Replay
from mydyno.lab.trial.collect import Collector
from mydyno.lab.trial.replay_checks import skipped_text

_SHOWN = 10
_WIDTH = 60
_PERCENTILES = ("p50_ns", "p95_ns", "p99_ns", "max_ns")


def figures(collected: Collector) -> dict[str, Any]:
    """What --json prints: the engine's message `replay`, with the server's version and how it ended."""
    assert collected.hello is not None
    assert collected.done is not None
    end = collected.ends[-1]
    return {
        "server_version": collected.hello.server_version,
        **collected.replays[-1].model_dump(mode="json", exclude={"type", "t_ns", "server"}),
        "errors": end.errors,
        "error_examples": end.error_examples,
        "aborted": end.aborted,
        "interrupted": collected.done.exit == "interrupted",
    }


def as_text(collected: Collector) -> str:
    """The final block: fidelity, latencies, rates, and where the time went."""
    assert collected.hello is not None
    return "\n".join(_lines(collected.replays[-1], collected.hello.server_version or "a server"))


def _lines(one: Replay, version: str) -> Iterator[str]:
    pace = "as fast as possible" if one.speed is None else f"at {one.speed:g}x"
    what = "reads only" if one.reads_only else "all statements"
    yield f"{'synthetic trace' if one.synthetic else 'replay'} on {version} {pace}, {what}"
    if one.synthetic:
        yield f"  {SAYS}"
    share = f" ({one.replayed / one.statements:.1%})" if one.statements else ""
    word = "sent" if one.synthetic else "replayed"
    yield f"  {word:14}{one.replayed:,} of {one.statements:,} statements{share}"
    if one.skipped:
        yield f"  left out      {skipped_text(one.skipped)}"
    if one.lost:
        yield f"  lost          {one.lost:,} without an answer"
    if one.late is not None:
        yield f"  late          {one.late:,} by more than 5 ms{_lateness(one.lateness)}"
    yield from _answers(one)
    yield f"  warnings      {one.warnings:,}"
    yield f"  {'':24}{'p50':>12}{'p95':>12}{'p99':>12}{'longest':>12}"
    yield _latencies("latency, from when due", one.latency)
    yield _latencies("service time", one.service)
    then = "in the digests" if one.synthetic else "in the trace"
    yield _latencies(then, one.trace_service)
    rate = _rate(one.replayed, one.trace_elapsed_us)
    yield f"  rate          {_rate(one.replayed, one.elapsed_us)}, {then} {rate}"
    if one.fingerprints:
        yield f"  most time of {one.fingerprint_count:,} fingerprints"
        column = "digest" if one.synthetic else "in trace"
        yield f"  {'time':>10}{column:>10}{'ratio':>8}{'statements':>12}{'errors':>8}  fingerprint"
        yield from map(_fingerprint, one.fingerprints[:_SHOWN])


def _answers(one: Replay) -> Iterator[str]:
    """Errors and row counts; those of the trace are known only of recorded statements."""
    if one.synthetic:
        yield f"  errors        {one.failed_newly + one.failed_again + one.failed_unknown:,}"
        return
    yield (
        f"  errors        {one.failed_newly:,} failed that had not failed, {one.failed_again:,} failed again,"
        f" {one.failed_no_more:,} fail no more, {one.failed_unknown:,} where the trace does not say"
    )
    yield f"  row counts    {one.rows_differ:,} of {one.rows_compared:,} differ"


def _lateness(histogram: Histogram | None) -> str:
    if histogram is None or histogram.p99_ns is None:
        return ""
    return f" (p99 {_ms(histogram.p99_ns)}, longest {_ms(histogram.max_ns)})"


def _latencies(name: str, histogram: Histogram) -> str:
    return f"  {name:24}" + "".join(f"{_ms(getattr(histogram, key)):>12}" for key in _PERCENTILES)


def _fingerprint(one: OfFingerprint) -> str:
    then = f"{one.trace_service_us / 1e6:.2f} s" if one.compared else "-"
    ratio = f"{one.compared_service_us / one.trace_service_us:.2f}" if one.trace_service_us else "-"
    text = one_line(one.text)
    shown = text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."
    now = f"{one.service_us / 1e6:.2f} s"
    return f"  {now:>10}{then:>10}{ratio:>8}{one.replayed:>12,}{one.errors:>8,}  {shown}"


def _ms(nanoseconds: int | None) -> str:
    return "-" if nanoseconds is None else f"{nanoseconds / 1e6:.3f} ms"


def _rate(count: int, us: int) -> str:
    return f"{count / us * 1e6:,.0f} statements/s" if us else "-"
