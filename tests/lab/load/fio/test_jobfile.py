"""The job files that fio is given."""

from __future__ import annotations

from configparser import ConfigParser
from pathlib import Path

from mydyno.lab.load.fio.jobfile import Place, filling, measuring, steadying
from mydyno.lab.workload.external_program import FioOptions

FOLDER = Place(Path("/run/data/mydyno-fio"), is_device=False)
DEVICE = Place(Path("/dev/md0"), is_device=True)


def options(**keys: object) -> FioOptions:
    return FioOptions.model_validate({"rw": "randwrite", "size": "1G", "runtime": "30s", **keys})


def read(text: str) -> dict[str, dict[str, str]]:
    parser = ConfigParser(interpolation=None)
    parser.read_string(text)
    return {name: dict(parser[name]) for name in parser.sections()}


def measured(fio: FioOptions, place: Place = FOLDER) -> dict[str, dict[str, str]]:
    return read(measuring(fio.stretches[0], place, seed=7, window_s=0.5, logs=Path("/lab/t001/fio")))


def test_a_phase_has_threads_that_end_with_fio_and_logs_in_the_trials_folder() -> None:
    job = measured(options())
    assert job["global"]["thread"] == "1"
    assert job["global"]["randseed"] == "7"
    assert job["global"]["write_iops_log"] == "/lab/t001/fio"
    assert job["global"]["log_avg_msec"] == job["global"]["iopsavgtime"] == "500"
    assert job["test"]["filename"] == "/run/data/mydyno-fio/test"


def test_without_a_file_name_fio_makes_one_for_each_job_in_the_folder() -> None:
    assert measured(options(files="per-job"))["test"]["directory"] == "/run/data/mydyno-fio"


def test_a_raw_volume_is_the_file() -> None:
    assert measured(options(), DEVICE)["test"]["filename"] == "/dev/md0"


def test_a_colon_in_the_volumes_path_is_no_end_of_a_name() -> None:
    place = Place(Path("/run/a:b"), is_device=False)
    assert measured(options(), place)["test"]["filename"] == "/run/a\\:b/test"


def test_a_file_that_phases_share_is_filled_once_by_one_job() -> None:
    text, total = filling(options(numjobs=[1, 64]).stretches, FOLDER)
    job = read(text)
    assert total == 1024**3
    assert job.keys() == {"global", "test"}
    assert (job["test"]["numjobs"], job["test"]["rw"], job["test"]["size"]) == ("1", "write", str(1024**3))
    assert "runtime" not in job["test"]


def test_files_of_each_job_are_filled_for_the_most_jobs() -> None:
    text, total = filling(options(numjobs=[1, 4], files="per-job").stretches, FOLDER)
    assert total == 4 * 1024**3
    assert read(text)["test"]["numjobs"] == "4"


def test_blocks_that_fill_a_file_leave_nothing_over() -> None:
    text, _ = filling(options(size="1028k").stretches, FOLDER)
    assert read(text)["test"]["bs"] == "4096"


def test_steadiness_is_waited_for_with_the_same_load_and_without_its_end() -> None:
    fio = options(steady_state={"on": "iops", "within": "2%", "for": "10s", "at_most": "5m"}, ramp_time="3s")
    assert fio.steady_state is not None
    job = read(steadying(fio.stretches[0], FOLDER, fio.steady_state, seed=7))
    assert job["global"]["steadystate"] == "iops:2%"
    assert (job["global"]["steadystate_duration"], job["global"]["runtime"]) == ("10s", "300s")
    assert job["test"]["rw"] == "randwrite"
    assert not {"runtime", "ramp_time"} & job["test"].keys()
