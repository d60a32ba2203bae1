"""fio itself on a folder of this machine."""

from __future__ import annotations

import resource
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mydyno.core.document.spec_folder import files_in
from mydyno.core.errors import EngineError, LabError, UsageError
from mydyno.lab.load import messages
from mydyno.lab.load.fio import Fio
from mydyno.lab.load.fio.driver import Part
from mydyno.lab.workload.external_program import FioOptions
from mydyno.machine.local import LocalHost

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed"),
]
Heard = list[Any]


@pytest.fixture
def volume(tmp_path: Path) -> Path:
    place = tmp_path / "volume"
    place.mkdir()
    return place


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "trial"
    place.mkdir()
    return place


def options(**keys: Any) -> FioOptions:
    asked = {"rw": "randwrite", "size": "4M", "runtime": "2s", "ioengine": "psync", **keys}
    return FioOptions.model_validate({key: value for key, value in asked.items() if value is not None})


def line(text: str, **keys: Any) -> FioOptions:
    return FioOptions.model_validate({"line": f"fio -filename=/path/test {text}", **keys})


def drive(
    fio: FioOptions,
    volume: Path,
    folder: Path,
    *,
    part: Part = "all",
    on: Callable[[Fio, Any], None] = lambda driver, message: None,
) -> Heard:
    driver = Fio(fio, volume, LocalHost(), seed=1, interval_s=0.5, folder=folder, part=part)
    heard: Heard = []
    with driver:
        for message in driver:
            heard.append(message)
            on(driver, message)
    return heard


def of(heard: Heard, kind: type) -> Iterator[Any]:
    return (message for message in heard if isinstance(message, kind))


def test_each_depth_is_a_phase_with_its_ios_over_time_and_the_machine_beside_it(
    volume: Path, folder: Path
) -> None:
    heard = drive(options(rw="randrw", numjobs=[1, 3], fsync=8), volume, folder)
    one, three = of(heard, messages.PhaseEnd)
    assert (one.connections_asked, three.connections_asked) == (1, 3)
    assert one.statements.keys() == {"read", "write", "fsync"}
    assert one.queries.count == one.statements["read"].count + one.statements["write"].count > 0
    assert one.queries.latency.count == one.queries.count
    intervals = [message for message in of(heard, messages.Interval) if message.phase == 0]
    assert sum(interval.queries for interval in intervals) == one.queries.count
    assert (one.measured_to_ns - one.measured_from_ns) / 1e9 == pytest.approx(2, rel=0.2)
    samples = list(of(heard, messages.Sample))
    assert len(samples) >= 4
    assert samples[-1].host.cpu["user"] >= samples[0].host.cpu["user"] > 0
    assert [type(heard[0]), type(heard[-1])] == [messages.Hello, messages.Done]
    assert heard[-1].exit == "ok"
    assert not any(end.errors or end.aborted for end in (one, three))


def test_its_files_are_gone_afterwards_and_its_reports_are_kept(volume: Path, folder: Path) -> None:
    drive(options(), volume, folder)
    assert list(volume.iterdir()) == []
    kept = {file.name for file in folder.iterdir()}
    assert {"fio-phase-1.job", "fio-phase-1.json", "fio-phase-1_iops.log", "fio-fill.job"} <= kept


def test_files_are_filled_before_the_run_and_that_is_reported(volume: Path, folder: Path) -> None:
    blocks = []

    def look(driver: Fio, message: Any) -> None:
        if isinstance(message, messages.PhaseStart):
            blocks.append((volume / "mydyno-fio" / "test").stat().st_blocks * 512)

    heard = drive(options(), volume, folder, on=look)
    assert blocks == [4 * 1024**2]
    filling = [message for message in of(heard, messages.Progress) if "filling" in message.stage]
    assert (filling[-1].done, filling[-1].of) == (4 * 1024**2, 4 * 1024**2)


def test_filling_and_measuring_may_be_two_drivers_with_something_between_them(
    volume: Path, folder: Path
) -> None:
    filled = drive(options(), volume, folder, part="fill")
    assert not list(of(filled, messages.PhaseStart))
    assert (volume / "mydyno-fio" / "test").stat().st_size == 4 * 1024**2
    measured = drive(options(), volume, folder, part="measure")
    assert len(list(of(measured, messages.PhaseEnd))) == 1
    assert list(volume.iterdir()) == []


