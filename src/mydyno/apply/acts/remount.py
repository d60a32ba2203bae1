"""Options of a mount that is in use: mount -o remount, read back from /proc/self/mountinfo."""

import re
from collections.abc import Iterable
from typing import Literal

from mydyno.apply.act import Act, Look, MountOption, PathFromRoot
from mydyno.apply.apply_context import ApplyContext
from mydyno.apply.change import with_and_without
from mydyno.core.errors import ApplyError
from mydyno.machine.environment import Mount, mounts, own_mounts
from mydyno.machine.local import LocalHost

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

    A server whose unit has a separate view of the file systems (PrivateTmp=, ProtectHome=...) keeps the
    flags of its mount until it is restarted.
    """

    kind: Literal["remount"] = "remount"
    mount_point: PathFromRoot
    before: tuple[MountOption, ...]
    after: tuple[MountOption, ...]

    def do(self, context: ApplyContext) -> None:
        """Raises ApplyError when mount(8) or the kernel refuses."""
        now = mounted(self.mount_point)
        options = ["remount", *self._options(now.options)]
        # With its source named too, the options of /etc/fstab are not mixed in.
        done = LocalHost().run(["mount", "-o", ",".join(options), now.source, self.mount_point])
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

    def sentence(self) -> str:
        added = [option for option in self.after if option not in self.before]
        return f"remount {self.mount_point} {with_and_without(added, self._gone)}"

    @property
    def _gone(self) -> list[str]:
        return [option for option in self.before if option not in self.after]

    def _options(self, now: tuple[str, ...]) -> list[str]:
        flags = [option for option in self.after if option in _OF_THE_MOUNT]
        new = [option for option in self.after if option not in now and option not in flags]
        return [*flags, *new, *(_OPPOSITES[option] for option in self._gone if option in _OPPOSITES)]


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
    if set(after) == set(before):
        return None
    return Remount(mount_point=mount_point, before=before, after=tuple(after))


def mounted(mount_point: str, mountinfo: str | None = None) -> Mount:
    """The uppermost mount there, of `mountinfo` (its text) or of this process. Raises ApplyError."""
    listed = own_mounts() if mountinfo is None else tuple(mounts(mountinfo))
    here = [mount for mount in listed if mount.mount_point == mount_point]
    if not here:
        raise ApplyError(f"nothing is mounted at {mount_point}")
    return here[-1]


def _with_access_time(options: Iterable[str]) -> tuple[str, ...]:
    listed = tuple(options)
    return listed if _ACCESS_TIMES & set(listed) else (*listed, "strictatime")


def _holds(wanted: tuple[str, ...], other: tuple[str, ...], now: tuple[str, ...]) -> bool:
    """Whether the options in which `wanted` differs from `other` are in force."""
    shown = set(_with_access_time(now))
    return set(wanted) - set(other) <= shown and not (set(other) - set(wanted)) & shown
