"""Trials that could not be measured: what is recorded of them, and when a point is skipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.spec.builders import experiment
from mydyno.core.errors import (
    EngineError,
    LabError,
    MountRefusedError,
    MydynoError,
    ServerError,
    StorageError,
    UndoError,
)
from mydyno.core.facts import HostFacts
from mydyno.lab import plan
from mydyno.lab.plan import Point
from mydyno.lab.spec import Setup
from mydyno.lab.spec.storage import Volume
from mydyno.lab.trial.failures import Failure, Failures, spoils_one_trial

DISKS = "{data: {disks: {count: 2, size: 1G}, filesystem: xfs, mount: [noatime]}}"
FACTS = HostFacts(memory_bytes=16 * 1024**3, cpus=2, free_disk_bytes=100 * 1024**3)


def points(factors: str) -> tuple[Point, ...]:
    """Of an experiment on the volume of `DISKS`, in a guest."""
    setup = f"{{host: uml, storage: {DISKS}}}"
    return plan.make(experiment(factors=factors, setup=setup), FACTS).points


P1, P2 = points("{storage.data.raid: [0, 1]}")
MOUNT = Failure("mount data", StorageError("mount refused nosuch", "leave it out"))


def test_a_point_is_skipped_after_two_failures_in_the_same_step() -> None:
    failures = Failures()
    failures.failed(P1, MOUNT)
    assert failures.skipped(P1) is None
    failures.failed(P1, MOUNT)
    assert failures.skipped(P2) is None
    reason = failures.skipped(P1)
    assert reason is not None
    assert reason.check == "skipped"
    assert reason.message == "skipped: 2 trials of this point failed in the same step (mount data)"
    assert failures.first is MOUNT.error


def refused(option: str, *named: str) -> Failure:
    words = f"xfs of data could not be mounted with {option}"
    return Failure("data mount", MountRefusedError(words, filesystem="xfs", refused=named))


def test_a_mount_option_that_was_refused_costs_one_guest_and_other_options_go_on() -> None:
    """All points with it are skipped, on any array; a point without it and one on another kernel are not."""
    factors = "{storage.data.raid: [0, 1], storage.data.mount: [[noatime], [noatime, zoned_by_magic]]}"
    made = {(one.levels["storage.data.raid"], len(volume(one).mount)): one for one in points(factors)}
    failures = Failures()
    assert all(failures.skipped(point) is None for point in made.values())
    failures.failed(made["0", 2], refused("noatime,zoned_by_magic", "zoned_by_magic"))
    assert failures.skipped(made["0", 1]) is None
    assert failures.skipped(made["1", 1]) is None
    for raid in ("0", "1"):
        reason = failures.skipped(made[raid, 2])
        assert reason is not None
        assert reason.check == "skipped"
        assert reason.message == "skipped: xfs refused the mount option zoned_by_magic in an earlier trial"
    elsewhere = made["1", 2].model_copy(
        update={"setup": with_kernel(made["1", 2].setup, "6.12")},
    )
    assert failures.skipped(elsewhere) is None


def test_options_of_which_none_is_named_are_tried_once_a_point() -> None:
    """Whether the kernel takes them may depend on the disks: swidth has to fit the array."""
    failures = Failures()
    failures.failed(P1, refused("swidth=7"))
    reason = failures.skipped(P1)
    assert reason is not None
    assert reason.message == "skipped: an earlier trial of this point failed in data mount"
    assert failures.skipped(P2) is None


def volume(point: Point) -> Volume:
    assert point.setup.storage is not None
    return point.setup.storage.volumes["data"]


def with_kernel(setup: Setup, kernel: str) -> Setup:
    return setup.model_copy(update={"host": setup.host.model_copy(update={"kernel": kernel})})


def test_a_point_that_fails_in_different_steps_is_tried_again() -> None:
    failures = Failures()
    failures.failed(P1, MOUNT)
    failures.failed(P1, Failure("server", ServerError("ended while starting")))
    assert failures.skipped(P1) is None


def test_a_point_that_was_measured_once_is_tried_again() -> None:
    failures = Failures()
    failures.measured(P1)
    failures.failed(P1, MOUNT)
    failures.failed(P1, MOUNT)
    assert failures.skipped(P1) is None


def test_a_reason_names_the_step_the_error_the_hint_and_files_as_they_will_be_found() -> None:
    error = ServerError("it ended\n  /lab/runs/r/trials/.t002.partial/error.log says: no room", "free some")
    reason = Failure("server", error).reason(Path("/lab/runs/r/trials/.t002.partial"))
    assert reason.check == "failed"
    assert reason.message == "server: it ended\n  error.log says: no room (hint: free some)"


@pytest.mark.parametrize(
    ("error", "goes_on"),
    [
        (EngineError("killed"), True),
        (StorageError("mkfs failed"), True),
        (LabError("disk full"), False),
        (UndoError("still mounted"), False),
    ],
)
def test_errors_of_the_lab_and_of_putting_back_end_the_run(error: MydynoError, goes_on: bool) -> None:
    assert spoils_one_trial(error, P1) is goes_on
