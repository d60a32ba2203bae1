"""What a server would lose in a crash, judged from its settings in force.

Which value of which variable costs what is in the catalogue (`losses`), with its sources.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from mydyno.server.variables.catalogue import catalogue
from mydyno.server.variables.row import Loss, same_value


class Level(IntEnum):
    """Ordered: a higher level never loses what a lower one keeps."""

    UNSAFE = 0
    LOSES_ON_SERVER_CRASH = 1
    LOSES_ON_OS_CRASH = 2
    DURABLE = 3

    @property
    def label(self) -> str:
        return _LABELS[self]


_LABELS = {
    Level.UNSAFE: "unsafe",
    Level.LOSES_ON_SERVER_CRASH: "loses up to 1 s on server crash",
    Level.LOSES_ON_OS_CRASH: "loses up to 1 s on OS crash",
    Level.DURABLE: "durable",
}
_LEVELS = {
    "unsafe": Level.UNSAFE,
    "server crash": Level.LOSES_ON_SERVER_CRASH,
    "OS crash": Level.LOSES_ON_OS_CRASH,
}


@dataclass(frozen=True)
class Durability:
    """The level and, unless it is durable, each setting that lowers it, in words."""

    level: Level
    reasons: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return self.level.label


def durability(in_force: Mapping[str, str], unflushed: Sequence[str] = ()) -> Durability:
    """The durability of committed InnoDB transactions under the settings that a server shows.

    `unflushed` are the volumes on which fsync does not empty the disks' caches (jfs, `nobarrier`). A disk
    that lies about its cache is not seen. A setting that the release does not have does not lower the level.
    """
    losses = list(_losses(in_force))
    losses += [
        (Level.UNSAFE, f"fsync leaves what the volume {volume} was written in the disks' caches")
        for volume in unflushed
    ]
    level = min((level for level, _ in losses), default=Level.DURABLE)
    return Durability(level, tuple(reason for _, reason in losses))


def lowered_to(name: str, value: str) -> Level | None:
    """The least durability that this value of this variable can leave, whatever the others are; None: it
    does not lower it."""
    row = catalogue().get(name)
    losses = [] if row is None else [each for each in row.losses if not each.absent]
    return min((_LEVELS[each.level] for each in losses if _is_lossy(each, value)), default=None)


def _losses(in_force: Mapping[str, str]) -> Iterator[tuple[Level, str]]:
    for name, row in catalogue().variables.items():
        value = in_force.get(name)
        for loss in row.losses:
            if _applies(loss, value, in_force):
                says = loss.says.replace("{setting}", f"{name}={value}").replace("{value}", str(value))
                yield _LEVELS[loss.level], says + _late(loss, in_force)


def _applies(loss: Loss, value: str | None, in_force: Mapping[str, str]) -> bool:
    if value is None:
        return loss.absent
    if any(not same_value(in_force.get(name, ""), wanted) for name, wanted in loss.only_with.items()):
        return False
    if any(same_value(in_force.get(name, ""), other) for name, other in loss.not_with.items()):
        return False
    return _is_lossy(loss, value)


def _is_lossy(loss: Loss, value: str) -> bool:
    """Whether the value itself is one that loses, under the loss's other conditions."""
    if loss.value is not None:
        return same_value(value, loss.value)
    if loss.other_than:
        return not any(same_value(value, each) for each in loss.other_than)
    return loss.above is not None and value.isdigit() and int(value) > loss.above


def _late(loss: Loss, in_force: Mapping[str, str]) -> str:
    """What a longer time between syncs adds."""
    seconds = in_force.get(loss.every, "1") if loss.every else "1"
    return "" if seconds in ("0", "1") else f", here {seconds} s as {loss.every}={seconds}"
