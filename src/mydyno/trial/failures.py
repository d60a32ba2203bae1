"""Trials that could not be measured: which errors the other trials survive, and when a point is given up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mydyno.core.errors import LabError, MydynoError, UndoError
from mydyno.results.records import FAILED, SKIPPED, Invalidity

GIVEN_UP_AFTER = 2
"""Failures of a point in the same step, without a trial of it that was measured, after which its further
trials are not tried: what fails twice in one place fails for a reason, and a guest costs half a minute."""

_ENDS_THE_RUN = (LabError, UndoError)
"""Without a lab no trial can be saved, and on a machine that is not as it was none would be true."""


@dataclass(frozen=True)
class Failure:
    """Why a trial could not be measured."""

    step: str
    """What was being done: the layer that was built, as `mount data`, or the load."""
    error: MydynoError

    def reason(self, folder: Path) -> Invalidity:
        """`folder`: of the trial while it runs, which is renamed later: its files are named without it."""
        hint = f" (hint: {self.error.hint})" if self.error.hint else ""
        message = f"{self.step}: {self.error.message}{hint}".replace(f"{folder}/", "")
        return Invalidity(check=FAILED, message=message)


def spoils_one_trial(error: MydynoError) -> bool:
    """Whether the other trials can go on after `error`; otherwise it ends the run."""
    return not isinstance(error, _ENDS_THE_RUN)


@dataclass
class Failures:
    """What has failed since this start, by point."""

    _of_point: dict[str, list[Failure]] = field(default_factory=dict)
    _measured: set[str] = field(default_factory=set)
    first: MydynoError | None = None
    """The first error that failed a trial."""

    def failed(self, point_id: str, failure: Failure) -> None:
        self.first = self.first or failure.error
        self._of_point.setdefault(point_id, []).append(failure)

    def measured(self, point_id: str) -> None:
        self._measured.add(point_id)

    def given_up(self, point_id: str) -> Invalidity | None:
        """Why the further trials of a point are not tried; None while they are."""
        last: Sequence[Failure] = self._of_point.get(point_id, [])[-GIVEN_UP_AFTER:]
        if point_id in self._measured or len(last) < GIVEN_UP_AFTER:
            return None
        if len({failure.step for failure in last}) > 1:
            return None
        return Invalidity(
            check=SKIPPED,
            message=f"not tried: {GIVEN_UP_AFTER} trials of this point failed in the same step"
            f" ({last[-1].step})",
        )
