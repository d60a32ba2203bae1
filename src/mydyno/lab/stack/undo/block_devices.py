"""Undoing what was done to block devices: loop devices, arrays, limits, queues."""

import json
import os
import re
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from mydyno.core.errors import UndoError
from mydyno.lab.stack.undo.base import PRIVATE_NAME, WayBack, comes_true, in_private_folder, run_tool
from mydyno.machine.environment import chosen

# How the kernel marks the file of a loop device that was deleted while it was attached.
_DELETED = " (deleted)"

# A device that nobody holds detaches at once; a file system that is just being unmounted still writes.
_DETACH_SECONDS = 30.0

LimitKind = Literal["read_iops", "write_iops", "read_bps", "write_bps"]

BLKIO_FILES: dict[LimitKind, str] = {
    "read_iops": "blkio.throttle.read_iops_device",
    "write_iops": "blkio.throttle.write_iops_device",
    "read_bps": "blkio.throttle.read_bps_device",
    "write_bps": "blkio.throttle.write_bps_device",
}
"""The four limits of a device, and where the kernel keeps each (cgroup v1, blkio-controller.rst)."""

# A device's name may hold an exclamation mark where its node has a slash (cciss!c0d0).
_QUEUE_FILE = re.compile(
    r"/sys/block/[A-Za-z0-9][A-Za-z0-9!._-]*/queue/(scheduler|read_ahead_kb|nr_requests)"
)
_VALUE = re.compile(r"[a-z0-9_-]+")


class DetachLoops(WayBack):
    """Detach every loop device whose backing file lies in this private folder."""

    kind: Literal["detach-loops"] = "detach-loops"
    folder: Path

    def carry_out(self) -> None:
        """Raises UndoError when the folder is not ours, or a device stays in use."""
        if PRIVATE_NAME.fullmatch(self.folder.name) is None or not in_private_folder(self.folder):
            raise UndoError(f"refused to detach loop devices of {self.folder}: it is not a folder of mydyno")
        for device in self._ours():
            # A device that is open is only marked here, and goes with its last user; one that was
            # marked before may go at this very moment.
            try:
                run_tool(["losetup", "--detach", str(device)])
            except UndoError:
                if device in self._ours():
                    raise
            if not comes_true(lambda device=device: device not in self._ours(), _DETACH_SECONDS):  # type: ignore[misc]
                raise UndoError(
                    f"{device} stays attached to a file in {self.folder}: something still uses it",
                    "the kernel detaches it when the last mount or process that uses it ends",
                )

    def sentence(self) -> str:
        return f"made sure that no loop device is attached to a file in {self.folder}"

    def _ours(self) -> list[Path]:
        return [device for device, file in attached_loops().items() if file.is_relative_to(self.folder)]


def attached_loops() -> dict[Path, Path]:
    """Every attached loop device of this machine and its backing file. Raises UndoError."""
    listed = run_tool(["losetup", "--json", "--list", "--output", "NAME,BACK-FILE"])
    return parse_loops(listed)


def parse_loops(listed: str) -> dict[Path, Path]:
    """`losetup --json` -> device to backing file, a deleted file under the name it had.

    It writes nothing at all when no device is attached.
    """
    if not listed.strip():
        return {}
    return {
        Path(each["name"]): Path(each["back-file"].removesuffix(_DELETED))
        for each in json.loads(listed)["loopdevices"]
        if each["back-file"]
    }


