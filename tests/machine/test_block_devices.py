"""Each refusal of a real block device, proven on loop devices; what needs a serial, on values."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from lab.stack.loops import attached, needs_loops, sparse_file

from machine.device_contents import write_lvm_label, write_md_superblock, write_partition_table
from mydyno.core.errors import StorageError
from mydyno.core.facts import AskedDisk
from mydyno.machine.block_devices import STABLE_FOLDERS, BlockDevice, Signature, read_block_device
from mydyno.machine.device_refusals import refusals
from mydyno.machine.local import LocalHost
from mydyno.machine.supervised import NamespaceHost

BLANK = BlockDevice(
    name=Path("/dev/disk/by-id/ata-MAKER_MODEL_S123"),
    stable=True,
    path=Path("/dev/sdb"),
    number="8:16",
    kind="disk",
    size_bytes=2_000_000_000_000,
    model="MAKER MODEL",
    serial="S123",
    read_only=False,
    mount_points=(),
    is_swap=False,
    parts=(),
    holders=(),
    signatures=(),
    carries_system=False,
    refused_opening=None,
)
EXT4 = replace(BLANK, signatures=(Signature("ext4", 1080),))
ASKED = AskedDisk(str(BLANK.name))


class Bench:
    """One loop device with a name in a folder that the tests take for one of stable names."""

    def __init__(self, disk: Path, by_id: Path) -> None:
        self.disk = disk
        self.name = by_id / "loop-test"
        self.name.symlink_to(disk)

    def device(self) -> BlockDevice:
        return read_block_device(LocalHost(), self.name, (self.name.parent,))

    def refusals(self) -> list[str]:
        return refusals(self.device(), AskedDisk(str(self.name)))


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    by_id = tmp_path / "by-id"
    by_id.mkdir()
    with attached(sparse_file(tmp_path / "disk"), "--partscan") as device:
        yield Bench(device, by_id)


@needs_loops
def test_a_blank_disk_under_a_stable_name_is_not_refused(bench: Bench) -> None:
    assert bench.refusals() == []
    device = bench.device()
    assert (device.kind, device.size_bytes, device.signatures) == ("loop", 64 << 20, ())
    assert device.description() == (
        f"{bench.name} ({bench.disk}): unknown model, serial unknown, 0.1 GB, carries no signature"
    )


@needs_loops
def test_a_disk_is_the_same_in_private_namespaces_of_this_machine(bench: Bench, tmp_path: Path) -> None:
    subprocess.run(["mkfs.ext4", "-q", bench.disk], check=True)
    with closing(NamespaceHost(tmp_path)) as host:
        assert read_block_device(host, bench.name, (bench.name.parent,)) == bench.device()


@needs_loops
def test_a_name_that_may_mean_another_disk_tomorrow_is_refused(bench: Bench) -> None:
    (refusal,) = refusals(read_block_device(LocalHost(), bench.disk), AskedDisk(str(bench.disk)))
    assert f"{bench.disk} is not a stable name" in refusal
    # Nor does a link of the user's own make it one: only the system's folders count.
    assert tuple(Path("/dev/disk") / kind for kind in ("by-id", "by-path", "by-partuuid")) == STABLE_FOLDERS
    (refusal,) = refusals(read_block_device(LocalHost(), bench.name), AskedDisk(str(bench.name)))
    assert "is not a stable name" in refusal


@needs_loops
def test_a_mounted_disk_is_refused(bench: Bench, tmp_path: Path) -> None:
    subprocess.run(["mkfs.ext4", "-q", bench.disk], check=True)
    point = tmp_path / "point"
    point.mkdir()
    subprocess.run(["mount", bench.disk, point], check=True)
    try:
        found = bench.refusals()
    finally:
        subprocess.run(["umount", point], check=True)
    assert f"it is mounted on {point}" in found
    assert "the kernel does not open it exclusively: Device or resource busy" in found


@needs_loops
def test_a_disk_that_is_mounted_where_this_process_cannot_see_it_is_refused(
    bench: Bench, tmp_path: Path
) -> None:
    subprocess.run(["mkfs.ext4", "-q", bench.disk], check=True)
    script = 'mount "$0" "$1" && echo && read end'
    hidden = subprocess.Popen(
        ["unshare", "-m", "--propagation", "private", "sh", "-c", script, bench.disk, tmp_path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert hidden.stdout is not None
    assert hidden.stdout.readline() == b"\n"
    device = bench.device()
    hidden.communicate(b"\n", timeout=10)
    assert device.mount_points == ()
    assert device.refused_opening == "Device or resource busy"
    asked = AskedDisk(str(bench.name), serial="S1", wipe=True)
    found = refusals(replace(device, serial="S1"), asked)
    assert found == ["the kernel does not open it exclusively: Device or resource busy"]


@needs_loops
def test_a_disk_that_is_swapped_to_is_refused(bench: Bench) -> None:
    subprocess.run(["mkswap", bench.disk], check=True, capture_output=True)
    subprocess.run(["swapon", bench.disk], check=True)
    try:
        found = bench.refusals()
    finally:
        subprocess.run(["swapoff", bench.disk], check=True)
    assert "it is used as swap" in found
    assert "the kernel does not open it exclusively: Device or resource busy" in found
    assert any("it carries swap" in refusal for refusal in found)


@needs_loops
def test_a_disk_with_a_partition_is_refused(bench: Bench) -> None:
    # The kernel is told of it directly: not every kernel reads partition tables.
    subprocess.run(["addpart", bench.disk, "1", "2048", "20480"], check=True)
    try:
        assert f"it has partitions: {bench.disk}p1" in bench.refusals()
    finally:
        subprocess.run(["delpart", bench.disk, "1"], check=True)
    write_partition_table(bench.disk, first_sector=2048, sectors=20480)
    (refusal,) = bench.refusals()
    assert refusal.startswith("it carries dos;")


@needs_loops
@pytest.mark.parametrize(
    ("file_system", "command"),
    [
        ("ext4", "mkfs.ext4 -q"),
        ("btrfs", "mkfs.btrfs -q --mixed"),
        ("swap", "mkswap"),
        ("jfs", "mkfs.jfs -q"),
    ],
)
def test_a_disk_that_carries_something_is_refused_and_what_it_is_reported(
    bench: Bench, file_system: str, command: str
) -> None:
    if shutil.which(command.split()[0]) is None:
        pytest.skip(f"{command.split()[0]} is not installed")
    subprocess.run([*command.split(), str(bench.disk)], check=True, capture_output=True)
    (refusal,) = bench.refusals()
    assert refusal.startswith(f"it carries {file_system}; with `wipe: yes` and its serial")


@needs_loops
def test_wipe_without_a_serial_that_the_disk_shows_is_refused(bench: Bench) -> None:
    subprocess.run(["mkfs.ext4", "-q", bench.disk], check=True)
    (refusal,) = refusals(bench.device(), AskedDisk(str(bench.name), wipe=True))
    assert refusal == "it carries ext4, and it reports no serial by which `wipe: yes` could mean it"


@needs_loops
def test_members_of_arrays_and_volume_groups_are_refused_even_at_rest(bench: Bench) -> None:
    for write, kind in ((write_lvm_label, "LVM2_member"), (write_md_superblock, "linux_raid_member")):
        write(bench.disk)
        device = replace(bench.device(), serial="S1")
        assert kind in device.carried
        found = refusals(device, AskedDisk(str(bench.name), serial="S1", wipe=True))
        assert any(kind in refusal and "`wipe` does not lift" in refusal for refusal in found)
        subprocess.run(["wipefs", "--all", bench.disk], check=True, capture_output=True)
    assert bench.refusals() == []


@needs_loops
def test_a_read_only_disk_is_refused(tmp_path: Path) -> None:
    with attached(sparse_file(tmp_path / "disk"), "--read-only") as disk:
        device = read_block_device(LocalHost(), disk, (disk.parent,))
    assert refusals(device, AskedDisk(str(disk))) == ["it is read-only"]


@needs_loops
def test_examining_a_disk_changes_no_byte_of_it(bench: Bench) -> None:
    subprocess.run(["mkfs.ext4", "-q", bench.disk], check=True)
    before = bench.disk.read_bytes()
    bench.refusals()
    assert bench.disk.read_bytes() == before


def test_the_disk_of_the_running_system_is_refused() -> None:
    found = subprocess.run(["findmnt", "-n", "-o", "SOURCE", "/"], capture_output=True, text=True, check=True)
    root = Path(found.stdout.strip())
    if not root.is_block_device():
        pytest.skip(f"the root file system is {root}, which is not a block device")
    device = read_block_device(LocalHost(), root, (root.parent,))
    asked = AskedDisk(str(root), serial=device.serial, wipe=True)
    assert "the running system's own file systems lie on it" in refusals(device, asked)


def test_a_name_without_a_disk_lists_those_that_are_there(tmp_path: Path) -> None:
    (tmp_path / "ata-REAL").touch()
    with pytest.raises(StorageError, match="there is not a block device") as raised:
        read_block_device(LocalHost(), tmp_path / "ata-NONE", (tmp_path,))
    assert raised.value.hint == f"this machine has {tmp_path / 'ata-REAL'}"
    with pytest.raises(StorageError, match="is not a block device"):
        read_block_device(LocalHost(), tmp_path / "ata-REAL", (tmp_path,))


def test_only_wipe_with_the_right_serial_lifts_a_signature() -> None:
    allowed = AskedDisk(str(EXT4.name), serial="S123", wipe=True)
    assert refusals(EXT4, allowed) == []
    assert refusals(EXT4, replace(allowed, wipe=False)) == [
        "it carries ext4; with `wipe: yes` and its serial (S123) in the experiment, all that is on it would "
        "be destroyed"
    ]
    assert refusals(EXT4, replace(allowed, serial=None)) == [
        "it carries ext4, and `wipe: yes` needs its serial with it: S123"
    ]
    assert refusals(EXT4, replace(allowed, serial="S999")) == [
        "it has the serial S123, and the experiment means the disk with the serial S999"
    ]


def test_a_wrong_serial_refuses_a_blank_disk_too() -> None:
    assert refusals(BLANK, ASKED) == []
    assert refusals(BLANK, replace(ASKED, serial="S123")) == []
    assert len(refusals(BLANK, replace(ASKED, serial="S999"))) == 1
    assert refusals(replace(BLANK, serial=None), replace(ASKED, serial="S123")) == [
        "it reports no serial, and the experiment means the disk with the serial S123"
    ]


@pytest.mark.parametrize(
    "use",
    [
        {"stable": False},
        {"kind": "raid1"},
        {"size_bytes": 0},
        {"read_only": True},
        {"carries_system": True},
        {"mount_points": ("/srv",)},
        {"is_swap": True},
        {"parts": ("/dev/sdb1",)},
        {"holders": ("/dev/md0",)},
        {"refused_opening": "Device or resource busy"},
        {"signatures": None},
        {"signatures": (Signature("LVM2_member", 536),)},
        {"signatures": (Signature("linux_raid_member", 4096),)},
    ],
    ids=lambda use: next(iter(use)),
)
def test_wipe_and_serial_lift_nothing_but_what_the_disk_carries(use: dict[str, object]) -> None:
    device = replace(EXT4, **use)  # type: ignore[arg-type]
    assert len(refusals(device, AskedDisk(str(EXT4.name), serial="S123", wipe=True))) == 1


def test_every_reason_is_reported_at_once() -> None:
    device = replace(EXT4, mount_points=("/srv",), is_swap=True, stable=False, serial=None)
    assert len(refusals(device, ASKED)) == 4
