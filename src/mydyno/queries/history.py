"""The groups of a digest in digests that were saved before: since when, and how they went on. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from mydyno.queries.records import Digest, Group, History, PastRun


def with_history(
    digest: Digest,
    saved: Iterable[tuple[Digest, Iterable[Group]]],
    keep: Callable[[Iterable[Group]], Sequence[Group]] = tuple,
) -> Digest:
    """The digest with the history of each group: in those of `saved` that are grouped alike and whose window
    is another and ends no later. Their groups come with them and are read one by one.

    `keep` holds the groups of the result, in memory or in a file (`Filed`).
    """
    past = _past(digest, saved)
    groups = keep(
        group.model_copy(update={"history": _history(group, digest, past)}) for group in digest.groups
    )
    return digest.model_copy(update={"groups": groups})


def times_of_before(history: History) -> float | None:
    """The mean time now, as a multiple of the median of the means before; None where one is missing."""
    *before, now = history.runs
    known = [run.mean_us for run in before if run.mean_us]
    return now.mean_us / median(known) if known and now.mean_us else None


@dataclass(frozen=True)
class _Past:
    """An earlier digest: how groups of this one ran in it, and when it saw each first."""

    end_us: int
    runs: Mapping[str, tuple[PastRun, int | None]]


def _past(digest: Digest, saved: Iterable[tuple[Digest, Iterable[Group]]]) -> list[_Past]:
    window, wanted = digest.window_us, {group.id for group in digest.groups}
    past = [
        _Past(
            _end(each),
            {group.id: (_run(each, group), group.first_us) for group in groups if group.id in wanted},
        )
        for each, groups in saved
        if window
        and each.window_us
        and each.grouping == digest.grouping
        and each.window_us != window
        and each.window_us[1] <= window[1]
    ]
    return sorted(past, key=lambda each: each.end_us)


def _history(group: Group, digest: Digest, past: Sequence[_Past]) -> History:
    met = [each.runs[group.id] for each in past if group.id in each.runs]
    met.append((_run(digest, group), group.first_us))
    firsts = [first_us for _, first_us in met if first_us is not None]
    return History(
        first_us=min(firsts, default=None),
        digests=len(past),
        since_us=past[0].end_us if past else None,
        runs=tuple(run for run, _ in met),
    )


def _run(digest: Digest, group: Group) -> PastRun:
    return PastRun(
        at_us=_end(digest),
        count=group.count,
        mean_us=group.figure("query_time", "mean"),
        load=group.query_time_us / 1e6 / digest.seconds if digest.seconds else None,
    )


def _end(digest: Digest) -> int:
    return digest.window_us[1] if digest.window_us else 0
