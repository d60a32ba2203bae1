"""The stripe geometry that mkfs passes to a file system, so that it aligns its structures to the stripes.

xfs: `su` bytes on one disk and `sw` disks of data (mkfs.xfs(8), -d). ext2, ext3, ext4: `stride` and
`stripe_width` in file system blocks (mke2fs(8), -E). btrfs, jfs, reiserfs and f2fs take none.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from mydyno.lab.spec.arrays import Stripe

EXT = ("ext2", "ext3", "ext4")
EXT_BLOCK = 4096
"""Bytes of an ext block. mke2fs takes 1K below 512 MiB (mke2fs.conf(5), `small`); mydyno asks for 4K."""

_XFS_OWN = re.compile(r"(?:^|,)(?:su|sw|sunit|swidth|noalign)\b")
_EXT_OWN = re.compile(r"(?:^|,)(?:stride|stripe[-_]width)=")


@dataclass(frozen=True)
class Alignment:
    """What mkfs gets: `options` for its command line, `shown` for people and results."""

    options: tuple[str, ...]
    shown: str


def mkfs_words(options: Sequence[str]) -> tuple[str, ...]:
    """The words of the command line: `-i size=1024` may be written as one text or as two.

    Raises ValueError for a quote that is not closed.
    """
    return tuple(word for option in options for word in shlex.split(option))


def ext_block(words: Sequence[str]) -> int:
    """Bytes of a block: the user's own `-b`, else what mydyno asks for."""
    value = option_value(words, "-b")
    return int(value) if value is not None and value.isdecimal() else EXT_BLOCK


def alignment(filesystem: str, stripe: Stripe | None, words: Sequence[str]) -> Alignment | None:
    """How to align `filesystem` with `stripe`; None where there are no stripes, or the user does it.

    `words` are the user's own mkfs options: what they say of stripes is kept.
    """
    if stripe is None:
        return None
    if filesystem == "xfs" and not _XFS_OWN.search(option_value(words, "-d") or ""):
        shown = f"su={stripe.chunk},sw={stripe.data_disks}"
        return Alignment(("-d", shown), shown)
    if filesystem in EXT and not _EXT_OWN.search(option_value(words, "-E") or ""):
        block = ext_block(words)
        if stripe.chunk % block:
            return None
        shown = f"stride={stripe.chunk // block},stripe_width={stripe.width // block}"
        return Alignment(("-E", shown), shown)
    return None


def option_value(words: Sequence[str], flag: str) -> str | None:
    """The value of a short option, `-d su=4k` or `-dsu=4k`; several are joined by commas; None: not there."""
    values = []
    for word, following in zip(words, (*words[1:], ""), strict=False):
        if word == flag:
            values.append(following)
        elif word.startswith(flag):
            values.append(word.removeprefix(flag))
    return ",".join(values) if values else None
