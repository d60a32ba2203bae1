"""The ways back of storage, on real loop devices, mounts, queues and limits."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.stack.loops import attached, backing_file, device_number, needs_loops, sparse_file
from mydyno.core.errors import UndoError
from mydyno.lab.stack.journal import Journal, cleanup
from mydyno.lab.stack.undo import UNDO, DetachLoops, LiftThrottle, RestoreSysfs, StopArray, Undo, Unmount
from mydyno.lab.stack.undo.block_devices import BLKIO_FILES, limits_in, parse_loops
from mydyno.lab.stack.undo.mounts import mounts_on
from mydyno.machine.environment import chosen

BLKIO = Path("/sys/fs/cgroup/blkio")

needs_blkio = pytest.mark.skipif(
    not (BLKIO / BLKIO_FILES["write_iops"]).exists(), reason="no blkio hierarchy of cgroup v1 is mounted here"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A private folder."""
    path = tmp_path / "mydyno-0123456789ab"
    path.mkdir()
    return path


@pytest.fixture
def disk(folder: Path) -> Iterator[Path]:
    """A loop device over a file of ours."""
    with attached(sparse_file(folder / "disk")) as device:
        yield device


@pytest.fixture
def foreign_disk(tmp_path: Path) -> Iterator[Path]:
    """A loop device over another user's file."""
    with attached(sparse_file(tmp_path / "disk")) as device:
        yield device


@pytest.mark.parametrize(
    "undo",
    [
        DetachLoops(folder=Path("/lab/run/mydyno-0123456789ab")),
        Unmount(path=Path("/run/mydyno/data")),
        StopArray(array=Path("/dev/md/mydyno"), members=(Path("/dev/loop3"), Path("/dev/loop4"))),
        LiftThrottle(device="7:3", group=BLKIO, limits={"read_iops": 200, "write_bps": 1 << 20}),
        RestoreSysfs(path=Path("/sys/block/loop3/queue/scheduler"), value="none"),
    ],
    ids=lambda undo: undo.kind,
)
def test_every_way_back_survives_the_journal_and_has_its_sentence(undo: Undo, tmp_path: Path) -> None:
    Journal(tmp_path).intend(undo)
    assert Journal(tmp_path).outstanding() == [undo]
    assert UNDO.validate_json(UNDO.dump_json(undo)) == undo
    assert undo.sentence().startswith("made sure that ")


@needs_loops
def test_a_loop_over_a_file_of_ours_is_detached_and_no_other(
    folder: Path, disk: Path, foreign_disk: Path
) -> None:
    undo = DetachLoops(folder=folder)
    undo.carry_out()
    assert backing_file(disk) is None
    assert backing_file(foreign_disk) is not None
    undo.carry_out()


@needs_loops
def test_a_loop_whose_file_was_deleted_meanwhile_is_still_found(folder: Path, disk: Path) -> None:
    (folder / "disk").unlink()
    DetachLoops(folder=folder).carry_out()
    assert backing_file(disk) is None


@needs_loops
def test_a_loop_that_is_still_mounted_is_reported_and_stays_in_the_journal(
    folder: Path, disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["mkfs.ext4", "-q", disk], check=True)
    point = folder / "mount"
    point.mkdir()
    journal = Journal(tmp_path)
    journal.intend(DetachLoops(folder=folder))
    subprocess.run(["mount", disk, point], check=True)
    try:
        with monkeypatch.context() as impatient:
            impatient.setattr("mydyno.lab.stack.undo.block_devices._DETACH_SECONDS", 0.1)
            with pytest.raises(UndoError, match="still uses it"):
                cleanup(tmp_path)
        journal.intend(Unmount(path=point))
        assert cleanup(tmp_path) == [
            f"made sure that nothing is mounted on {point}",
            f"made sure that no loop device is attached to a file in {folder}",
        ]
        assert backing_file(disk) is None
    finally:
        Unmount(path=point).carry_out()


@pytest.mark.parametrize("folder", ["/var/lib/images", "mydyno-0123456789ab", "/x/mydyno-0123456789ab/.."])
def test_loops_of_a_folder_that_is_not_ours_are_never_detached(folder: str) -> None:
    with pytest.raises(UndoError, match="refused"):
        DetachLoops(folder=Path(folder)).carry_out()


@needs_loops
def test_a_stray_loop_of_the_lab_is_swept_though_it_is_in_no_journal(tmp_path: Path) -> None:
    lab = tmp_path / "lab"
    ours = lab / "run" / "mydyno-0123456789ab"
    ours.mkdir(parents=True)
    Journal(lab)
    with attached(sparse_file(ours / "disk")) as device, attached(sparse_file(lab / "images")) as other:
        assert cleanup(lab) == [f"made sure that no loop device is attached to a file in {ours}"]
        assert backing_file(device) is None
        assert backing_file(other) == str(lab / "images")
        assert cleanup(lab) == []


