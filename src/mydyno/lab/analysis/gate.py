"""Whether something is slower than allowed: the question of a CI job.

    failed   it is slower (the test says so, corrected for how many were looked at), and by as much as is too
             much, or more, by the best estimate
    unsure   not failed, but a loss of that size cannot be ruled out: the 95% interval reaches it, or there
             is none
    passed   such a loss is ruled out

So a lucky or unlucky run is distinguished from a regression, and "passed" is a statement, not silence.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from mydyno.lab.analysis.verdict import Verdict

State = Literal["passed", "unsure", "failed"]


@dataclass(frozen=True)
class Gated:
    """One comparison and the loss that is allowed."""

    name: str
    verdict: Verdict
    allowed: float
    """The relative loss that is too much: 0.03 for 3%."""
    state: State
    loss: float | None
    """As measured; negative for a gain. None without a ratio."""
    most: float | None
    """The largest loss that the interval holds."""


def gate(verdicts: Iterable[tuple[str, Verdict]], allowed: float) -> tuple[Gated, ...]:
    """Each named verdict, compared with the loss `allowed`."""
    return tuple(_gated(name, verdict, allowed) for name, verdict in verdicts)


def state_of(gated: Iterable[Gated]) -> State:
    """The worst of all; nothing compared is unsure."""
    states = {one.state for one in gated}
    if "failed" in states:
        return "failed"
    return "passed" if states == {"passed"} else "unsure"


def _gated(name: str, verdict: Verdict, allowed: float) -> Gated:
    ratio = verdict.ratio
    higher = verdict.metric.better == "higher"
    loss = most = None
    if ratio.value is not None:
        loss = 1 - ratio.value if higher else ratio.value - 1
    if ratio.interval is not None:
        most = 1 - ratio.interval.low if higher else ratio.interval.high - 1
    if loss is not None and verdict.outcome == "slower" and loss >= allowed:
        state: State = "failed"
    elif most is None or most > allowed:
        state = "unsure"
    else:
        state = "passed"
    return Gated(name, verdict, allowed, state, loss, most)
