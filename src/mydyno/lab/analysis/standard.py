"""By what standard verdicts are made: the margin that counts as no difference, and how sure one has to be."""

from __future__ import annotations

from dataclasses import dataclass

from mydyno.lab.analysis.bootstrap import LEVEL, SMALLEST_SAMPLE
from mydyno.lab.analysis.sequential import looks, nominal_level
from mydyno.lab.results.records import DesignRecord

MARGIN = 0.03
"""Differences below 3% count as none unless the caller asks for another margin: our choice, not a law. It
decides only between "no difference" and "not enough data", and which differences are called negligible."""


@dataclass(frozen=True)
class Standard:
    margin: float = MARGIN
    """The relative difference that still counts as none."""
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
