"""The section of each of the first groups of a digest: all that is known of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from markupsafe import Markup

from mydyno.page.format import MISSING, capitalised, count, number, printable
from mydyno.page.table import Table
from mydyno.page.time_zones import Zone
from mydyno.queries.attributes import title
from mydyno.queries.records import Digest, Example, Figures, Group, IndexCandidate, Measure
from mydyno.queries.report import words
from mydyno.queries.report.plan_table import plan_table
from mydyno.queries.report.sql_lines import abbreviated, sql_markup
from mydyno.queries.report.times import Axis, Times, axis, times

LEAST, MOST = 10, 40
_ENOUGH = 0.95
"""Of the time: groups that are needed for it have a section."""
_NAMES = 6
_FIRST = ("query_time", "lock_time", "rows_examined", "rows_sent")
"""Attributes that come first in a table of them; the others follow by name."""
_TITLE = 110
"""Characters of the statement in a section's first line."""
_MANY_PER_ROW = 1_000
"""Rows examined for a row that is sent: an index needs a few."""
_MUCH_WAITING = 0.1
"""Of the query time."""


@dataclass(frozen=True)
class GroupSection:
    group: Group
    rank: int
    share: str
    short: str
    facts: tuple[tuple[str, str], ...]
    statement: Markup
    remarks: tuple[Remark, ...]
    never: tuple[str, ...]
    """Titles of flags that none of its calls had."""
    times: Times | None
    measures: Table
    people: tuple[tuple[str, tuple[str, ...]], ...]
    """Users, hosts, databases: each with its share of the calls."""
    example: Markup | None
    example_facts: str
    plan: Table | None
    plan_refused: str | None
    candidates: tuple[IndexCandidate, ...]
    no_candidate: tuple[str, ...]
    """Why no index is proposed; empty where one is, and where none was searched for."""


def detailed(digest: Digest) -> tuple[Group, ...]:
    """The groups that have a section: those that take nearly all the time, and those with an
    EXPLAIN, but not too many."""
    so_far, wanted = 0, 0
    for place, group in enumerate(digest.groups[:MOST], 1):
        if so_far < _ENOUGH * digest.total.query_time_us or group.plan:
            wanted = place
        so_far += group.query_time_us
    return digest.groups[: max(LEAST, wanted)]


def group_sections(digest: Digest, groups: Sequence[Group], zone: Zone) -> tuple[GroupSection, ...]:
    on = axis([each.query_time for each in groups if each.query_time])
    return tuple(_section(digest, group, rank, on, zone) for rank, group in enumerate(groups, 1))


def _section(digest: Digest, group: Group, rank: int, on: Axis, zone: Zone) -> GroupSection:
    example, plan = group.example, group.plan
    return GroupSection(
        group=group,
        rank=rank,
        share=words.share_of_time(group, digest.total),
        short=abbreviated(group.fingerprint, _TITLE),
        facts=tuple(_facts(group, digest.total, zone)),
        statement=sql_markup(group.fingerprint, is_cut=group.is_cut),
        remarks=remarks(group),
        never=tuple(words.called(name) for name, flag in group.flags.items() if flag.told and not flag.yes),
        times=times(group.query_time, on) if group.count > 1 else None,
        measures=_measures(group, digest.total),
        people=tuple(_people(group)),
        example=sql_markup(example.text, is_cut=example.is_cut) if example else None,
        example_facts=_example(example, zone) if example else "",
        plan=plan_table(plan) if plan and plan.rows else None,
        plan_refused=printable(plan.refused) if plan and plan.refused else None,
        candidates=tuple(each for each in digest.candidates if group.id in each.groups),
        no_candidate=next((each.why for each in digest.without_candidate if each.group == group.id), ()),
    )


