"""Whether a mount option is in force, from what the kernel shows of a mount: pure.

A file system shows what differs from its defaults, each in its own manner, so an option that was configured
and is not shown may be a default or may have been dropped without a word. The tables below are
what file systems of Linux 6.1 were seen to leave out (tests/lab/stack/storage/data); ext3 and ext4 show
everything in /proc/fs/ext4/DEVICE/options.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mydyno.core.units import bytes_or_none


@dataclass(frozen=True)
class Mounted:
    """A mount as findmnt(8) shows it."""

    source: str
    filesystem: str
    general: tuple[str, ...]
    """Options of every file system (mount(8), FILESYSTEM-INDEPENDENT)."""
    own: tuple[str, ...]
    """Options of this file system."""

    @property
    def options(self) -> str:
        """Both as mount(8) shows them."""
        return ",".join(dict.fromkeys((*self.general, *self.own)))


def parse_findmnt(text: str) -> Mounted | None:
    """`findmnt --json --output SOURCE,FSTYPE,VFS-OPTIONS,FS-OPTIONS`; None when nothing is mounted there.

    Of several on one point the last is on top.
    """
    if not text.strip():
        return None
    entry = json.loads(text)["filesystems"][-1]
    return Mounted(
        entry["source"],
        entry["fstype"],
        tuple((entry["vfs-options"] or "").split(",")),
        tuple((entry["fs-options"] or "").split(",")),
    )


# What is in force when none of these is shown.
_GENERAL_DEFAULTS: Mapping[str, tuple[str, ...]] = {
    "strictatime": ("noatime", "relatime"),
    "norelatime": ("relatime",),
    "atime": ("noatime",),
    "diratime": ("nodiratime",),
    "exec": ("noexec",),
    "dev": ("nodev",),
    "suid": ("nosuid",),
    "async": ("sync",),
    "nolazytime": ("lazytime",),
    "nostrictatime": (),
    "rw": ("ro",),
}

_OWN_DEFAULTS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "xfs": {
        "nodiscard": ("discard",),
        "nolargeio": ("largeio",),
        "noikeep": ("ikeep",),
        "nogrpid": ("grpid",),
    },
    "jfs": {"integrity": ("nointegrity",), "nodiscard": ("discard",), "errors=remount-ro": ("errors",)},
    "reiserfs": {"barrier=flush": ("barrier",), "data=ordered": ("data",), "tails=on": ("notail", "tails")},
    "btrfs": {
        "barrier": ("nobarrier",),
        "datacow": ("nodatacow",),
        "datasum": ("nodatasum",),
        "acl": ("noacl",),
        "treelog": ("notreelog",),
        "noautodefrag": ("autodefrag",),
        "nodiscard": ("discard",),
        "noflushoncommit": ("flushoncommit",),
        "commit=30": ("commit",),
    },
    "f2fs": {"barrier": ("nobarrier",)},
    "ext2": {"nogrpid": ("grpid",), "nominixdf": ("minixdf",)},
}

# The same thing under two names, as the ext family shows it (ext4(5)).
_OTHER_NAMES = {
    "barrier=0": "nobarrier",
    "barrier=1": "barrier",
    "noload": "norecovery",
    "auto_da_alloc=0": "noauto_da_alloc",
    "auto_da_alloc=1": "auto_da_alloc",
}


_NAMED = re.compile(
    r"(?:unknown parameter|(?:unrecognized|unknown) mount option|bad value for) [\"'`]?([^\"'`\s=]+)",
    re.IGNORECASE,
)
"""How mount(8) and kernels name an option that they refuse (heard in tests/live/test_storage.py)."""


def named_options(words: str, configured: Sequence[str]) -> tuple[str, ...]:
    """Those of the configured options that a refusal names; `words` are mount(8)'s and the kernel's."""
    names = set(_NAMED.findall(words))
    return tuple(option for option in configured if option.partition("=")[0] in names)


def not_in_force(configured: Sequence[str], mounted: Mounted, elsewhere: Sequence[str] = ()) -> list[str]:
    """The options among `configured` that the kernel took and that are not in force.

    `elsewhere`: further options that the file system shows in other files.
    """
    return [option for option in configured if not _in_force(option, mounted, elsewhere)]


def flushes(mounted: Mounted) -> bool:
    """Whether fsync(2) empties the disk's own cache here.

    jfs never does and has no option to; the others do by default (docs/reference/file-systems.md).
    """
    without = ("nobarrier", "barrier=none", "barrier=0", "fsync_mode=nobarrier")
    return mounted.filesystem != "jfs" and not any(option in without for option in mounted.own)


def _in_force(option: str, mounted: Mounted, elsewhere: Sequence[str]) -> bool:
    shown = (*mounted.general, *mounted.own, *elsewhere)
    if any(_same(name, each) for name in (option, _OTHER_NAMES.get(option, option)) for each in shown):
        return True
    defaults = {**_GENERAL_DEFAULTS, **_OWN_DEFAULTS.get(mounted.filesystem, {})}
    opposites = defaults.get(option)
    return opposites is not None and not any(
        each == opposite or each.startswith(f"{opposite}=") for opposite in opposites for each in shown
    )


def _same(configured: str, shown: str) -> bool:
    """`discard` is shown as `discard=64` by jfs, `compress=zstd` as `compress=zstd:3`, `256k` as `262144`."""
    if configured == shown or ("=" not in configured and shown.startswith(f"{configured}=")):
        return True
    name, _, value = configured.partition("=")
    shown_name, _, shown_value = shown.partition("=")
    if name != shown_name or not value or not shown_value:
        return False
    return (
        shown_value.startswith(f"{value}:") or bytes_or_none(value) == bytes_or_none(shown_value) is not None
    )


def parse_profiles(text: str) -> dict[str, str]:
    """`btrfs filesystem df`: `Data, RAID10: total=...` -> `data profile` is `raid10`."""
    rows = re.findall(r"^(Data|Metadata), (\w+):", text, re.MULTILINE)
    return {f"{kind.lower()} profile": profile.lower() for kind, profile in rows}


def profile_differences(wanted: Mapping[str, str | None], shown: Mapping[str, str]) -> list[str]:
    """Profiles that are not as configured, a clause each; None: not configured."""
    return [
        f"its {kind} is {shown.get(kind, 'not shown')}, not {profile}"
        for kind, profile in wanted.items()
        if profile is not None and shown.get(kind) != profile
    ]
