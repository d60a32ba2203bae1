"""The checker of leftovers sees each kind of them: else its silence would prove nothing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from lab.stack.loops import attached, device_number, needs_loops, sparse_file

from live.leftovers import Place
from mydyno.lab.stack.undo.block_devices import BLKIO_FILES
from mydyno.lab.stack.undo.mounts import HeldMountRoot

pytestmark = [pytest.mark.live, needs_loops, pytest.mark.xdist_group("loops")]

BLKIO = Path("/sys/fs/cgroup/blkio")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """One without the machine's own folders, where others come and go."""
    (tmp_path / "shared").mkdir()
    place = Place.at(tmp_path, (tmp_path / "shared",), tmp_path / "root")
    assert place.all() == []
    return place


def only(found: list[str]) -> str:
    (line,) = found
    return line


def test_a_process_is_seen(place: Place) -> None:
    command = ["sh", "-c", "echo; read end", f"{place.lab}/my.cnf"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert only(place.alive()).startswith(f"process {process.pid}: sh -c")
    assert place.alive() == []


def test_a_loop_device_is_seen_while_it_is_attached(place: Place) -> None:
    with attached(sparse_file(place.lab / "disk")) as device:
        assert only(place.alive()) == f"loop device {device.name} over {place.lab}/disk"
    assert place.alive() == []


def test_a_mount_in_another_namespace_is_seen(place: Place) -> None:
    script = 'mount -t tmpfs none "$1"; echo; read end'
    with subprocess.Popen(
        ["unshare", "-m", "--propagation", "private", "sh", "-c", script, "sh", place.lab],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as hidden:
        assert hidden.stdout is not None
        hidden.stdout.readline()
        assert any(line.startswith("mount mnt:") for line in place.alive())
    assert place.alive() == []


@pytest.mark.skipif(not BLKIO.is_dir(), reason="no blkio hierarchy of cgroup v1 is mounted here")
def test_a_limit_that_outlived_its_loop_device_is_seen(place: Place) -> None:
    file = BLKIO / BLKIO_FILES["read_bps"]
    # The last one, since others are attached from the first.
    last = max(Path("/sys/block").glob("loop*"), key=lambda folder: int(folder.name.removeprefix("loop")))
    number = device_number(last)
    file.write_text(f"{number} 1048576")
    try:
        assert only(place.lying()) == f"limit of the unattached device {number}"
    finally:
        file.write_text(f"{number} 0")


@pytest.mark.parametrize("where", ["tmp", "home", "lab/run"])
def test_a_file_is_seen(place: Place, where: str) -> None:
    (place.folder / where).mkdir(exist_ok=True)
    (place.folder / where / "left").touch()
    assert only(place.lying()) == f"file {place.folder / where / 'left'}"


def test_a_private_folder_in_a_folder_of_the_machine_is_seen(place: Place) -> None:
    (place.folder / "shared" / "somebody-else").mkdir()
    stray = place.folder / "shared" / "mydyno-0123456789ab"
    stray.mkdir()
    assert only(place.lying()) == f"file {stray}"


def test_what_a_server_of_another_run_left_there_is_not_counted(place: Place) -> None:
    stray = place.folder / "shared" / "mydyno-0123456789ab"
    stray.mkdir()
    (stray / "my.cnf").write_text("[mysqld]\ndatadir=/tmp/another/lab/run/mydyno-aaaaaaaaaaaa/data\n")
    assert place.lying() == []
    (stray / "my.cnf").write_text(f"[mysqld]\ndatadir={place.lab}/run/mydyno-aaaaaaaaaaaa/data\n")
    assert only(place.lying()) == f"file {stray}"


def test_a_mount_root_that_nobody_holds_is_seen(place: Place) -> None:
    held = HeldMountRoot(place.mount_root)
    assert place.lying() == []
    # As a SIGKILL does: the lock goes, the folder stays.
    os.close(held._descriptor)
    assert only(place.lying()) == f"{place.mount_root}, held by nobody"