def _facts(group: Group, total: Figures, zone: Zone) -> Iterator[tuple[str, str]]:
    time = group.query_time
    if time:
        yield "Total", f"{words.time_text(time.sum)}, {words.share(time.sum, total.query_time_us)}"
    yield "Calls", f"{count(group.count)}, {words.share(group.count, total.count)}"
    if time and group.count > 1:
        yield "Mean", words.time_text(time.mean)
        if time.p95 is not None:
            yield "95 in 100 below", words.time_text(time.p95)
        yield "Longest", words.time_text(time.max)
    examined = group.figure("rows_examined", "mean")
    if examined is not None:
        yield "Rows examined a call", number(examined)
    per_sent = words.examined_per_sent(group)
    if per_sent is not None:
        yield "Examined per row sent", number(per_sent)
    if group.first_us is not None and group.last_us is not None:
        yield "Seen", zone.span(group.first_us, group.last_us)
    if group.history is not None:
        yield "History", capitalised(words.history_words(group.history, zone))


def _measures(group: Group, total: Figures) -> Table:
    """A row for each attribute that was ever more than 0, and for the first ones."""
    names = [name for name in _FIRST if name in group.measures]
    names += sorted(name for name, each in group.measures.items() if name not in _FIRST and each.sum)
    rows = (_measure(name, group.measures[name], total.measures.get(name)) for name in names)
    if group.count == 1:
        return Table(("measure", "of this call", "of all"), tuple(row[:3] for row in rows), frozenset({0}))
    heads = ("measure", "sum", "of all", "least", "mean", "p50", "p95", "p99", "most")
    return Table(heads, tuple(rows), frozenset({0}))


def _measure(name: str, one: Measure, all_of_it: Measure | None) -> tuple[str, ...]:
    of_a_call = (one.min, one.mean, one.p50, one.p95, one.p99, one.max)
    return (
        words.called(name),
        words.amount(one.sum, one.unit),
        words.share(one.sum, all_of_it.sum) if all_of_it else MISSING,
        *(words.amount(value, one.unit) for value in of_a_call),
    )


def _people(group: Group) -> Iterator[tuple[str, tuple[str, ...]]]:
    for heading, names in (
        ("Users", group.users),
        ("Hosts", group.hosts),
        ("Databases", group.databases),
        ("Errors", words.error_names(group.errors)),
    ):
        if names:
            shares = (
                (printable(name) or "no name", words.share(calls, group.count)) for name, calls in names
            )
            more = [f"and {count(len(names) - _NAMES)} more"] if len(names) > _NAMES else []
            yield heading, (*map(" ".join, islice(shares, _NAMES)), *more)


def _example(example: Example, zone: Zone) -> str:
    """`The slowest: 812 ms at 2026-11-22 03:30:00 UTC, by web@10.0.0.11 in shop; slow.log, line 31,802`."""
    parts = []
    if example.query_time_us is not None:
        parts.append(f"took {words.time_text(example.query_time_us)}")
    if example.time_us is not None:
        parts.append(f"at {zone.moment(example.time_us)}")
    if example.user or example.host:
        parts.append(f"by {printable(example.user or '')}@{printable(example.host or '')}")
    if example.database:
        parts.append(f"in {printable(example.database)}")
    if example.is_cut:
        parts.append(f"{count(example.bytes)} bytes long")
    return capitalised("; ".join(part for part in (" ".join(parts), words.where(example)) if part))


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
        yield Remark(f"{words.share(lock, time)} of its time is waiting for locks")
    per_row = words.examined_per_sent(group)
    if per_row is not None and per_row >= _MANY_PER_ROW:
        yield Remark(f"{count(per_row)} rows are examined for each row sent")
    yield from _flags(group)


def _flags(group: Group) -> list[Remark]:
    flags = [(name, flag) for name, flag in group.flags.items() if flag.yes and flag.told]
    flags.sort(key=lambda each: (-each[1].yes / each[1].told, each[0]))
    return [
        Remark(
            f"{words.called(name)} in {_of_calls(flag.yes, flag.told)}: {title(name).means}",
            title(name).is_alarming,
        )
        for name, flag in flags
    ]


def _of_calls(yes: int, counted: int) -> str:
    return "each of its calls" if yes == counted else f"{words.share(yes, counted)} of its calls"
