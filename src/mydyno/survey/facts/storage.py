"""Disks, arrays, volumes and file systems, from the bottom to the server's files."""

from collections.abc import Iterator
from typing import Literal

from mydyno.core.record import Record

DiskKind = Literal["nvme", "ssd", "rotating", "virtual"]


class Disk(Record):
    """One whole disk, by its kernel name."""

    name: str
    """`nvme0n1`, `sda`, `vdb`."""
    kind: DiskKind | None = None
    """`virtual`: a disk of a hypervisor (virtio, Xen, Hyper-V), whose kind the guest cannot see."""
    size_bytes: int | None = None
    model: str | None = None
    scheduler: str | None = None
    schedulers: tuple[str, ...] = ()
    """Those that it can have."""
    read_ahead_kib: int | None = None
    requests: int | None = None
    """nr_requests."""
    write_cache: str | None = None
    """`write back` or `write through`."""
    discards: bool | None = None
    removable: bool | None = None
    reads: int | None = None
    """Finished since boot."""
    read_seconds: float | None = None
    """What all of them took together, waiting in the queue included."""
    writes: int | None = None
    write_seconds: float | None = None
    host_caching: Literal["None", "ReadOnly", "ReadWrite"] | None = None
    """Of a disk of a virtual machine of Azure's."""


class DiskSpeed(Record):
    """What fio measured under a mount point: random I/O of `block_bytes` with `depth` in flight."""

    mount_point: str
    read_iops: float
    write_iops: float
    sync_seconds: float | None = None
    """One write and fdatasync, one after another: the time of a commit."""
    block_bytes: int = 16384
    depth: int = 32


class Array(Record):
    """A Linux software array (md)."""

    name: str
    """`md0`."""
    level: str
    """`raid0`, `raid1`, `raid5`, `raid6`, `raid10`, `linear`."""
    devices: int
    working: int | None = None
    chunk_bytes: int | None = None
    state: str | None = None
    """array_state: clean, active, ..."""
    action: str | None = None
    """sync_action: idle, resync, recover, check."""
    bitmap: str | None = None
    """`none`, `internal` or a file's name."""
    bitmap_chunk_bytes: int | None = None
    stripe_cache_size: int | None = None
    """Pages for each device (RAID 4/5/6)."""
    read_ahead_kib: int | None = None
    """/sys/block/ARRAY/queue/read_ahead_kb: what counts for a file system on it; its disks' does not."""
    disks: tuple[str, ...] = ()

    @property
    def degraded(self) -> bool | None:
        return None if self.working is None else self.working < self.devices


class LogicalVolume(Record):
    name: str
    """`vg0/data`."""
    segment: str | None = None
    """linear, striped, thin, cache..."""
    stripes: int | None = None
    stripe_bytes: int | None = None
    snapshots: int | None = None
    """Of which it is the origin: each one makes every first write dearer."""


class FstabEntry(Record):
    """A line of /etc/fstab. `fault`: why it is none, in words; then the rest may be empty."""

    line: int
    source: str = ""
    mount_point: str = ""
    kind: str = ""
    options: tuple[str, ...] = ()
    fault: str | None = None


class FileSystem(Record):
    """A mounted file system and its devices."""

    mount_point: str
    kind: str
    """ext4, xfs, btrfs, zfs, nfs4, overlay, tmpfs..."""
    source: str
    options: tuple[str, ...]
    """In force, as /proc/self/mountinfo has them."""
    size_bytes: int | None = None
    free_bytes: int | None = None
    """What an ordinary user may still fill."""
    free_inodes: int | None = None
    inodes: int | None = None
    reserved_bytes: int | None = None
    """Kept for root."""
    disks: tuple[str, ...] = ()
    """Names of the disks at the bottom; empty: not known."""
    array: str | None = None
    volume: str | None = None
    """The logical volume's name."""


Files = Literal["data", "redo log", "binary log", "undo", "temporary files", "slow log"]


class Use(Record):
    """Where one kind of the server's files lies."""

    files: Files
    path: str
    mount_point: str
    no_copy_on_write: bool | None = None
    """Of btrfs: the folder's attribute C (chattr(1))."""
    owner: str | None = None
    """Of the folder of the data; so is the mode."""
    mode: int | None = None
    """Permission bits: 0o750 is 488."""
    file_mode: int | None = None
    """Of one file: the system tablespace of the data, the slow log itself."""
    file_bytes: int | None = None
    """Of the slow log."""


class Storage(Record):
    disks: tuple[Disk, ...] = ()
    arrays: tuple[Array, ...] = ()
    volumes: tuple[LogicalVolume, ...] = ()
    filesystems: tuple[FileSystem, ...] = ()
    """Those that the server's files lie on."""
    uses: tuple[Use, ...] = ()
    speeds: tuple[DiskSpeed, ...] = ()
    """Only where it was measured."""
    fstab: tuple[FstabEntry, ...] = ()
    trim_timer: bool | None = None
    """Whether fstrim.timer is enabled (`systemctl is-enabled fstrim.timer`)."""

    def of(self, files: str) -> FileSystem | None:
        """The file system that the server's `files` (see `Use`) lie on."""
        points = {use.mount_point for use in self.uses if use.files == files}
        return next((each for each in self.filesystems if each.mount_point in points), None)

    def disks_of(self, filesystem: FileSystem | None) -> tuple[Disk, ...]:
        names = filesystem.disks if filesystem else ()
        return tuple(disk for disk in self.disks if disk.name in names)

    def array_of(self, filesystem: FileSystem | None) -> Array | None:
        name = filesystem.array if filesystem else None
        return next((array for array in self.arrays if array.name == name), None)

    def speed_of(self, filesystem: FileSystem | None) -> DiskSpeed | None:
        point = filesystem.mount_point if filesystem else None
        return next((speed for speed in self.speeds if speed.mount_point == point), None)

    def server_disks(self) -> Iterator[Disk]:
        """The disks under any of the server's files, each once."""
        names = {name for each in self.filesystems for name in each.disks}
        return (disk for disk in self.disks if disk.name in names)