class StopArray(WayBack):
    """Stop this array, all of whose members are devices that the record names.

    `members` are loop devices over files of ours, or real devices by the names that the experiment gave.
    """

    kind: Literal["stop-array"] = "stop-array"
    needs_receipt: ClassVar[bool] = True
    array: Path
    members: tuple[Path, ...]

    def carry_out(self) -> None:
        """Raises UndoError when the array has a member that is not ours, or will not stop."""
        folder = Path("/sys/block") / self.array.resolve().name
        if not (folder / "md").is_dir() or _text(folder / "md" / "array_state") in (None, "clear"):
            return
        named = {member.resolve().name for member in self.members}
        slaves = {slave.name for slave in (folder / "slaves").iterdir()}
        if foreign := sorted(slaves - named):
            raise UndoError(
                f"refused to stop {self.array}: its members {', '.join(foreign)} were not added by mydyno"
            )
        loops = attached_loops() if any(name.startswith("loop") for name in slaves) else {}
        for slave in sorted(slaves):
            file = loops.get(Path("/dev") / slave)
            if slave.startswith("loop") and (file is None or not in_private_folder(file)):
                raise UndoError(f"refused to stop {self.array}: the file of {slave}, {file}, is not mydyno's")
        run_tool(["mdadm", "--stop", str(self.array)])

    def sentence(self) -> str:
        return f"made sure that the array {self.array} is stopped"


def _text(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None


class LiftThrottle(WayBack):
    """Take off the limits that mydyno has set on a device in the root group of cgroup v1's blkio.

    They outlive a loop device. `limits` are those that were set: a limit with another value was set by
    another program, and stays.
    """

    kind: Literal["lift-throttle"] = "lift-throttle"
    needs_receipt: ClassVar[bool] = True
    device: str = Field(pattern=r"^\d+:\d+$")
    group: Path
    limits: dict[LimitKind, int]

    def carry_out(self) -> None:
        """Raises UndoError when `group` is not a root group, or the kernel does not take the change."""
        if not self.group.is_dir():
            return
        # The root group of a hierarchy is the only folder of it that is a mount point.
        if not os.path.ismount(self.group):
            raise UndoError(f"refused to lift limits in {self.group}: it is not a root group of blkio")
        for kind, value in self.limits.items():
            file = self.group / BLKIO_FILES[kind]
            try:
                if limits_in(file.read_text()).get(self.device) == value:
                    file.write_text(f"{self.device} 0")
            except OSError as error:
                raise UndoError(
                    f"the limit of device {self.device} in {file} cannot be lifted: {error.strerror}",
                    "was it set by root? clean up as root",
                ) from error

    def sentence(self) -> str:
        return f"made sure that device {self.device} has no limit set by mydyno"

    def sysfs(self) -> tuple[tuple[Path, str], ...]:
        return tuple((self.group / BLKIO_FILES[kind], f"{self.device} 0") for kind in self.limits)


def limits_in(text: str) -> dict[str, int]:
    """The lines `MAJOR:MINOR LIMIT` of a limit's file."""
    return {match[1]: int(match[2]) for match in re.finditer(r"^(\d+:\d+) (\d+)$", text, re.MULTILINE)}


class RestoreSysfs(WayBack):
    """Write `value` into a file of /sys/block/DEVICE/queue: a scheduler, a readahead, a queue's length."""

    kind: Literal["restore-sysfs"] = "restore-sysfs"
    needs_receipt: ClassVar[bool] = True
    path: Path
    value: str

    def carry_out(self) -> None:
        """Raises UndoError for any other file, and when the kernel does not take the value.

        Nothing happens when the device has gone, or its queue has the value.
        """
        if _QUEUE_FILE.fullmatch(str(self.path)) is None or _VALUE.fullmatch(self.value) is None:
            raise UndoError(
                f"refused to write {self.value!a} into {self.path}: no setting of a block device's queue"
            )
        try:
            text = self.path.read_text()
            if (chosen(text) or text.strip()) != self.value:
                self.path.write_text(self.value)
        except FileNotFoundError:
            return
        except OSError as error:
            raise UndoError(
                f"{self.path} does not take back {self.value!r}: {error.strerror}",
                "was it changed by root? clean up as root",
            ) from error

    def sentence(self) -> str:
        return f"made sure that {self.path} says {self.value}"

    def sysfs(self) -> tuple[tuple[Path, str], ...]:
        return ((self.path, self.value),)