def test_no_output_of_losetup_means_no_loops_and_a_deleted_file_keeps_its_name() -> None:
    assert parse_loops("") == {}
    listed = '{"loopdevices": [{"name":"/dev/loop0", "back-file":"/lab/mydyno-0123456789ab/d (deleted)"}]}'
    assert parse_loops(listed) == {Path("/dev/loop0"): Path("/lab/mydyno-0123456789ab/d")}


@needs_loops
def test_stacked_mounts_of_ours_all_go(folder: Path) -> None:
    for _ in range(2):
        subprocess.run(["mount", "-t", "tmpfs", "none", folder], check=True)
    assert mounts_on(folder) == 2
    Unmount(path=folder).carry_out()
    assert mounts_on(folder) == 0
    Unmount(path=folder).carry_out()


@pytest.mark.parametrize("path", ["/", "/mnt", "/run/mydynox", "/run/mydyno/../shm", "mydyno-0123456789ab"])
def test_a_mount_point_that_is_not_ours_is_never_unmounted(path: str) -> None:
    with pytest.raises(UndoError, match="refused"):
        Unmount(path=Path(path)).carry_out()


def test_a_mount_point_with_a_space_is_read_right(tmp_path: Path) -> None:
    (tmp_path / "mountinfo").write_text(r"36 25 0:31 / /a\040b rw - tmpfs none rw" + "\n")
    assert mounts_on(Path("/a b"), tmp_path / "mountinfo") == 1


def test_an_array_that_is_not_there_is_stopped_already() -> None:
    StopArray(array=Path("/dev/md/none"), members=(Path("/dev/loop0"),)).carry_out()


@needs_loops
@needs_blkio
def test_a_limit_is_lifted_when_it_is_the_one_that_was_set_and_else_left_alone(disk: Path) -> None:
    number = device_number(disk)
    undo = LiftThrottle(device=number, group=BLKIO, limits={"read_iops": 200, "write_bps": 1 << 20})
    reads, writes = (BLKIO / BLKIO_FILES[kind] for kind in ("read_iops", "write_bps"))
    try:
        reads.write_text(f"{number} 200")
        writes.write_text(f"{number} 4096")
        undo.carry_out()
        assert number not in limits_in(reads.read_text())
        assert limits_in(writes.read_text())[number] == 4096
        undo.carry_out()
    finally:
        for file in (reads, writes):
            file.write_text(f"{number} 0")


def test_a_limit_is_lifted_in_a_root_group_alone(tmp_path: Path) -> None:
    with pytest.raises(UndoError, match="not a root group"):
        LiftThrottle(device="7:0", group=tmp_path, limits={"read_iops": 1}).carry_out()
    LiftThrottle(device="7:0", group=tmp_path / "gone", limits={"read_iops": 1}).carry_out()


@needs_loops
def test_a_queue_gets_its_old_scheduler_and_readahead_back(disk: Path) -> None:
    queue = Path(f"/sys/block/{disk.name}/queue")
    for name, other in (("scheduler", "bfq"), ("read_ahead_kb", "64")):
        text = (queue / name).read_text()
        before = chosen(text) or text.strip()
        (queue / name).write_text(other if other != before else "none")
        undo = RestoreSysfs(path=queue / name, value=before)
        undo.carry_out()
        text = (queue / name).read_text()
        assert (chosen(text) or text.strip()) == before
        undo.carry_out()


@needs_loops
def test_a_value_that_the_kernel_does_not_take_is_reported(disk: Path) -> None:
    with pytest.raises(UndoError, match="does not take back 'cfq'"):
        RestoreSysfs(path=Path(f"/sys/block/{disk.name}/queue/scheduler"), value="cfq").carry_out()


@pytest.mark.parametrize(
    "path",
    [
        "/sys/block/loop0/ro",
        "/sys/block/../kernel/queue/scheduler",
        "/sys/block/a/b/queue/scheduler",
        "/etc/passwd",
        "/sys/block/loop0/queue/../ro",
    ],
)
def test_no_other_file_is_ever_written(path: str) -> None:
    with pytest.raises(UndoError, match="refused"):
        RestoreSysfs(path=Path(path), value="1").carry_out()


def test_the_queue_of_a_device_that_has_gone_needs_nothing() -> None:
    RestoreSysfs(path=Path("/sys/block/gone0/queue/scheduler"), value="none").carry_out()
