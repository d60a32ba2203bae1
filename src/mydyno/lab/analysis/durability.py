"""How safe the committed data are, in order: no winner without saying what it gave up."""

from __future__ import annotations

from collections.abc import Iterable

from mydyno.lab.results.records import TrialRecord

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
