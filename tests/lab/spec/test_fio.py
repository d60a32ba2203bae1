"""What fio is asked to do, by keys, by a command line and by a job file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mydyno.core.document.spec_folder import files_in
from mydyno.lab import spec
from mydyno.lab.workload.external_program import FioOptions

SEED = (
    "fio -filename=/path/test -iodepth=64 -ioengine=libaio -direct=1 -rw=randwrite -bs=4k -size=5G "
    "-numjobs=64 -runtime=30 -group_reporting -name=test-randwrite"
)
MIXED = """\
; readers and writers together, then readers alone
[global]
filename=/path/test
size=64M
blocksize=8k
ioengine=libaio
direct=1
runtime=10
time_based

[readers]
rw=randread
iodepth=16

[writers]
readwrite=randwrite
fsync=8

[alone]
stonewall
rw=randread
numjobs=2
"""


DOCS = Path(__file__).parents[3] / "docs" / "how-to" / "fio.md"


def options(text: str, folder: Path = Path()) -> FioOptions:
    document = f"experiment: disks\nworkload:\n  fio: {text}\n"
    found = spec.loads(document, str(folder / "disks.yaml"), None).workload.fio_options
    assert found is not None
    return found


def test_the_line_of_the_seeds_is_one_job_of_64_processes_on_one_file_below_the_volume() -> None:
    [stretch] = options(f"{{line: {SEED}}}").stretches
    [job] = stretch.sections
    assert (job.name, job.files, job.numjobs, stretch.depth) == ("test-randwrite", ("test",), 64, 4096)
    assert job.options["size"] == "5G"
    assert job.options["group_reporting"] == "1"


def test_one_dash_and_two_and_a_value_as_the_next_word_are_the_same_to_fio_and_so_here() -> None:
    one = options("{line: fio -filename=/path/test -rw=randread -size=1G -direct=1}")
    two = options("{line: fio --filename /path/test --rw randread --size 1G --direct}")
    assert one.stretches == two.stretches


def test_depths_and_numbers_of_jobs_make_a_phase_each() -> None:
    fio = options("{rw: randread, size: 1G, runtime: 5s, iodepth: [1, 8], numjobs: [1, 64]}")
    assert fio.places == (1, 64, 8, 512)


def test_phases_of_the_same_depth_are_distinguished_by_what_makes_it() -> None:
    fio = options("{rw: randread, size: 1G, runtime: 5s, iodepth: [1, 4], numjobs: [1, 4]}")
    assert fio.places == ("1 x 1", "1 x 4", "4 x 1", "4 x 4")


def test_a_synchronous_engine_has_one_io_under_way_for_each_job() -> None:
    assert options(
        "{line: fio -filename=t -rw=read -size=1G -ioengine=psync -iodepth=8 -numjobs=3}"
    ).places == (3,)


def test_jobs_of_a_file_run_together_up_to_the_next_stonewall(tmp_path: Path) -> None:
    (tmp_path / "mixed.fio").write_text(MIXED)
    together, alone = options("{job: mixed.fio}", tmp_path).stretches
    assert (together.label, together.depth) == ("readers+writers", 17)
    assert [job.options["bs"] for job in together.sections] == ["8k", "8k"]
    assert (alone.label, alone.depth) == ("alone", 2)


def test_a_plan_keeps_a_digest_of_the_job_file_and_refuses_one_that_has_changed(tmp_path: Path) -> None:
    file = tmp_path / "mixed.fio"
    file.write_text(MIXED)
    saved = options("{job: mixed.fio}", tmp_path).model_dump_json()
    with files_in(tmp_path):
        assert FioOptions.model_validate_json(saved).model_dump_json() == saved
        file.write_text(MIXED.replace("64M", "65M"))
        with pytest.raises(ValueError, match=r"mixed\.fio has changed"):
            FioOptions.model_validate_json(saved)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("filename=/dev/sda", "outside the volume"),
        ("filename=../x", "outside the volume"),
        ("filename=a:/etc/passwd", "outside the volume"),
        ("directory=/tmp", "outside the volume"),
        ("filename=below/x", "outside the volume"),
        ("thread=0", "always threads"),
        ("offset=4k", "from their start"),
        ("filename_format=../../x", "contains a folder"),
        ("filename=${HOME}", "a variable"),
        ("exec_postrun=reboot", "runs no programs"),
        ("ioengine=sg", "ioengine=sg is not taken"),
        ("ioengine=external:/tmp/evil.so", "is not taken"),
        ("read_iolog=/tmp/trace", "only what the experiment says"),
        ("rw=trim", "rw=trim is not taken"),
        ("size=100%", "is not a size"),
        ("ioscheduler=none", "use setup.storage"),
        ("write_iops_log=/tmp/x", "keeps these logs itself"),
        ("filename=\\/dev\\/sda", "outside the volume"),
    ],
)
def test_what_leaves_the_volume_or_runs_programs_is_refused_in_a_job_file(
    tmp_path: Path, line: str, complaint: str
) -> None:
    (tmp_path / "job.fio").write_text(f"[global]\nsize=1M\n[job]\n{line}\n")
    with pytest.raises(spec.SpecErrors, match=complaint):
        options("{job: job.fio}", tmp_path)


@pytest.mark.parametrize(
    ("job", "complaint"),
    [
        ("/etc/passwd", "/etc/passwd cannot be read: the path is absolute, so not below its folder"),
        ("../job.fio", "../job.fio cannot be read: the path leads out of its folder"),
        ("link.fio", "link.fio cannot be read: it is a symbolic link, which is not followed"),
        ("none.fio", "none.fio cannot be read: No such file or directory"),
    ],
)
def test_a_job_file_lies_below_the_folder_of_the_experiment(tmp_path: Path, job: str, complaint: str) -> None:
    (tmp_path / "link.fio").symlink_to("/etc/passwd")
    with pytest.raises(spec.SpecErrors, match=f"disks.yaml:3:.*{complaint}"):
        options(f"{{job: {job}}}", tmp_path)


def test_files_are_summed_over_names_and_processes() -> None:
    shared = options("{rw: randread, size: 1G, runtime: 5s, numjobs: [1, 4]}")
    apart = options("{rw: randread, size: 1G, runtime: 5s, numjobs: [1, 4], files: per-job}")
    assert (shared.file_bytes, apart.file_bytes) == (1024**3, 4 * 1024**3)


def test_seconds_count_the_warm_up_and_the_longest_of_jobs_that_run_together(tmp_path: Path) -> None:
    (tmp_path / "mixed.fio").write_text(MIXED)
    assert options("{job: mixed.fio}", tmp_path).seconds == 20
    assert options("{rw: randread, size: 1G, runtime: 5s, ramp_time: 500ms, iodepth: [1, 2]}").seconds == 11


@pytest.mark.parametrize("example", re.findall(r"```yaml\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL))
def test_every_example_of_the_guide_is_accepted(example: str) -> None:
    assert spec.loads(example, "example.yaml", None).workload.fio_options is not None