def test_a_size_that_runs_out_first_is_reported_and_spoils_nothing(volume: Path, folder: Path) -> None:
    heard = drive(line("-rw=write -bs=4k -size=1M -runtime=30"), volume, folder)
    [remark] = of(heard, messages.Remark)
    assert remark.message.startswith("fio had read or written its whole size after")
    [end] = of(heard, messages.PhaseEnd)
    assert (end.queries.count, end.aborted) == (256, None)


def test_a_request_to_stop_ends_it_with_what_was_measured(volume: Path, folder: Path) -> None:
    samples = []

    def stop(driver: Fio, message: Any) -> None:
        if isinstance(message, messages.Sample):
            samples.append(message)
        # fio needs half a second to begin.
        if len(samples) == 4:
            driver.request_stop()

    heard = drive(options(runtime="60s", numjobs=[1, 2]), volume, folder, on=stop)
    [end] = of(heard, messages.PhaseEnd)
    assert end.interrupted
    assert end.queries.count > 0
    assert heard[-1].exit == "interrupted"
    assert list(volume.iterdir()) == []


def test_leaving_early_ends_fio_and_removes_its_files(volume: Path, folder: Path) -> None:
    driver = Fio(options(runtime="60s"), volume, LocalHost(), seed=1, interval_s=0.5, folder=folder)
    with driver:
        for message in driver:
            if isinstance(message, messages.Sample):
                pid = driver.pid
                break
    assert pid is not None
    assert not Path(f"/proc/{pid}").exists()
    assert list(volume.iterdir()) == []


def test_steadiness_that_never_comes_is_a_condition_that_does_not_hold(volume: Path, folder: Path) -> None:
    state = {"on": "iops", "within": "0.0001%", "for": "2s", "at_most": "3s"}
    heard = drive(options(rw="randread", steady_state=state), volume, folder)
    [check] = of(heard, messages.Check)
    assert (check.holds, check.detail) == (False, "not within 3 s")
    assert len(list(of(heard, messages.PhaseEnd))) == 1


def test_jobs_of_a_file_are_labelled_phases(volume: Path, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "mixed.fio").write_text(
        "[global]\nsize=1M\nbs=4k\nruntime=1\ntime_based\n[readers]\nrw=randread\nnumjobs=2\n"
        "[writers]\nrw=write\n[alone]\nstonewall\nrw=read\n"
    )
    with files_in(tmp_path):
        fio = FioOptions.model_validate({"job": "mixed.fio"})
    heard = drive(fio, volume, folder)
    assert [(m.label, m.connections) for m in of(heard, messages.PhaseStart)] == [
        ("readers+writers", 3),
        ("alone", 1),
    ]
    together, alone = of(heard, messages.PhaseEnd)
    assert together.statements.keys() == {"read", "write"}
    assert alone.statements.keys() == {"read"}


def test_what_fio_refuses_ends_the_phase_in_its_own_words(volume: Path, folder: Path) -> None:
    heard = drive(line("-rw=read -size=1M -rate=xyz", prefill=False), volume, folder)
    [end] = of(heard, messages.PhaseEnd)
    assert end.aborted is not None
    assert "rate" in end.aborted
    assert end.measured_from_ns is None
    assert heard[-1].exit == "aborted"


def test_files_that_cannot_be_filled_are_an_error_and_leave_nothing(folder: Path, volume: Path) -> None:
    most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2 * 1024**2, most[1]))
    try:
        with pytest.raises(EngineError, match="could not fill its files"):
            drive(options(), volume, folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, most)
    assert list(volume.iterdir()) == []


def test_a_folder_of_that_name_that_is_not_ours_stays(volume: Path, folder: Path) -> None:
    (volume / "mydyno-fio").mkdir()
    (volume / "mydyno-fio" / "precious").touch()
    with pytest.raises(LabError):
        drive(options(), volume, folder)
    assert (volume / "mydyno-fio" / "precious").exists()


def test_a_place_that_is_no_folder_is_refused(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(UsageError, match="cannot work in"):
        drive(options(), tmp_path / "nowhere", folder)
    with pytest.raises(UsageError, match="character special file"):
        drive(options(), Path("/dev/null"), folder)
