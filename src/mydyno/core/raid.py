"""The levels of md arrays: one table for all who check, plan, build, predict or advise.

Sources: md(4) for the levels, mdadm(8) for names and the fewest disks; Patterson, Gibson and Katz, "A Case
for Redundant Arrays of Inexpensive Disks (RAID)", SIGMOD 1988, for what a small write costs; Linux,
drivers/md/Makefile, for the modules.
"""

from dataclasses import dataclass
from typing import Literal

Raid = Literal["none", "linear", 0, 1, 4, 5, 6, 10]
"""As an experiment writes it; `none`: no array."""


@dataclass(frozen=True)
class RaidLevel:
    raid: Raid
    fewest_disks: int
    module: str
    """The kernel's, besides md_mod."""
    parity_disks: int = 0
    """Disks' worth of parity."""
    is_mirror: bool = False
    is_striped: bool = False
    """It has chunks."""
    has_layouts: bool = False
    small_write_ios: int = 1
    """Disk I/Os of a small random write."""

    @property
    def is_redundant(self) -> bool:
        return self.is_mirror or self.parity_disks > 0

    @property
    def md_name(self) -> str:
        """`raid10`, `linear`: as /proc/mdstat and mdadm call it."""
        return f"raid{self.raid}" if isinstance(self.raid, int) else self.raid

    @property
    def title(self) -> str:
        """`RAID 10`, `linear`, as people call it."""
        return f"RAID {self.raid}" if isinstance(self.raid, int) else self.raid


_TABLE = (
    RaidLevel("linear", 1, "linear"),
    RaidLevel(0, 1, "raid0", is_striped=True),
    RaidLevel(1, 2, "raid1", is_mirror=True, small_write_ios=2),
    RaidLevel(4, 3, "raid456", parity_disks=1, is_striped=True, small_write_ios=4),
    RaidLevel(5, 3, "raid456", parity_disks=1, is_striped=True, has_layouts=True, small_write_ios=4),
    RaidLevel(6, 4, "raid456", parity_disks=2, is_striped=True, has_layouts=True, small_write_ios=6),
    RaidLevel(10, 2, "raid10", is_mirror=True, is_striped=True, has_layouts=True, small_write_ios=2),
)
RAID_LEVELS: dict[Raid, RaidLevel] = {level.raid: level for level in _TABLE}
BY_MD_NAME = {level.md_name: level for level in _TABLE}

STRIPED: tuple[Raid, ...] = tuple(level.raid for level in _TABLE if level.is_striped)
REDUNDANT: tuple[Raid, ...] = tuple(level.raid for level in _TABLE if level.is_redundant)
WITH_LAYOUTS: tuple[Raid, ...] = tuple(level.raid for level in _TABLE if level.has_layouts)
PARITY: tuple[Raid, ...] = tuple(level.raid for level in _TABLE if level.parity_disks)
MODULES: tuple[str, ...] = ("md_mod", *dict.fromkeys(level.module for level in _TABLE))

ALLOWED = f"{', '.join(str(level.raid) for level in _TABLE[:-1])} or {_TABLE[-1].raid}"
"""For messages and documentation."""


def level_title(raid: Raid) -> str:
    """`RAID 10`, `linear`; `none` without an array."""
    return RAID_LEVELS[raid].title if raid in RAID_LEVELS else str(raid)


def parity_disks(raid: Raid) -> int:
    """Disks' worth of parity; 0 for every level without."""
    return RAID_LEVELS[raid].parity_disks if raid in RAID_LEVELS else 0
