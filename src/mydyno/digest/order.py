"""The groups of a digest in another order, and the first of them only."""

from __future__ import annotations

from collections.abc import Callable

from mydyno.core.errors import UsageError
from mydyno.digest.records import Digest, Group, Rest

BY_TIME = "time"
"""The order that digests come in."""


def _of_time(what: str) -> Callable[[Group], float | None]:
    def key(group: Group) -> float | None:
        time = group.measures.get("query_time")
        found: float | None = None if time is None else getattr(time, what)
        return found

    return key


def _lock(group: Group) -> float | None:
    lock = group.measures.get("lock_time")
    return lock.sum if lock else None


_ORDERS: dict[str, Callable[[Group], float | None]] = {
    BY_TIME: _of_time("sum"),
    "count": lambda group: group.count,
    "mean": _of_time("mean"),
    "p95": _of_time("p95"),
    "p99": _of_time("p99"),
    "max": _of_time("max"),
    "lock": _lock,
    "first-seen": lambda group: group.first_us,
    "last-seen": lambda group: group.last_us,
}
ORDERS = tuple(_ORDERS)


def ordered(digest: Digest, by: str) -> Digest:
    """The highest first, groups without that number last; times and calls break ties.

    `by` is one of `ORDERS`, or an attribute of the digest, as `rows-examined`: its sum. Raises UsageError.
    """
    key = _ORDERS.get(by) or _of_attribute(digest, by)

    def place(group: Group) -> tuple[float, int, int, str]:
        value = key(group)
        return (-value if value is not None else 1.0, -group.query_time_us, -group.count, group.id)

    return digest.model_copy(update={"groups": tuple(sorted(digest.groups, key=place))})


def first(digest: Digest, limit: int | None) -> Digest:
    """The first `limit` groups; the others join its rest."""
    if limit is None or len(digest.groups) <= limit:
        return digest
    beyond, before = digest.groups[limit:], digest.rest
    rest = Rest(
        groups=len(beyond) + (before.groups if before else 0),
        count=sum(group.count for group in beyond) + (before.count if before else 0),
        query_time_us=sum(group.query_time_us for group in beyond) + (before.query_time_us if before else 0),
    )
    return digest.model_copy(update={"groups": digest.groups[:limit], "rest": rest})


def _of_attribute(digest: Digest, by: str) -> Callable[[Group], float | None]:
    name = by.replace("-", "_")
    if name not in digest.total.measures:
        others = [each.replace("_", "-") for each in digest.total.measures]
        raise UsageError(
            f"--order {by}: nothing that was read has that number", f"--order {', '.join([*ORDERS, *others])}"
        )

    def key(group: Group) -> float | None:
        measure = group.measures.get(name)
        return measure.sum if measure else None

    return key
