"""The groups of a digest in digests that were saved before: since when, and how they went on. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from mydyno.digest.records import Digest, Group, History, PastRun


def with_history(digest: Digest, saved: Iterable[Digest]) -> Digest:
    """The digest with the history of each group: in those of `saved` that are grouped alike and whose window
    is another and ends no later."""
    past = _past(digest, saved)
    groups = tuple(
        group.model_copy(update={"history": _history(group, digest, past)}) for group in digest.groups
    )
    return digest.model_copy(update={"groups": groups})


def times_of_before(history: History) -> float | None:
    """The mean time now, as a multiple of the median of the means before; None where one is missing."""
    *before, now = history.runs
    known = [run.mean_us for run in before if run.mean_us]
    return now.mean_us / median(known) if known and now.mean_us else None


def _past(digest: Digest, saved: Iterable[Digest]) -> list[tuple[Digest, dict[str, Group]]]:
    window = digest.window_us
    past = [
        each
        for each in saved
        if window
        and each.window_us
        and each.grouping == digest.grouping
        and each.window_us != window
        and each.window_us[1] <= window[1]
    ]
    past.sort(key=_end)
    return [(each, {group.id: group for group in each.groups}) for each in past]


def _history(group: Group, digest: Digest, past: Sequence[tuple[Digest, dict[str, Group]]]) -> History:
    met = [(each, groups[group.id]) for each, groups in past if group.id in groups] + [(digest, group)]
    firsts = [each.first_us for _, each in met if each.first_us is not None]
    return History(
        first_us=min(firsts, default=None),
        digests=len(past),
        since_us=_end(past[0][0]) if past else None,
        runs=tuple(_run(each, group_then) for each, group_then in met),
    )


def _run(digest: Digest, group: Group) -> PastRun:
    time = group.measures.get("query_time")
    return PastRun(
        at_us=_end(digest),
        count=group.count,
        mean_us=time.mean if time else None,
        load=group.query_time_us / 1e6 / digest.seconds if digest.seconds else None,
    )


def _end(digest: Digest) -> int:
    return digest.window_us[1] if digest.window_us else 0
