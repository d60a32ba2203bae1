"""Two digests compared: what is new, gone, slower, faster, called more or less often. Pure.

A statement's load is the query time that it takes in a second of the window: calls per second times mean
time. From one digest to another it changes by

    r2 m2 - r1 m1 = (r2 - r1) (m1 + m2) / 2 + (m2 - m1) (r1 + r2) / 2

of which the first part is what more calls bring and the second what slower calls do: exact, and the same
with the two digests exchanged (but for the sign). `queries/change.py` judges whether times and calls
changed.
"""

from collections.abc import Iterator
from typing import Literal, TypeVar

from mydyno.core.errors import UsageError
from mydyno.core.record import Record
from mydyno.queries.change import Ratio, chance_slower, ratio_of_means, ratio_of_rates
from mydyno.queries.filed import Filed
from mydyno.queries.records import Digest, Group
from mydyno.queries.saved import json_parts, listed

FORMAT = 1

Times = Literal["new", "gone", "slower", "faster", "alike", "unsure"]
Calls = Literal["more", "fewer", "alike", "unsure"]


class Run(Record):
    """How one statement ran in one digest."""

    count: int
    query_time_us: int
    mean_us: float | None = None
    p95_us: int | None = None
    per_second: float | None = None
    """Calls in a second of the digest's window; None where the window has no length."""
    load: float | None = None
    """Query time in a second of it."""


class Change(Record):
    """One statement in both digests."""

    id: str
    fingerprint: str
    times: Times
    """`unsure`: too few calls, or neither a change of a tenth nor its absence is shown."""
    calls: Calls | None = None
    """None where it is new or gone, or a window has no length."""
    old: Run | None = None
    new: Run | None = None
    load: float | None = None
    """What the load changed by; all of it for a statement that is new or gone."""
    by_calls: float | None = None
    """The part of `load` that is due to more calls (negative: fewer)."""
    by_times: float | None = None
    """And to slower calls (negative: faster)."""
    mean_ratio: Ratio | None = None
    """Mean time, new over old."""
    rate_ratio: Ratio | None = None
    """Calls in a second, new over old."""
    chance_slower: float | None = None
    """That a new call takes longer than an old one; one half says that neither does."""


class Comparison(Record):
    """What changed from `old` to `new`: the largest changes of load first."""

    format: int = FORMAT
    old: Digest
    new: Digest
    changes: tuple[Change, ...]

    @property
    def load(self) -> float | None:
        """What the load of all statements changed by."""
        if self.old.load is None or self.new.load is None:
            return None
        return self.new.load - self.old.load


def compare(old: Digest, new: Digest, *, in_file: bool = False) -> Comparison:
    """Statements are matched by their ids. Raises UsageError for digests that are grouped differently.

    `in_file`: the changes wait in a temporary file, as the groups of the digests may. Then there may be
    hundreds of thousands.
    """
    if old.grouping != new.grouping:
        why = "the two digests differ in --group-by or --merge-tables"
        raise UsageError(why, "make both with the same options")
    changes = _changes(old, new)
    if in_file:
        filed = Filed(Change, changes, _largest_first)
        return Comparison(old=old, new=new, changes=()).model_copy(update={"changes": filed})
    return Comparison(old=old, new=new, changes=tuple(sorted(changes, key=_largest_first)))


def comparison_json(comparison: Comparison) -> Iterator[str]:
    """The comparison part by part, of which only one is held at once; without nulls."""
    yield f'{{"format":{comparison.format},"old":'
    yield from json_parts(comparison.old)
    yield ',"new":'
    yield from json_parts(comparison.new)
    yield ',"changes":['
    yield from listed(comparison.changes)
    yield "]}\n"


def _changes(old: Digest, new: Digest) -> Iterator[Change]:
    places = {group.id: place for place, group in enumerate(old.groups)}
    for group in new.groups:
        place = places.pop(group.id, None)
        before = None if place is None else old.groups[place]
        yield _change(before, group, old.seconds, new.seconds)
    for place in places.values():
        yield _change(old.groups[place], None, old.seconds, new.seconds)


def _largest_first(change: Change) -> tuple[float, str]:
    if change.load is not None:
        return -abs(change.load), change.id
    times = [run.query_time_us if run else 0 for run in (change.old, change.new)]
    return -abs(times[1] - times[0]), change.id


def _change(
    old: Group | None, new: Group | None, old_seconds: float | None, new_seconds: float | None
) -> Change:
    """One of the two is there at least."""
    before, after = _run(old, old_seconds), _run(new, new_seconds)
    if old is not None and new is not None and before is not None and after is not None:
        timed = old.query_time and new.query_time and (old.query_time, new.query_time)
        mean_ratio = ratio_of_means(*timed) if timed else None
        rate_ratio = _rate_ratio(old, old_seconds, new, new_seconds)
        return Change(
            id=new.id,
            fingerprint=new.fingerprint,
            times=_verdict(mean_ratio, "slower", "faster"),
            calls=rate_ratio and _verdict(rate_ratio, "more", "fewer"),
            old=before,
            new=after,
            mean_ratio=mean_ratio,
            rate_ratio=rate_ratio,
            chance_slower=chance_slower(*timed) if timed else None,
            **_parts(before, after),
        )
    if new is not None and after is not None:
        return Change(id=new.id, fingerprint=new.fingerprint, times="new", new=after, load=after.load)
    assert old is not None
    assert before is not None
    load = None if before.load is None else -before.load
    return Change(id=old.id, fingerprint=old.fingerprint, times="gone", old=before, load=load)


def _run(group: Group | None, seconds: float | None) -> Run | None:
    if group is None:
        return None
    return Run(
        count=group.count,
        query_time_us=group.query_time_us,
        mean_us=group.figure("query_time", "mean"),
        p95_us=group.query_time.p95 if group.query_time else None,
        per_second=group.count / seconds if seconds else None,
        load=group.query_time_us / 1e6 / seconds if seconds else None,
    )


def _parts(old: Run, new: Run) -> dict[str, float]:
    if old.load is None or new.load is None or old.per_second is None or new.per_second is None:
        return {}
    # Not the mean over the calls with a time: parts must come to the whole.
    means = [run.query_time_us / 1e6 / run.count for run in (old, new)]
    return {
        "load": new.load - old.load,
        "by_calls": (new.per_second - old.per_second) * (means[0] + means[1]) / 2,
        "by_times": (means[1] - means[0]) * (old.per_second + new.per_second) / 2,
    }


def _rate_ratio(old: Group, old_seconds: float | None, new: Group, new_seconds: float | None) -> Ratio | None:
    if not old_seconds or not new_seconds or not old.count or not new.count:
        return None
    return ratio_of_rates(old.count, old_seconds, new.count, new_seconds)


_Word = TypeVar("_Word", bound=str)


def _verdict(ratio: Ratio | None, more: _Word, less: _Word) -> _Word | Literal["alike", "unsure"]:
    if ratio is None:
        return "unsure"
    return more if ratio.is_more else less if ratio.is_less else "alike" if ratio.is_alike else "unsure"
