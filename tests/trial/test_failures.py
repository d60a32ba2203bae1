"""Trials that could not be measured: what is recorded of them, and when a point is given up."""

from __future__ import annotations

from pathlib import Path

import pytest

from mydyno.core.errors import EngineError, LabError, MydynoError, ServerError, StorageError, UndoError
from mydyno.trial.failures import Failure, Failures, spoils_one_trial

MOUNT = Failure("mount data", StorageError("mount refused nosuch", "leave it out"))


def test_a_point_is_given_up_after_two_failures_in_the_same_step() -> None:
    failures = Failures()
    failures.failed("p1", MOUNT)
    assert failures.given_up("p1") is None
    failures.failed("p1", MOUNT)
    assert failures.given_up("p2") is None
    reason = failures.given_up("p1")
    assert reason is not None
    assert reason.check == "skipped"
    assert reason.message == "not tried: 2 trials of this point failed in the same step (mount data)"
    assert failures.first is MOUNT.error


def test_a_point_that_fails_in_different_steps_is_tried_again() -> None:
    failures = Failures()
    failures.failed("p1", MOUNT)
    failures.failed("p1", Failure("server", ServerError("ended while starting")))
    assert failures.given_up("p1") is None


def test_a_point_that_was_measured_once_is_tried_again() -> None:
    failures = Failures()
    failures.measured("p1")
    failures.failed("p1", MOUNT)
    failures.failed("p1", MOUNT)
    assert failures.given_up("p1") is None


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
    assert spoils_one_trial(error) is goes_on
