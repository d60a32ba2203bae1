"""Real block devices for a volume: known right before they are used, blank when they are left."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from mydyno.core.errors import StorageError
from mydyno.core.facts import AskedDisk
from mydyno.lab.spec.disks import Disks
from mydyno.lab.stack.ground import Disk
from mydyno.machine.block_devices import STABLE_FOLDERS, BlockDevice, read_block_device
from mydyno.machine.device_refusals import refusals
from mydyno.machine.protocol import Host


@dataclass(frozen=True)
class RealDisk:
    """A device that was examined and may be built on."""

    asked: AskedDisk
    device: BlockDevice
    disk: Disk


def examine(
    host: Host, volumes: Mapping[str, Disks], stable_folders: Sequence[Path] = STABLE_FOLDERS
) -> tuple[RealDisk, ...]:
    """Asks `host` about every real device of every volume. Writes nothing.

    Raises StorageError naming every reason against every device.
    """
    known: list[RealDisk] = []
    complaints: list[str] = []
    for volume, disks in volumes.items():
        for index, each in enumerate(disks.devices):
            asked = AskedDisk(each.id, each.serial, disks.wipe)
            device = read_block_device(host, Path(asked.name), stable_folders)
            reasons = refusals(device, asked)
            reasons += [
                f"it is also {other.asked.name}" for other in known if other.device.path == device.path
            ]
            complaints += [f"{asked.name} ({device.path}): {reason}" for reason in reasons]
            known.append(RealDisk(asked, device, Disk(volume, index, device.path, device.size_bytes)))
    if complaints:
        raise StorageError(
            "refused to build on real disks:\n" + "\n".join(f"  - {each}" for each in complaints)
        )
    return tuple(known)


def described(disks: Sequence[RealDisk]) -> dict[str, str]:
    """What a result shows of them."""
    return {f"{each.disk.volume} disk {each.disk.index}": each.device.description() for each in disks}


def effects(volume: str, disks: Disks, where: str = "") -> Iterator[str]:
    """What building on the real disks of a volume does to them; `where` is ` of db1` on another machine."""
    verb = "DESTROYS what is on" if disks.wipe else "writes to"
    return (f"{verb} the real disk {each.id}{where} for {volume}" for each in disks.devices)


def hold_blank(
    host: Host, disks: Sequence[RealDisk], stable_folders: Sequence[Path], removal: ExitStack
) -> None:
    """Makes the disks blank, and again when they are left. Raises StorageError."""
    for each in disks:
        make_blank(host, each, stable_folders)
        removal.callback(make_blank, host, each, stable_folders)


def make_blank(host: Host, disk: RealDisk, stable_folders: Sequence[Path] = STABLE_FOLDERS) -> None:
    """Takes the signatures off a device that still is the one that was examined.

    wipefs opens it exclusively, so one that is in use is left alone. Raises StorageError.
    """
    then, now = disk.device, read_block_device(host, Path(disk.asked.name), stable_folders)
    if (now.path, now.serial, now.size_bytes) != (then.path, then.serial, then.size_bytes):
        raise StorageError(f"{disk.asked.name} is another disk now: {now.description()}")
    if not now.signatures:
        return
    done = host.run(["wipefs", "--all", str(now.path)])
    if done.returncode != 0:
        raise StorageError(f"{now.path} was not wiped: {done.stderr.strip() or done.stdout.strip()}")
