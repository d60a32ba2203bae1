"""What a person sees while an experiment runs: a live panel on a terminal, plain lines elsewhere.

Both are readers of the run's events and know nothing else.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from typing import IO, TYPE_CHECKING, Protocol, Self, TextIO

from mydyno.cli import screen
from mydyno.core.plurals import agreeing, counted
from mydyno.core.units import format_duration, format_range
from mydyno.core.visible import visible
from mydyno.lab.analysis.words import words_of
from mydyno.lab.results.records import Work
from mydyno.lab.trial import events
from mydyno.lab.trial.time_left import seconds_left

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text


def rate(value: float | None, work: Work) -> str:
    return "–" if value is None else f"{value:,.0f} {words_of(work).rate_short}"


def p95(transactions_ns: int | None, latency_ns: int | None, work: Work = "queries") -> str:
    """`transaction p95 4.210 ms`; of statements, and then so named, where transactions are not timed."""
    if transactions_ns is not None:
        return f"transaction p95 {transactions_ns / 1e6:.3f} ms"
    if latency_ns is not None:
        return f"{'statement ' * (work == 'queries')}p95 {latency_ns / 1e6:.3f} ms"
    return "p95 –"


class Display(Protocol):
    """A context manager that is called with every event."""

    def __call__(self, event: events.Event) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...


def for_stream(stream: TextIO | None = None) -> Display:
    """The live display when `stream` is a terminal that can redraw, else plain lines."""
    console = screen.console(stream)
    if console.is_terminal and not console.is_dumb_terminal:
        return LiveDisplay(console)
    return PlainDisplay(console.file)


class Clock:
    """Time left."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._expected = 0.0
        self._planned = 0
        self._before = 0
        self._done = 0

    def hear(self, event: events.Event) -> None:
        if isinstance(event, events.RunStarted):
            self._expected, self._planned, self._before = (
                event.expected_seconds,
                event.planned,
                event.completed,
            )
        elif isinstance(event, events.TrialFinished) and not event.control:
            self._done += 1

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._started

    @property
    def left(self) -> float:
        """Seconds until the end; 0 when the estimate has been passed."""
        return seconds_left(self._expected, self._planned - self._before, self._done, self.elapsed)

    @property
    def left_text(self) -> str:
        """`; about 2m 28s left`; nothing at the end, and when the estimate has been passed."""
        if self._before + self._done >= self._planned or not self.left:
            return ""
        return f"; about {format_duration(max(1, round(self.left)))} left"


