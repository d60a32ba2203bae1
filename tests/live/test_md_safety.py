"""Arrays of md and the disks in them: what is stopped, what is refused. In a guest, whose kernel has md."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pydantic
import pytest

import mydyno
from live.uml import NEEDS_KERNEL, ground_layer
from mydyno.lab.stack import BuiltLayers, Site
from mydyno.lab.stack.ground.uml import UmlGround
from mydyno.lab.stack.site import DEVICES

pytestmark = [pytest.mark.live, NEEDS_KERNEL]

CREATE = ["mdadm", "--create", "/dev/md0", "--run", "--level=1", "--raid-devices=2", "--assume-clean"]


@pytest.fixture
def ground(site: Site) -> Iterator[UmlGround]:
    layer = ground_layer(site)
    ground = layer.build(site, BuiltLayers())
    yield ground
    layer.remove(site, ground)


@pytest.fixture
def disks(ground: UmlGround) -> list[str]:
    """The two disks, as a running mirror /dev/md0."""
    disks = [str(disk.path) for disk in ground.disks["data"]]
    done = ground.host.run([*CREATE, *disks])
    assert done.returncode == 0, done.stderr
    return disks


def inside(ground: UmlGround, script: str, *arguments: str) -> str:
    """What a Python script of mydyno's writes in the guest."""
    if not all(map(ground.host.exists, (Path(mydyno.__file__), Path(pydantic.__file__)))):
        pytest.skip("this checkout lies below /tmp, where a guest has a folder of its own")
    path = os.pathsep.join(filter(None, sys.path))
    argv = ["env", f"PYTHONPATH={path}", sys.executable, "-c", script, *arguments]
    done = ground.host.run(argv, timeout_seconds=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


STOP = """
import sys
from pathlib import Path
from mydyno.core.errors import UndoError
from mydyno.lab.stack.undo import StopArray
first, second = map(Path, sys.argv[1:])
def runs():
    # The files of an array that was stopped answer EBUSY until they are gone.
    try:
        return Path("/sys/block/md0/md/array_state").read_text().strip() not in ("", "clear")
    except OSError:
        return False
try:
    StopArray(array=Path("/dev/md0"), members=(first,)).carry_out()
except UndoError as error:
    print(error.message)
print(runs())
for _ in range(2):
    StopArray(array=Path("/dev/md0"), members=(first, second)).carry_out()
    print(runs())
"""


def test_an_array_is_stopped_when_all_its_members_are_ours_and_else_left_running(
    ground: UmlGround, disks: list[str]
) -> None:
    refusal, *running = inside(ground, STOP, *disks).splitlines()
    assert refusal == (
        f"refused to stop /dev/md0: its members {Path(disks[1]).name} were not added by mydyno"
    )
    assert running == ["True", "False", "False"]


EXAMINE = """
import subprocess, sys
from dataclasses import replace
from pathlib import Path
from mydyno.machine.block_devices import read_block_device
from mydyno.core.facts import AskedDisk
from mydyno.machine.device_refusals import refusals
from mydyno.machine.local import LocalHost
disk = Path(sys.argv[1])
def told():
    # A user-mode disk reports no serial; what wipe lifts is to be seen beside what it does not.
    device = replace(read_block_device(LocalHost(), disk, (disk.parent,)), serial="S1")
    print(*refusals(device, AskedDisk(str(disk), "S1", wipe=True)), sep="; ")
told()
subprocess.run(["mdadm", "--quiet", "--stop", "/dev/md0"], check=True)
told()
subprocess.run(["mdadm", "--quiet", "--zero-superblock", str(disk)], check=True)
told()
"""


def test_a_member_of_an_array_is_refused_running_or_not_whatever_wipe_says(
    ground: UmlGround, disks: list[str]
) -> None:
    running, at_rest, freed = inside(ground, EXAMINE, disks[0]).split("\n")[:3]
    assert "/dev/md0 is built on it" in running
    assert "does not open it exclusively: Device or resource busy" in running
    assert at_rest.startswith("it is a member of an md array (linux_raid_member)")
    assert freed == ""


def test_the_array_of_a_killed_session_is_stopped_when_it_has_kept_all_of_its_disks(
    ground: UmlGround, disks: list[str]
) -> None:
    host, trials = ground.host, Path("/tmp/trials")
    boot = host.read_text(Path("/proc/sys/kernel/random/boot_id"))
    numbers = [host.read_text(Path(f"/sys/block/{Path(disk).name}/dev")) for disk in disks]
    assert boot is not None
    assert all(number is not None and number.endswith("\n") for number in numbers)
    host.make_folder(trials)
    own = trials / "mydyno-0123456789ab"
    first, second = numbers
    for kept, runs in (
        (f"{boot}{first}", True),
        (f"another boot\n{first}{second}", True),
        (f"{boot}{first}{second}", False),
    ):
        # A session's folder as it lies there after a SIGKILL of its agent.
        host.make_folder(own)
        host.write_text(own / DEVICES, kept)
        swept = host.run([str(host.program("mydyno-agent")), "sweep", str(trials)])
        assert (swept.returncode, swept.stdout, swept.stderr) == (0, f"{own}\n", "")
        assert not host.exists(own)
        assert ("md0" in (host.read_text(Path("/proc/mdstat")) or "")) == runs


AS_LOOPS = """
array=$(readlink -f /sys/block/md0)
mount -t tmpfs none /sys/block
ln -s "$array" /sys/block/md0
for disk; do mkdir -p "/sys/block/$disk/loop"; done
"""
"""These kernels have no loop devices: the disks are shown as some, and the array is the kernel's."""


def test_the_arrays_of_a_killed_session_are_stopped_when_all_their_disks_are_its_files(
    ground: UmlGround, disks: list[str]
) -> None:
    host, trials = ground.host, Path("/tmp/trials")
    names = [Path(disk).name for disk in disks]
    done = host.run(["sh", "-ec", AS_LOOPS, "sh", *names])
    assert done.returncode == 0, done.stderr
    host.make_folder(trials)
    own, other = trials / "mydyno-0123456789ab", Path("/srv")
    for folders, runs in (((own, other), True), ((own, own), False)):
        # A session's folder as it lies there after a SIGKILL of its agent.
        host.make_folder(own)
        for name, folder in zip(names, folders, strict=True):
            host.write_text(Path(f"/sys/block/{name}/loop/backing_file"), f"{folder}/disks/{name}.img\n")
        swept = host.run([str(host.program("mydyno-agent")), "sweep", str(trials)])
        assert (swept.returncode, swept.stdout, swept.stderr) == (0, f"{own}\n", "")
        assert not host.exists(own)
        assert ("md0" in (host.read_text(Path("/proc/mdstat")) or "")) == runs
