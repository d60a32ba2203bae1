"""When a real block device may be built on: pure rules over the facts of it.

Whatever is written to a disk cannot be undone, so everything that hints at another use refuses it.
`wipe: yes` with the right serial lifts one refusal only: what the disk carries. It lifts neither a use
(mounted, swap, opened by a process) nor a membership in an array or a volume group, running or not: the
other members would be harmed too.
"""

from collections.abc import Iterator

from mydyno.core.facts import AskedDisk
from mydyno.machine.block_devices import BlockDevice

MEMBERSHIPS = {
    "linux_raid_member": "an md array",
    "ddf_raid_member": "an array of a RAID controller",
    "isw_raid_member": "an array of a RAID controller",
    "LVM2_member": "an LVM volume group",
    "LVM1_member": "an LVM volume group",
    "zfs_member": "a ZFS pool",
    "bcache": "a bcache set",
    "ceph_bluestore": "a Ceph cluster",
    "drbd": "a DRBD pair",
}
"""Signatures, as libblkid names them, that make a device part of something that lies on others too."""

_KINDS = ("disk", "part", "loop")


def refusals(device: BlockDevice, wanted: AskedDisk) -> list[str]:
    """Every reason why `device` must not be touched, a clause each; empty: it may be built on."""
    return [*_name(device), *_use(device), *_membership(device), *_contents(device, wanted)]


def _name(device: BlockDevice) -> Iterator[str]:
    if not device.stable:
        yield (
            f"{device.name} is not a stable name: another disk may bear it after a reboot; "
            "name the disk by its link in /dev/disk/by-id"
        )
    if device.kind not in _KINDS:
        yield f"it is neither a disk nor a partition (lsblk calls it {device.kind})"
    if device.size_bytes == 0:
        yield "it has no size: no medium is in it"
    if device.read_only:
        yield "it is read-only"


def _use(device: BlockDevice) -> Iterator[str]:
    if device.carries_system:
        yield "the running system's own file systems lie on it"
    if device.mount_points:
        yield f"it is mounted on {', '.join(device.mount_points)}"
    if device.is_swap:
        yield "it is used as swap"
    if device.parts:
        yield f"it has partitions: {', '.join(device.parts)}"
    if device.holders:
        yield f"{', '.join(device.holders)} is built on it (an array, LVM or a mapping)"
    if device.refused_opening is not None:
        yield f"the kernel does not open it exclusively: {device.refused_opening}"


def _membership(device: BlockDevice) -> Iterator[str]:
    for kind in device.carried:
        if kind in MEMBERSHIPS:
            yield (
                f"it is a member of {MEMBERSHIPS[kind]} ({kind}), which `wipe` does not lift; when that is "
                f"not wanted any more, run `wipefs --all {device.path}` yourself"
            )


def _contents(device: BlockDevice, wanted: AskedDisk) -> Iterator[str]:
    if wanted.serial is not None and wanted.serial != device.serial:
        actual = f"has the serial {device.serial}" if device.serial else "reports no serial"
        yield f"it {actual}, and the experiment means the disk with the serial {wanted.serial}"
    if device.signatures is None:
        yield "what it carries could not be read, which needs root"
    carried = [kind for kind in device.carried if kind not in MEMBERSHIPS]
    if not carried:
        return
    what = f"it carries {', '.join(carried)}"
    if not wanted.wipe:
        yield (
            f"{what}; with `wipe: yes` and its serial ({device.serial or 'it reports none'}) in the "
            "experiment, all that is on it would be destroyed"
        )
    elif device.serial is None:
        yield f"{what}, and it reports no serial by which `wipe: yes` could mean it"
    elif wanted.serial is None:
        yield f"{what}, and `wipe: yes` needs its serial with it: {device.serial}"
