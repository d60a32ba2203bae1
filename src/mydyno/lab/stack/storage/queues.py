"""The queues of a volume's disks: I/O scheduler, length, readahead; all of it restored.

For readahead the device under the file system counts: a file on an array is read ahead by the array's
setting, and its members' are without effect. btrfs has a separate setting for each file system.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from mydyno.core.errors import StorageError
from mydyno.lab.stack.ground import Ground
from mydyno.lab.stack.layer import BuiltLayers
from mydyno.lab.stack.site import Site
from mydyno.lab.stack.storage.built import Built, FileSystem, VolumeLayer, of_volume
from mydyno.lab.stack.storage.tools import output_of, setting, write_setting
from mydyno.lab.stack.undo import RestoreSysfs
from mydyno.machine.environment import chosen
from mydyno.machine.protocol import Host

_HINT = "it must be a multiple of 4K (whole pages)"


@dataclass(frozen=True)
class Changed:
    """A file that has another value than before."""

    path: Path
    before: str
    undo: int | None


def queue_of(host: Host, device: Path) -> Path:
    """The folder of a device's queue; a partition's is that of the disk that it is part of."""
    queue = Path("/sys/block") / device.name / "queue"
    if host.exists(queue):
        return queue
    argv = ["readlink", "--canonicalize", f"/sys/class/block/{device.name}"]
    partition = Path(output_of(host, argv, f"looking for the queue of {device}").strip())
    return Path("/sys/block") / partition.parent.name / "queue"


def change(
    site: Site, path: Path, before: str, value: str, hint: str | None = None, *, journalled: bool = True
) -> Changed:
    """Writes `value` in place of `before`. Raises StorageError with the kernel's refusal.

    Not journalled is what goes by itself with a mount.
    """
    undo = site.intend(RestoreSysfs(path=path, value=before)) if journalled else None
    changed = Changed(path, before, undo)
    refused = write_setting(site.host, path, value)
    if refused is not None:
        site.undo(changed.undo)
        raise StorageError(f"{path} does not take {value!r} (it says {before!r}): {refused}", hint)
    return changed


def set_number(
    site: Site, path: Path, value: int, hint: str | None = None, *, journalled: bool = True
) -> Changed | None:
    """Writes a number and reads it back; None when it was so already. Raises StorageError."""
    before = setting(site.host, path)
    if before is None:
        raise StorageError(f"there is no {path} on the {site.host.name} host", hint)
    if before == str(value):
        return None
    changed = change(site, path, before, str(value), hint, journalled=journalled)
    now = setting(site.host, path)
    if now != str(value):
        restore(site, changed)
        raise StorageError(f"{path} says {now} after {value} was written", hint)
    return changed


def restore(site: Site, *changes: Changed) -> None:
    """Writes the old values, latest first. Raises StorageError naming the first that is not taken back."""
    failures = []
    for changed in reversed(changes):
        # A device that has gone has taken its queue with it.
        if site.host.exists(changed.path):
            refused = write_setting(site.host, changed.path, changed.before)
            if refused is not None:
                failures.append(f"{changed.path} does not take back {changed.before!r}: {refused}")
                continue
        site.undo(changed.undo)
    if failures:
        raise StorageError(failures[0])


@dataclass(frozen=True)
class Readahead(Built):
    """The readahead of a volume, as it is set."""

    change: Changed | None = field(repr=False)


@dataclass(frozen=True)
class ReadaheadLayer(VolumeLayer):
    """Sets the readahead of the volume's own device, or leaves it, and reads it back."""

    part: ClassVar[str] = "readahead"
    shaping: ClassVar[tuple[str, ...]] = ("readahead",)

    def side_effects(self) -> tuple[str, ...]:
        return () if self.wanted.readahead is None else (f"sets the readahead of {self.volume}",)

    def build(self, site: Site, below: BuiltLayers) -> Readahead:
        filesystem = of_volume(below, FileSystem, self.volume)
        own = filesystem.kind == "btrfs"
        path = (
            Path("/sys/fs/btrfs") / filesystem.uuid / "bdi" / "read_ahead_kb"
            if own
            else queue_of(site.host, filesystem.device) / "read_ahead_kb"
        )
        changed = None if self.wanted.readahead is None else self._set(site, path, goes_with_mount=own)
        now = setting(site.host, path)
        return Readahead(self.volume, {} if now is None else {"readahead": f"{now}K"}, changed)

    def remove(self, site: Site, product: Readahead) -> None:
        if product.change is not None:
            restore(site, product.change)

    def _set(self, site: Site, path: Path, *, goes_with_mount: bool) -> Changed | None:
        assert self.wanted.readahead is not None
        kibibytes, rest = divmod(self.wanted.readahead, 1024)
        if rest:
            raise StorageError(f"a readahead of {self.wanted.readahead} bytes cannot be set", _HINT)
        return set_number(site, path, kibibytes, _HINT, journalled=not goes_with_mount)


