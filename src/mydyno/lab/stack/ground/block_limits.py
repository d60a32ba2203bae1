"""Limits of block devices of this machine, in the root group of cgroup v1's blkio.

The root group, because in any other the kernel's own threads (a journal's, btrfs's) escape the limit:
they belong to the root. cgroup v2 has no limits in its root. A machine whose v2 hierarchy does not use
io lends it to a v1 hierarchy, mounted where only the environment sees it; the limit goes with that mount.
"""

from collections.abc import Mapping
from pathlib import Path

from mydyno.core.errors import HostError, StorageError
from mydyno.lab.stack.ground import DiskLimits
from mydyno.lab.stack.site import Site
from mydyno.lab.stack.undo.block_devices import BLKIO_FILES, LiftThrottle, LimitKind
from mydyno.machine.environment import OWN, mounts
from mydyno.machine.protocol import Host

# Pairs of a file and a line; a refusal names its file.
_WRITE = 'while [ $# -gt 0 ]; do echo "$2" > "$1" || exit 1; shift 2; done'


class BlockLimits:
    """Sets and lifts limits. What was set is in the journal before it is set."""

    def __init__(self, site: Site, private: Path) -> None:
        """`private` is a folder that does not exist yet, in a place that only `site.host` sees."""
        self._site = site
        self._private = private
        self._group: Path | None = None
        self._journalled: dict[str, int | None] = {}

    def set(self, limits: Mapping[str, DiskLimits]) -> None:
        """By device number (MAJOR:MINOR); reads and writes get the limit each. Raises StorageError."""
        if all(each == DiskLimits() for each in limits.values()) and not self._journalled:
            return
        group = self._root_group()
        for number, wanted in limits.items():
            values = _values(wanted)
            undo = None
            if values:
                undo = self._site.intend(LiftThrottle(device=number, group=group, limits=values))
            try:
                self._write(group, number, values)
            except BaseException:
                self._site.undo(undo)
                raise
            # Its limit is not in force any more, so this only crosses it out.
            self._site.undo(self._journalled.pop(number, None))
            if values:
                self._journalled[number] = undo

    def lift_all(self) -> None:
        """Takes off every limit that is set. Raises StorageError, UndoError."""
        try:
            self.set({number: DiskLimits() for number in self._journalled})
        except HostError:
            # The ground's own place has gone; the journal's way does without it.
            for undo in self._journalled.values():
                self._site.undo(undo)
            self._journalled.clear()

    def _write(self, group: Path, number: str, values: Mapping[LimitKind, int]) -> None:
        lines = [
            word
            for kind, file in BLKIO_FILES.items()
            for word in (str(group / file), f"{number} {values.get(kind, 0)}")
        ]
        done = self._site.host.run(["sh", "-c", _WRITE, "sh", *lines])
        if done.returncode != 0:
            raise StorageError(f"device {number} does not accept a limit: {done.stderr.strip()}")

    def _root_group(self) -> Path:
        if self._group is None:
            self._group = _mounted(self._site.host) or self._mount()
        return self._group

    def _mount(self) -> Path:
        host = self._site.host
        argv = ["mount", "-t", "cgroup", "-o", "blkio", "mydyno", str(self._private)]
        for command in (["mkdir", str(self._private)], argv):
            done = host.run(command)
            if done.returncode != 0:
                raise StorageError(
                    f"this machine cannot limit its disks: `{' '.join(command)}`: {done.stderr.strip()}",
                    "its cgroups (version 2) use the io controller, or the kernel has no blkio limits; leave "
                    "iops and bandwidth out, or use `host: uml` or `host: vm`, which can limit any disk",
                )
        return self._private


def _values(limits: DiskLimits) -> dict[LimitKind, int]:
    wanted: dict[LimitKind, int | None] = {
        "read_iops": limits.iops,
        "write_iops": limits.iops,
        "read_bps": limits.bytes_per_second,
        "write_bps": limits.bytes_per_second,
    }
    return {kind: value for kind, value in wanted.items() if value is not None}


def _mounted(host: Host) -> Path | None:
    """Where the root group of blkio is mounted already: its root within the hierarchy must be `/`."""
    for mount in mounts(host.read_text(OWN)):
        if mount.kind == "cgroup" and "blkio" in mount.options and mount.root == "/":
            return Path(mount.mount_point)
    return None
