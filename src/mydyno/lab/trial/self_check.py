"""A short fio on a volume before its load: do the disks perform as configured, and no better?

docs/reference/self-check.md explains it; what theory expects is `analysis.disk_theory`, and what its
figures mean `analysis.disk_theory`.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mydyno.core.errors import EngineError, MissingToolError, ServerError
from mydyno.core.raid import PARITY
from mydyno.lab.analysis.disk_theory import ArrayLayout, LimitedDisk, expected_iops
from mydyno.lab.load.fio import report
from mydyno.lab.results.records import SelfCheckRecord
from mydyno.lab.spec import Storage
from mydyno.lab.spec.arrays import array_of, failing_members
from mydyno.lab.spec.storage import Volume
from mydyno.lab.stack.ground import DiskLimits, Ground
from mydyno.lab.stack.storage import MountedVolume
from mydyno.machine.proc import cpu_seconds

Operation = Literal["randread", "randwrite"]

BLOCK_BYTES = 4096
SECONDS = 2.0
DEPTH_OF_A_DISK = 16
DEEPEST = 1024
"""Of one fio; a disk of more than 64 gets less than its share of the queue."""
_RAMP_MS = 500
"""Not counted: the first I/Os find budgets and queues that are still unused."""
_LARGEST_FILE = 128 << 20
_CACHED_STRIPES = 256
"""That md keeps of RAID 4, 5 and 6, a page of each disk (Linux, admin-guide/md.rst, stripe_cache_size)."""
_MOST_CACHED = 0.15
"""Share of the file in that cache above which too many blocks are found there to conclude anything."""
_FILE = "mydyno-self-check"
_LONGEST_SECONDS = 300.0
"""A disk of one I/O a second takes a minute to empty the queue."""
_OUT_OF_PLACE = ("btrfs", "f2fs")
"""File systems that write a block elsewhere than it was: what is random in the file is in a row on the disk,
and the kernel joins it before a limit counts it."""


def self_check(ground: Ground, volume: MountedVolume, storage: Storage) -> tuple[SelfCheckRecord, ...]:
    """Writes, then reads, on a volume whose limits are set; data on it leave less space for the check.

    A raw volume is overwritten at its start. A fio that fails is a record with its error. Raises
    MissingToolError when the environment has no fio, HostError when it is lost.
    """
    wanted = storage.volumes[volume.volume]
    raw = wanted.filesystem == "raw"
    check = _Check(
        ground=ground,
        volume=volume,
        wanted=wanted,
        target=volume.device if raw else volume.path / _FILE,
        size_bytes=_file_bytes(ground, volume),
    )
    try:
        failure = check.lay_out()
        return (check.run("randwrite", failure), check.run("randread", failure))
    finally:
        if not raw:
            ground.host.remove_tree(check.target)


def _file_bytes(ground: Ground, volume: MountedVolume) -> int:
    """Whole MiB: half a disk, and half of what is free, at most."""
    size = min(_LARGEST_FILE, ground.disks[volume.volume][0].size_bytes // 2)
    if volume.path != volume.device:
        output = ground.host.run(["stat", "--file-system", "--format=%a %S", str(volume.path)]).stdout.split()
        if output:
            blocks, block_bytes = map(int, output)
            size = min(size, blocks * block_bytes // 2)
    return max(1, size >> 20) << 20


def queue_depth(disks: int) -> int:
    """I/Os in flight: with fewer a disk the queue of one runs empty while another's is long."""
    return min(DEEPEST, DEPTH_OF_A_DISK * disks)