@dataclass(frozen=True)
class Queues(Built):
    """The queues of a volume's disks, as they are set."""

    changes: tuple[Changed, ...] = field(repr=False)


@dataclass(frozen=True)
class SchedulerLayer(VolumeLayer):
    """Sets scheduler and length of each disk's queue; what is not configured stays as the kernel has it."""

    part: ClassVar[str] = "scheduler"
    shaping: ClassVar[tuple[str, ...]] = ("scheduler", "queue_depth")

    def side_effects(self) -> tuple[str, ...]:
        if self.wanted.scheduler is None and self.wanted.queue_depth is None:
            return ()
        return (f"sets I/O scheduler and queue length of the disks of {self.volume}, and restores them",)

    def build(self, site: Site, below: BuiltLayers) -> Queues:
        ground = below.of(Ground)  # type: ignore[type-abstract]
        changes: list[Changed] = []
        described: dict[str, dict[str, None]] = {}
        try:
            for disk in ground.disks[self.volume]:
                queue = queue_of(site.host, disk.path)
                self._set_scheduler(site, queue, changes)
                # A scheduler comes with a queue length of its own, so the length is set after it.
                length = self._length(site, queue, ground.longest_queue)
                if length is not None:
                    changes += _no_none(set_number(site, queue / "nr_requests", length, _LENGTH_HINT))
                for key, value in _described(site, queue):
                    described.setdefault(key, {})[value] = None
        except BaseException:
            restore(site, *changes)
            raise
        texts = {key: ", ".join(values) for key, values in described.items()}
        return Queues(self.volume, texts, tuple(changes))

    def remove(self, site: Site, product: Queues) -> None:
        restore(site, *product.changes)

    def _length(self, site: Site, queue: Path, longest: int | None) -> int | None:
        """What the queue is to hold: as configured, or no more than the environment allows; None: as it
        is."""
        configured = self.wanted.queue_depth
        if longest is None:
            return configured
        if configured is not None and configured > longest:
            raise StorageError(
                f"queue_depth: {configured} is more than a disk of the {site.host.name} host supports with "
                f"the others: {longest}",
                "use a smaller value, fewer disks, or another host",
            )
        now = setting(site.host, queue / "nr_requests")
        return configured or (longest if now is not None and int(now) > longest else None)

    def _set_scheduler(self, site: Site, queue: Path, changes: list[Changed]) -> None:
        wanted = self.wanted.scheduler
        if wanted is None:
            return
        path = queue / "scheduler"
        names, chosen = parse_schedulers(setting(site.host, path) or "")
        if wanted not in names:
            raise StorageError(
                f"{queue.parent.name} of the {site.host.name} host has no I/O scheduler {wanted!r}: "
                f"its kernel lists {', '.join(names) or 'none'}",
                "use one of these, or a host whose kernel has it",
            )
        if chosen != wanted:
            changes.append(change(site, path, chosen or "none", wanted))
            now = setting(site.host, path)
            if parse_schedulers(now or "")[1] != wanted:
                raise StorageError(f"{path} says {now!r} after {wanted!r} was written")


_LENGTH_HINT = "under the scheduler none a queue is at most as long as the disk's own"


def parse_schedulers(text: str) -> tuple[tuple[str, ...], str | None]:
    """`[mq-deadline] kyber none` -> all the names, and the one in force."""
    return tuple(re.sub(r"[\[\]]", "", text).split()), chosen(text)


def _described(site: Site, queue: Path) -> list[tuple[str, str]]:
    _, scheduler = parse_schedulers(setting(site.host, queue / "scheduler") or "")
    described = {
        "scheduler": scheduler,
        "queue depth": setting(site.host, queue / "nr_requests"),
        "write cache of a disk": setting(site.host, queue / "write_cache"),
    }
    return [(key, value) for key, value in described.items() if value]


def _no_none(changed: Changed | None) -> list[Changed]:
    return [] if changed is None else [changed]
