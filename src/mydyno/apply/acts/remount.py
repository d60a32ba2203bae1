"""Options of a mount that is in use: mount -o remount, read back from /proc/self/mountinfo."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, Self

from mydyno.apply.act import Act, Look
from mydyno.apply.acts.names import MountOption, PathFromRoot
from mydyno.apply.apply_context import ApplyContext
from mydyno.core.errors import ApplyError
from mydyno.machine.local import LocalHost
from mydyno.machine.mountinfo import Mount, mounts, own_mounts

_ACCESS_TIMES = frozenset({"noatime", "relatime", "strictatime"})
"""One of them is in force at each mount; mountinfo shows nothing for strictatime (mount(8))."""

_OF_THE_MOUNT = ("ro", "rw", "nosuid", "nodev", "noexec", "nodiratime", *sorted(_ACCESS_TIMES))
"""Flags of the mount itself, which a remount sets again; options of the file system stay unless named."""

_OPPOSITES = {
    "ro": "rw",
    "sync": "async",
    "dirsync": "async",
    "nobarrier": "barrier",
    "barrier=0": "barrier=1",
    "nosuid": "suid",
    "nodev": "dev",
    "noexec": "exec",
    "nodiratime": "diratime",
    "discard": "nodiscard",
    "nodelalloc": "delalloc",
}
_UNSHOWN = frozenset({*_OPPOSITES.values(), "defaults"} - {"rw"})
"""Defaults, for which mountinfo shows nothing."""

_OF_FSTAB = re.compile(r"x-.*|_netdev|(no)?(auto|user|users|owner|group|fail)|comment=.*|defaults")


class Remount(Act):
    """Mount with the options of `after`.

    A server whose unit has a view of the file systems of its own (PrivateTmp=, ProtectHome=...) keeps the
    flags of the mount that it has until it is restarted.
    """

    kind: Literal["remount"] = "remount"
    mount_point: PathFromRoot
    before: tuple[MountOption, ...]
    after: tuple[MountOption, ...]

    def do(self, context: ApplyContext) -> None:
        """Raises ApplyError when mount(8) or the kernel refuses."""
        found = mounted(self.mount_point)
        options = ["remount", *self._options(found.options)]
        # With its source named too, the options of /etc/fstab are not mixed in.
        done = LocalHost().run(["mount", "-o", ",".join(options), found.source, self.mount_point])
        if done.returncode != 0:
            raise ApplyError(
                f"{self.mount_point} is not remounted with {','.join(self.after)}: {done.stderr.strip()}",
                "some options take effect only at the next mount; is this run by root (sudo)?",
            )

    def look(self, context: ApplyContext) -> Look:
        now = mounted(self.mount_point).options
        says = f"{self.mount_point} is mounted with {','.join(now)}"
        if _holds(self.after, self.before, now):
            return Look("after", says)
        return Look("before" if _holds(self.before, self.after, now) else "elsewhere", says)

    def reversed(self) -> Self:
        return self.model_copy(update={"before": self.after, "after": self.before})

    def sentence(self) -> str:
        added = [option for option in self.after if option not in self.before]
        gone = [option for option in self.before if option not in self.after]
        steps = [f"with {','.join(added)}"] if added else []
        steps += [f"without {','.join(gone)}"] if gone else []
        return f"remount {self.mount_point} {' and '.join(steps)}"

    def _options(self, now: tuple[str, ...]) -> list[str]:
        gone = [option for option in self.before if option not in self.after]
        flags = [option for option in self.after if option in _OF_THE_MOUNT]
        new = [option for option in self.after if option not in now and option not in flags]
        return [*flags, *new, *(_OPPOSITES[option] for option in gone if option in _OPPOSITES)]


def remounting(mount_point: str, add: Iterable[str], remove: Iterable[str]) -> Remount | None:
    """The act for these options; None when they are in force, or of /etc/fstab only. Raises ApplyError."""
    before = _with_access_time(mounted(mount_point).options)
    after = [option for option in before if option not in set(remove)]
    for option in add:
        if _OF_FSTAB.fullmatch(option) or option in after:
            continue
        if option in _ACCESS_TIMES:
            after = [each for each in after if each not in _ACCESS_TIMES]
        after = [each for each in after if _OPPOSITES.get(each) != option and _OPPOSITES.get(option) != each]
        after += [option] if option not in _UNSHOWN else []
    after = list(_with_access_time(after))
    return (
        None
        if set(after) == set(before)
        else Remount(mount_point=mount_point, before=before, after=tuple(after))
    )


def mounted(mount_point: str, mountinfo: str | None = None) -> Mount:
    """The uppermost mount there, of `mountinfo` (its text) or of this process. Raises ApplyError."""
    listed = own_mounts() if mountinfo is None else tuple(mounts(mountinfo))
    here = [mount for mount in listed if mount.point == mount_point]
    if not here:
        raise ApplyError(f"nothing is mounted at {mount_point}")
    return here[-1]


def _with_access_time(options: Iterable[str]) -> tuple[str, ...]:
    listed = tuple(options)
    return listed if _ACCESS_TIMES & set(listed) else (*listed, "strictatime")


def _holds(wanted: tuple[str, ...], other: tuple[str, ...], now: tuple[str, ...]) -> bool:
    """Whether what tells `wanted` from `other` is in force."""
    shown = set(_with_access_time(now))
    return set(wanted) - set(other) <= shown and not (set(other) - set(wanted)) & shown
