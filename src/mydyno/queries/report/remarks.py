"""What stands out in a group of statements, in sentences: what a DBA would look at first."""

from __future__ import annotations

from dataclasses import dataclass

from mydyno.page.format import count
from mydyno.queries.attributes import title
from mydyno.queries.records import Group
from mydyno.queries.report.words import called, examined_per_sent, share

_MANY_PER_ROW = 1_000
"""Rows looked at for a row that is sent: an index finds it by some."""
_MUCH_WAITING = 0.1
"""Of the query time."""


@dataclass(frozen=True)
class Remark:
    text: str
    is_alarming: bool = True


def remarks(group: Group) -> tuple[Remark, ...]:
    """The alarming ones first; flags that no statement had are left out."""
    found = [*_locks(group), *_rows(group), *_flags(group)]
    return tuple(sorted(found, key=lambda each: not each.is_alarming))


def _locks(group: Group) -> list[Remark]:
    lock, time = group.measures.get("lock_time"), group.query_time_us
    if lock is None or time <= 0 or lock.sum < time * _MUCH_WAITING:
        return []
    return [Remark(f"{share(lock.sum, time)} of its time is waiting for locks")]


def _rows(group: Group) -> list[Remark]:
    per_row = examined_per_sent(group)
    if per_row is None or per_row < _MANY_PER_ROW:
        return []
    return [Remark(f"{count(per_row)} rows are examined for each row sent")]


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
