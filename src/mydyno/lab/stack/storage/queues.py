"""Changing files of a block device's queue so that they can be restored."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mydyno.core.errors import StorageError
from mydyno.lab.stack.site import Site
from mydyno.lab.stack.storage.tools import output_of, setting, write_setting
from mydyno.lab.stack.undo import RestoreSysfs
from mydyno.machine.protocol import Host


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
