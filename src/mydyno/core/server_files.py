"""The kinds of a server's files that may lie on separate volumes, and those volumes in one order."""

from collections.abc import Collection
from typing import Literal, get_args

VolumeName = Literal["data", "log", "binlog", "undo", "tmp"]
VOLUMES: tuple[VolumeName, ...] = get_args(VolumeName)
"""`data` first: it is always there, and the others take over from it what they do not say."""

FileKind = Literal["redo log", "binary log", "undo tablespaces", "temporary files"]
HOMES: dict[FileKind, tuple[VolumeName, ...]] = {
    "redo log": ("log", "data"),
    "binary log": ("binlog", "log", "data"),
    "undo tablespaces": ("undo", "data"),
    "temporary files": ("tmp", "data"),
}
"""Kind -> where its files lie: on the first of these that a setup has."""

FORGOTTEN: frozenset[VolumeName] = frozenset({"tmp"})
"""Volumes of which a server needs nothing again after a crash."""


def home_of(kind: FileKind, volumes: Collection[str]) -> VolumeName:
    """The volume on which the files of this kind lie in a setup with these `volumes`, `data` among them."""
    return next(name for name in HOMES[kind] if name in volumes)


def kinds_on(volume: str) -> tuple[FileKind, ...]:
    """What may lie on a volume of this name; for `data`, everything."""
    return tuple(kind for kind, homes in HOMES.items() if volume in homes)