@dataclass(frozen=True)
class _Check:
    ground: Ground
    volume: MountedVolume
    wanted: Volume
    target: Path
    size_bytes: int

    def lay_out(self) -> str | None:
        """Fills the file, without limits: blocks that were never written are read without a disk. What went
        wrong; None for nothing."""
        with self._limits_lifted():
            _, failure = self._fio("--rw=write", "--bs=1M", "--iodepth=4", "--end_fsync=1")
        return failure

    def run(self, operation: Operation, failure: str | None) -> SelfCheckRecord:
        """One measured run; after a `failure`, the record of that."""
        depth = queue_depth(self.wanted.disks.number)
        measured = idle = None
        if failure is None:
            before = self._cpu_seconds()
            done, failure = self._fio(
                f"--rw={operation}",
                f"--bs={BLOCK_BYTES}",
                f"--iodepth={depth}",
                "--time_based",
                f"--runtime={SECONDS:g}",
                f"--ramp_time={_RAMP_MS}ms",
                "--norandommap",
            )
            idle = idle_share(before, self._cpu_seconds())
            # What is under way when the time is over fio awaits and does not count, but for a few.
            measured = None if done is None else done / SECONDS
        return SelfCheckRecord(
            volume=self.volume.volume,
            operation=operation,
            block_bytes=BLOCK_BYTES,
            queue_depth=depth,
            seconds=SECONDS,
            measured_iops=measured,
            expected_iops=expected(
                operation,
                self.wanted,
                LimitedDisk(self.wanted.disks.iops, self.wanted.disks.bandwidth, self.ground.budget),
                self.size_bytes,
                degraded=int(self._of_md("degraded") or 0),
                at_rest=self._of_md("sync_action") in (None, "idle"),
            ),
            idle=idle,
            error=failure,
        )

    def _fio(self, *options: str) -> tuple[int | None, str | None]:
        """The I/Os that were done, or what went wrong."""
        argv = [
            "fio",
            "--name=self-check",
            f"--filename={self.target}",
            f"--size={self.size_bytes}",
            "--direct=1",
            "--ioengine=libaio",
            "--output-format=json+",
            *options,
        ]
        try:
            done = self.ground.host.run(argv, timeout_seconds=_LONGEST_SECONDS)
        except MissingToolError as error:
            raise MissingToolError(
                f"fio was not found on the {self.ground.host.name} host; the self-check needs it",
                "install it where that host can find it: apt install fio",
            ) from error
        except ServerError as error:
            return None, error.message
        if done.returncode != 0:
            return None, _last_line(done.stderr) or f"fio: exit code {done.returncode}"
        try:
            return report.parse(done.stdout).ios, None
        except EngineError as error:
            return None, error.message

    @contextmanager
    def _limits_lifted(self) -> Iterator[None]:
        limits = DiskLimits(self.wanted.disks.iops, self.wanted.disks.bandwidth)
        if limits == DiskLimits():
            yield
            return
        disks = self.ground.disks[self.volume.volume]
        self.ground.throttle(dict.fromkeys(disks, DiskLimits()))
        try:
            yield
        finally:
            self.ground.throttle(dict.fromkeys(disks, limits))

    def _cpu_seconds(self) -> Mapping[str, float]:
        return cpu_seconds(self.ground.host.read_text(Path("/proc/stat")) or "")

    def _of_md(self, name: str) -> str | None:
        """What the array's driver says of it; None where there is no array, or none with redundancy."""
        # By its number: a raw volume's device is a node of another name.
        done = self.ground.host.run(["stat", "--dereference", "--format=%t %T", str(self.volume.device)])
        if done.returncode != 0:
            return None
        major, minor = (int(each, 16) for each in done.stdout.split())
        text = self.ground.host.read_text(Path(f"/sys/dev/block/{major}:{minor}/md/{name}"))
        return None if text is None else text.strip()


def expected(
    operation: Operation,
    volume: Volume,
    disk: LimitedDisk,
    file_bytes: int,
    *,
    degraded: int = 0,
    at_rest: bool = True,
) -> float | None:
    """What theory expects of a file of this size on a volume with `degraded` members missing; None where it
    has nothing to say."""
    logged = volume.consistency_policy == "ppl" and operation == "randwrite"
    if volume.filesystem in _OUT_OF_PLACE or logged or not at_rest:
        return None
    shape = array_of(volume)
    cached = _CACHED_STRIPES * BLOCK_BYTES * shape.disks if shape.raid in PARITY else 0
    if cached > _MOST_CACHED * file_bytes:
        return None
    layout = ArrayLayout(
        level=shape.raid,
        disks=shape.disks,
        failed=failing_members(shape, degraded),
        layout=shape.layout,
    )
    return expected_iops(operation, BLOCK_BYTES, layout, disk)


def idle_share(before: Mapping[str, float], after: Mapping[str, float]) -> float | None:
    """Share of the CPU time in between in which there was nothing to do but to wait for disks; None when
    no time has passed or none was reported. Both are of `proc.cpu_seconds`."""
    spent = {mode: after[mode] - before[mode] for mode in before.keys() & after.keys()}
    whole = sum(spent.values())
    if "iowait" not in spent or whole <= 0:
        return None
    return (spent["idle"] + spent["iowait"]) / whole


def _last_line(text: str) -> str | None:
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else None
