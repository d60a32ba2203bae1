"""Trials that could not be measured: which errors the other trials survive, and when a point is skipped."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mydyno.core.errors import LabError, MountRefusedError, MydynoError, UndoError
from mydyno.lab.plan import Point
from mydyno.lab.results.records import FAILED, SKIPPED, Invalidity

SKIPPED_AFTER = 2
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


def spoils_one_trial(error: MydynoError, point: Point) -> bool:
    """Whether the other trials can go on after `error` in a trial of `point`; otherwise it ends the run.

    An external server may keep the settings of a trial that broke off: the run ends; the journal has them.
    """
    return not isinstance(error, _ENDS_THE_RUN) and point.setup.server.external is None


Refusal = tuple[str, str | None, str, str]
"""Kind and kernel of a host, a file system, and a mount option that is refused there."""


@dataclass
class Failures:
    """What has failed since this start, by point."""

    _of_point: dict[str, list[Failure]] = field(default_factory=dict)
    _measured: set[str] = field(default_factory=set)
    _refusals: set[Refusal] = field(default_factory=set)
    first: MydynoError | None = None
    """The first error that failed a trial."""

    def failed(self, point: Point, failure: Failure) -> None:
        self.first = self.first or failure.error
        self._of_point.setdefault(point.id, []).append(failure)
        if isinstance(failure.error, MountRefusedError):
            host, filesystem = point.setup.host, failure.error.filesystem
            self._refusals |= {
                (host.kind, host.kernel, filesystem, option) for option in failure.error.refused
            }

    def measured(self, point: Point) -> None:
        self._measured.add(point.id)

    def skipped(self, point: Point) -> Invalidity | None:
        """Why the further trials of a point are not tried; None while they are."""
        if point.id in self._measured:
            return None
        failures = self._of_point.get(point.id, [])
        message = self._known_refusal(point) or _refused_mount(failures) or _failed_twice(failures)
        return None if message is None else Invalidity(check=SKIPPED, message=f"skipped: {message}")

    def _known_refusal(self, point: Point) -> str | None:
        """An option of one of its volumes that was refused before, in a trial of this point or another."""
        host, storage = point.setup.host, point.setup.storage
        for volume in storage.volumes.values() if storage is not None else ():
            for option in volume.mount:
                if (host.kind, host.kernel, volume.filesystem, option) in self._refusals:
                    return f"{volume.filesystem} refused the mount option {option} in an earlier trial"
        return None


def _refused_mount(failures: Sequence[Failure]) -> str | None:
    refused = [failure for failure in failures if isinstance(failure.error, MountRefusedError)]
    return f"an earlier trial of this point failed in {refused[0].step}" if refused else None


def _failed_twice(failures: Sequence[Failure]) -> str | None:
    last = failures[-SKIPPED_AFTER:]
    if len(last) < SKIPPED_AFTER or len({failure.step for failure in last}) > 1:
        return None
    return f"{SKIPPED_AFTER} trials of this point failed in the same step ({last[-1].step})"
