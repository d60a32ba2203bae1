"""By what standard verdicts are made: the margin that counts as no difference, and how sure one has to be;
and how safe the committed data are, in order: no winner without saying what it gave up.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from mydyno.lab.analysis.bootstrap import LEVEL, SMALLEST_SAMPLE
from mydyno.lab.analysis.sequential import looks, nominal_level
from mydyno.lab.results.records import DesignRecord, TrialRecord

LABELS = ("durable", "loses up to 1 s on OS crash", "loses up to 1 s on server crash", "unsafe")
"""From the safest down. A server that can lose a second when it crashes itself loses it in an OS crash
too."""


def least_durable(trials: Iterable[TrialRecord]) -> str | None:
    """The worst label among `trials`; None when none has a label."""
    labels = [trial.durability for trial in trials if trial.durability is not None]
    return max(labels, key=_rank, default=None)


def gives_up(winner: str | None, loser: str | None) -> bool:
    """Whether the winner is less durable than the loser. Unknown labels cannot be accused."""
    return winner in LABELS and loser in LABELS and _rank(winner) > _rank(loser)


def _rank(label: str | None) -> int:
    """An unknown label counts as the worst, so that it is shown."""
    return LABELS.index(label) if label in LABELS else len(LABELS)


MARGIN = 0.03
"""The equivalence margin, 3% unless the caller wants another one: our choice, not a law. It
decides only between "no difference" and "not enough data", and which differences are called negligible."""


@dataclass(frozen=True)
class Standard:
    margin: float = MARGIN
    """The equivalence margin: a relative difference within it is none."""
    level: float = LEVEL
    """Of every single interval. More than 95% where the data are looked at again and again, so that the last
    interval holds the truth in 95 of 100 experiments (`analysis.sequential`)."""
    looks: int = 1
    """How often the data may have been looked at before the experiment ended."""

    @property
    def alpha(self) -> float:
        """A p-value of at most this is a difference."""
        # Levels have four digits, of which a subtraction must not lose the last.
        return 1 - self.level + 1e-9

    @property
    def correction(self) -> str:
        """`, corrected for looking up to 18 times`; nothing after a single look."""
        return f", corrected for looking up to {self.looks} times" if self.looks > 1 else ""


def standard_of(design: DesignRecord, margin: float = MARGIN) -> Standard:
    """The standard that an experiment of this design is judged by."""
    if design.until is None or design.at_most is None:
        return Standard(margin)
    first_look = max(design.first_look or SMALLEST_SAMPLE, SMALLEST_SAMPLE)
    if design.at_most < first_look:
        return Standard(margin)
    level = nominal_level(first_look, design.at_most)
    return Standard(margin, level, looks(first_look, design.at_most))
