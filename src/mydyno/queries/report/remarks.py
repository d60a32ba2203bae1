"""Remarks on a group of statements, in sentences: what a DBA would look at first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mydyno.page.format import count
from mydyno.queries.attributes import title
from mydyno.queries.records import Group
from mydyno.queries.report.words import called, examined_per_sent, share

_MANY_PER_ROW = 1_000
"""Rows examined for a row that is sent: an index needs a few."""
_MUCH_WAITING = 0.1
"""Of the query time."""


@dataclass(frozen=True)
class Remark:
    text: str
    is_alarming: bool = True


def remarks(group: Group) -> tuple[Remark, ...]:
    """The alarming ones first; flags that no statement had are left out."""
    return tuple(sorted(_remarks(group), key=lambda each: not each.is_alarming))


def _remarks(group: Group) -> Iterator[Remark]:
    lock, time = group.figure("lock_time"), group.query_time_us
    if lock is not None and time > 0 and lock >= time * _MUCH_WAITING:
        yield Remark(f"{share(lock, time)} of its time is waiting for locks")
    per_row = examined_per_sent(group)
    if per_row is not None and per_row >= _MANY_PER_ROW:
        yield Remark(f"{count(per_row)} rows are examined for each row sent")
    yield from _flags(group)


def _flags(group: Group) -> list[Remark]:
    flags = [(name, flag) for name, flag in group.flags.items() if flag.yes and flag.told]
    flags.sort(key=lambda each: (-each[1].yes / each[1].told, each[0]))
    return [
        Remark(
            f"{called(name)} in {_of_calls(flag.yes, flag.told)}: {title(name).means}",
            title(name).is_alarming,
        )
        for name, flag in flags
    ]


def _of_calls(yes: int, counted: int) -> str:
    return "each of its calls" if yes == counted else f"{share(yes, counted)} of its calls"
