"""What a person sees while a load runs: the preparation, then a line for each interval, as sysbench has them.

On a terminal a panel below the lines shows a bar while rows are loaded, and the throughput as a sparkline.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Self

from mydyno.cli import screen
from mydyno.cli.display import p95, sparkline
from mydyno.core.plurals import counted, plural
from mydyno.core.units import format_duration
from mydyno.core.visible import visible
from mydyno.lab.load import messages

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_NS = 1e9
_PREPARING_EVERY_NS = 5_000_000_000
"""Between two lines about the preparation where there is no panel."""


def percentile_name(percentile: float) -> str:
    """`p95`, `p99.9`."""
    return f"p{percentile:g}"


def rate(value: float) -> str:
    """A number a second in at most four digits, or in all that stand before the point."""
    return "0" if not value else f"{value:.2f}" if value < 10 else f"{value:,.0f}"


def packed(parts: list[str], width: int | None) -> str:
    """The parts in lines of `width` characters, all in one without it; more lines are indented."""
    lines = [""]
    for part in parts:
        if width and lines[-1].strip() and len(lines[-1]) + 2 + len(part) > width:
            lines.append(" " * 6)
        lines[-1] += f"  {part}" if lines[-1] else part
    return "\n".join(lines)


def interval_text(one: messages.Interval, start_ns: int, percentile: float, width: int | None = None) -> str:
    """`   3.6s  4 threads  914 tps  18,288 qps (r/w/o 12,801/3,658/1,829)  transaction p95 14.721 ms ...`.

    What the program does not report is left out: sql-bench has no transactions.
    """
    seconds = (one.to_ns - one.from_ns) / _NS
    parts = [f"{(one.to_ns - start_ns) / _NS:6.1f}s", counted(one.connections, "thread")]
    if one.transactions:
        parts.append(f"{rate(one.transactions / seconds)} tps")
    queries = f"{rate(one.queries / seconds)} qps"
    if one.queries_by_class is not None:
        by_class = (one.queries_by_class.read, one.queries_by_class.write, one.queries_by_class.other)
        queries += f" (r/w/o {'/'.join(rate(count / seconds) for count in by_class)})"
    parts += [queries, _latency(one, percentile), f"{rate(one.errors / seconds)} err/s"]
    if one.reconnects is not None:
        parts.append(f"{rate(one.reconnects / seconds)} reconn/s")
    if one.warmup:
        parts.append("(warm-up)")
    return packed(parts, width)


def _latency(one: messages.Interval, percentile: float) -> str:
    if one.transaction_percentile_ns is not None:
        return f"transaction {percentile_name(percentile)} {one.transaction_percentile_ns / 1e6:.3f} ms"
    return p95(one.transaction_p95_ns if percentile == 95 else None, one.p95_ns)


def preparing_text(progress: messages.Progress, seconds: float) -> str:
    """`preparing: 1,200,000 of 4,000,000 rows (30%), 128,000 rows/s, 22s left`"""
    if progress.unit != "rows":
        return f"preparing: {progress.stage} {progress.done:,} of {progress.of:,}"
    text = f"preparing: {progress.done:,} of {progress.of:,} rows ({share(progress):.0%})"
    if not progress.done or seconds <= 0:
        return text
    per_second = progress.done / seconds
    left = (progress.of - progress.done) / per_second
    return f"{text}, {rate(per_second)} rows/s, {format_duration(max(1, round(left)))} left"


def share(progress: messages.Progress) -> float:
    """How much of the preparation is done, 0 to 1."""
    return min(1.0, progress.done / progress.of) if progress.of else 0.0


def prepared_text(prepared: messages.Prepared, seconds: float) -> str | None:
    """`prepared: 4,000,000 rows in 4 tables in 31.2 s (128,205 rows/s)`; None without tables."""
    if not prepared.tables:
        return None
    rows = sum(table.rows for table in prepared.tables)
    tables = f"{rows:,} {plural(rows, 'row')} in {counted(len(prepared.tables), 'table')}"
    if prepared.loaded == 0:
        return f"prepared: nothing to load, {tables} exist already ({seconds:.1f} s)"
    loaded = prepared.loaded or rows
    of_which = "" if loaded == rows else f", {loaded:,} of them loaded now,"
    speed = f" ({rate(loaded / seconds)} rows/s)" if seconds > 0 else ""
    return f"prepared: {tables}{of_which} in {seconds:.1f} s{speed}"


class PlainProgress:
    """Lines on standard error: for logs and pipes."""

    def __init__(self, percentile: float, *, lines: bool) -> None:
        """`lines`: one for each interval."""
        self._percentile = percentile
        self._lines = lines
        self._hello_ns = self._phase_ns = 0
        self._shown_ns: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def __call__(self, message: messages.Message) -> None:
        for line in self.texts(message):
            self.show(line)

    def show(self, line: str) -> None:
        screen.echo(line, err=True)

    @property
    def width(self) -> int | None:
        """Characters of a line; None where lines are read by programs."""
        return None

    def texts(self, message: messages.Message) -> Iterator[str]:
        """The lines that a message is worth."""
        match message:
            case messages.Hello():
                self._hello_ns = message.t_ns
                yield (
                    f"server {message.server_version}, seed {message.seed},"
                    f" {counted(message.reactors, 'reactor')}"
                )
            case messages.Progress():
                if self.preparing_line_is_due(message):
                    yield preparing_text(message, self.preparing_seconds(message))
            case messages.Prepared():
                if text := prepared_text(message, self.preparing_seconds(message)):
                    yield text
            case messages.PhaseStart():
                self._phase_ns = 0
                if message.label is not None:
                    yield f"{message.label}:"
            case messages.Operation():
                mark = f"  ! {message.warning}" if message.warning else ""
                yield (
                    f"  {message.name:32}{message.tests:>9,} tests{message.elapsed_ns / _NS:>9.2f} s{mark}"
                )
            case messages.Interval():
                self._phase_ns = self._phase_ns or message.from_ns
                if self._lines:
                    yield interval_text(message, self._phase_ns, self._percentile, self.width)
            case _:
                pass

    def preparing_seconds(self, message: messages.Progress | messages.Prepared) -> float:
        return (message.t_ns - self._hello_ns) / _NS

    def preparing_line_is_due(self, progress: messages.Progress) -> bool:
        if self._shown_ns is not None and progress.t_ns - self._shown_ns < _PREPARING_EVERY_NS:
            return False
        self._shown_ns = progress.t_ns
        return True


class LiveProgress(PlainProgress):
    """The same lines on a terminal, and below them a panel that is redrawn in place."""

    def __init__(self, console: Console, percentile: float, *, lines: bool) -> None:
        from rich.live import Live

        super().__init__(percentile, lines=lines)
        self._console = console
        self._preparing: tuple[float, str] | None = None
        self._place = ""
        self._recent: list[float] = []
        self._live = Live(get_renderable=self._render, console=console, refresh_per_second=4, transient=True)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._live.stop()

    def show(self, line: str) -> None:
        self._console.print(line)

    @property
    def width(self) -> int | None:
        return self._console.width

    def __call__(self, message: messages.Message) -> None:
        super().__call__(message)
        match message:
            case messages.Progress():
                self._preparing = (share(message), preparing_text(message, self.preparing_seconds(message)))
            case messages.PhaseStart():
                self._preparing, self._recent = None, []
                self._place = message.label or counted(message.connections, "thread")
            case messages.Interval():
                seconds = (message.to_ns - message.from_ns) / _NS
                count, unit = (
                    (message.transactions, "tps") if message.transactions else (message.queries, "qps")
                )
                self._recent = [*self._recent[-47:], count / seconds]
                self._place = f"{counted(message.connections, 'thread')} · {rate(self._recent[-1])} {unit}"
            case _:
                pass

    def preparing_line_is_due(self, progress: messages.Progress) -> bool:
        return False

    def _render(self) -> RenderableType:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.text import Text

        if self._preparing is not None:
            done, text = self._preparing
            return Group(Text(visible(text)), ProgressBar(total=1.0, completed=done, width=40))
        return Text.assemble(visible(self._place), "  ", (sparkline(self._recent), "cyan"))


def progress(percentile: float, *, lines: bool) -> PlainProgress:
    """The panel when standard error is a terminal that can redraw, else plain lines."""
    console = screen.console()
    if console.is_terminal and not console.is_dumb_terminal:
        return LiveProgress(console, percentile, lines=lines)
    return PlainProgress(percentile, lines=lines)
