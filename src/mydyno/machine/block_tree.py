"""What block devices are built on, by the kernel's folders: pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

DISKS, SLAVES, PARTITIONS = "/sys/block/*", "/sys/block/*/slaves/*", "/sys/block/*/*/partition"
"""Patterns of the paths that a tree is made of."""


@dataclass(frozen=True)
class BlockTree:
    """Block devices by their kernel names."""

    names: frozenset[str]
    """Whole ones: disks, arrays, mappings."""
    slaves: Mapping[str, tuple[str, ...]]
    """What an array or a mapping is built on."""
    disk_of: Mapping[str, str]
    """Partition -> its disk."""

    @classmethod
    def of_paths(cls, disks: Iterable[str], slaves: Iterable[str], partitions: Iterable[str]) -> BlockTree:
        """From the paths that the patterns of this module find."""
        built: dict[str, list[str]] = {}
        for path in slaves:
            _, _, _, name, _, below = path.split("/")
            built.setdefault(name, []).append(below)
        parted = (path.split("/") for path in partitions)
        return cls(
            frozenset(path.rpartition("/")[2] for path in disks),
            {name: tuple(below) for name, below in built.items()},
            {words[4]: words[3] for words in parted},
        )

    def chain(self, name: str) -> Iterator[str]:
        """The device and all that it is built on, each before what is under it; nothing for an unknown
        one."""
        if name in self.disk_of:
            yield from self.chain(self.disk_of[name])
        elif name in self.names:
            yield name
            for below in self.slaves.get(name, ()):
                yield from self.chain(below)

    def disks(self, name: str) -> tuple[str, ...]:
        """The whole disks at the bottom, each once."""
        return tuple(dict.fromkeys(each for each in self.chain(name) if not self.slaves.get(each)))