class PlainDisplay:
    """One line for each event that is worth a line: for logs, CI and pipes."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._clock = Clock()
        self._under_way: Counter[str | None] = Counter()  # trials, by host

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._stream.flush()

    def __call__(self, event: events.Event) -> None:
        self._clock.hear(event)
        line = describe(event)
        if isinstance(event, events.TrialStarted):
            self._under_way[event.host] += 1
        elif isinstance(event, events.HostLost):
            del self._under_way[event.host]
        elif isinstance(event, events.TrialFinished):
            self._under_way[event.host] -= 1
            # The trials of a block in slices end together: what is left is known with the last of them.
            if not event.control and self._under_way[event.host] <= 0:
                line = f"{line}{self._clock.left_text}"
        if line:
            screen.line(line, self._stream)


def describe(event: events.Event) -> str | None:
    """An event in one line, or None for those that are only for the live display."""
    line = _described(event)
    return f"{event.host}: {line.lstrip()}" if line and event.host else line


def _described(event: events.Event) -> str | None:
    match event:
        case events.RunStarted():
            have = f", {event.completed} of them measured already" if event.completed else ""
            time = f"about {format_duration(event.expected_seconds)}"
            if event.low_seconds is not None and event.high_seconds is not None:
                time = format_range(event.low_seconds, event.high_seconds)
            trials = counted(event.planned, "trial")
            return f"{event.experiment}: {trials}{have}, {time}; results in {event.folder}"
        case events.TrialStarted():
            if event.control:
                return f"A/A over hosts {event.number}/{event.planned}  {event.point}"
            return f"trial {event.number}/{event.planned}  block {event.block}  {event.point}"
        case events.Step() if event.done is None and not event.brief:
            return f"  {event.text}"
        case events.PhaseFinished():
            place = event.label or words_of(event.work).amount(f"{event.connections:>5}")
            speed = rate(event.queries_per_second, event.work)
            latency = p95(event.transaction_p95_ns, event.p95_ns, event.work)
            return f"  {place:<17}  {speed:>20}  {latency}  {event.point}".rstrip()
        case events.TrialFinished():
            took = format_duration(event.seconds)
            if event.status == "valid":
                return f"  {event.trial} valid, {took}"
            return f"  {event.trial} {event.status.upper()} after {took}: {'; '.join(event.reasons)}"
        case events.HostLost():
            again = f"; {event.trial} is measured again" if event.trial else ""
            return f"LOST, {counted(event.hosts, 'host')} left{again}: {event.reason}"
        case events.HostReturned():
            return "answers again"
        case events.HostsCompared():
            return event.sentence
        case events.Looked():
            return f"after block {event.block}: {_known(event)}"
        case events.Resting():
            return f"resting {format_duration(event.seconds)} before block {event.block}"
        case events.RunFinished():
            failed = f", {event.failed} failed: the same command tries them again" if event.failed else ""
            return f"finished: {counted(event.valid, 'valid trial')}, {event.invalid} invalid{failed}"
        case events.RunInterrupted():
            safe = f"{counted(event.planned, 'trial')} {agreeing(event.completed, 'is')} safe"
            return f"interrupted: {event.completed} of {safe}; the same command goes on from here"
        case _:
            return None


def _known(event: events.Looked) -> str:
    """`known to ±4.1%, wanted ±3%: goes on`"""
    wanted = f"wanted ±{event.wanted * 100:g}%"
    if event.half_width is None:
        known = f"{event.worst} has no interval yet, {wanted}"
    else:
        known = f"known to ±{_up(event.half_width * 100)}%, {wanted}"
    then = "enough" if event.reached else "the most repetitions are done" if event.last else "goes on"
    return f"{known}: {then}"


def _up(percent: float) -> str:
    """Rounded up, so that what is not reached is not shown as reached."""
    return f"{math.ceil(percent * 10 - 1e-9) / 10:g}"


class Place:
    """What runs now, on this machine or on one host of a fleet: where it is, and the phase's figures."""

    def __init__(self) -> None:
        self._heading = self._step = ""
        self._phase: str | Text = ""
        self._phases = 0
        self._recent: list[float] = []
        self._rests_until = 0.0

    def hear(self, event: events.Event) -> None:
        match event:
            case events.TrialStarted():
                trial = f"trial {event.number} of {event.planned} · block {event.block}"
                if event.control:
                    trial = f"A/A over hosts {event.number} of {event.planned}"
                host = f"{event.host} · " if event.host else ""
                self._heading = f"{host}{trial} · {event.point}"
                self._phases, self._phase, self._recent = event.phases, "", []
            case events.Step():
                share = f" {event.done / event.of:.0%}" if event.of and event.done is not None else ""
                self._step, self._phase = event.text + share, ""
            case events.PhaseStarted():
                place = event.label or words_of(event.work).amount(event.connections)
                self._step = f"phase {event.phase + 1} of {self._phases}: {place}"
            case events.Measured():
                from rich.text import Text

                self._recent = [*self._recent[-47:], event.queries_per_second]
                errors = (" · ", (counted(event.errors, "error"), "red")) if event.errors else ()
                speed = rate(event.queries_per_second, event.work)
                latency = p95(event.transaction_p95_ns, event.p95_ns, event.work)
                point = f" · {visible(event.point)}" if event.point else ""
                self._phase = Text.assemble(f"{speed} · {latency}{point}", *errors)
            case events.Resting():
                self._step, self._phase, self._rests_until = "", "", time.monotonic() + event.seconds
            case events.HostLost():
                self._step, self._phase, self._recent = "lost", "", []
            case events.HostReturned():
                self._step = "answers again"

    def lines(self) -> list[RenderableType]:
        from rich.text import Text

        rest = self._rests_until - time.monotonic()
        return [
            Text(visible(self._heading), style="bold"),
            Text(f"resting: {format_duration(rest)} left" if rest > 0 else visible(self._step)),
            Text.assemble(self._phase, "  ", (sparkline(self._recent), "cyan")),
        ]


class LiveDisplay:
    """A panel that is redrawn in place: where the run is, the phase's figures, the time left."""

    def __init__(self, console: Console) -> None:
        from rich.live import Live

        self._console = console
        self._clock = Clock()
        self._planned = self._finished = 0
        self._places: dict[str, Place] = {"": Place()}
        """By host; without a fleet the one."""
        self._live = Live(get_renderable=self._render, console=console, refresh_per_second=4, transient=True)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._live.stop()

    def __call__(self, event: events.Event) -> None:
        self._clock.hear(event)
        if event.host:
            self._places.pop("", None)
            self._places.setdefault(event.host, Place())
        if event.host in self._places:
            self._places[event.host].hear(event)
        match event:
            case events.RunStarted():
                self._planned, self._finished = event.planned, event.completed
                self._console.print(describe(event))
            case events.Step():
                pass
            case events.TrialFinished():
                self._finished += not event.control
                style = None if event.status == "valid" else "red"
                self._console.print(describe(event), style=style)
            case events.HostLost():
                self._console.print(describe(event), style="red")
            case _:
                if line := describe(event):
                    self._console.print(line)

    def _render(self) -> RenderableType:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        lines = [line for place in self._places.values() for line in place.lines()]
        if not self._planned:  # The run has not said yet how many trials it has.
            return Group(*lines)
        bar = Table.grid(padding=(0, 1))
        bar.add_row(
            ProgressBar(total=self._planned, completed=self._finished, width=40),
            f"{self._finished}/{counted(self._planned, 'trial')}",
            f"{format_duration(self._clock.elapsed)} gone{self._clock.left_text.replace(';', ',')}",
        )
        return Group(*lines, bar)


def sparkline(values: list[float]) -> str:
    """`values` as a row of eight-step blocks, the largest one full."""
    top = max(values, default=0.0)
    return "".join("▁▂▃▄▅▆▇█"[round(value / top * 7) if top else 0] for value in values)
