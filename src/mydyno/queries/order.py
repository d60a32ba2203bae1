"""The groups of a digest in another order, and the first of them only."""

from collections.abc import Callable, Iterable, Iterator
from heapq import nsmallest
from itertools import chain, islice

from mydyno.core.errors import UsageError
from mydyno.queries.filed import Filed
from mydyno.queries.records import Digest, Group, Rest

BY_TIME = "time"
"""The order that digests come in."""


def _figure(attribute: str, what: str) -> Callable[[Group], float | None]:
    return lambda group: group.figure(attribute, what)


_ORDERS: dict[str, Callable[[Group], float | None]] = {
    BY_TIME: _figure("query_time", "sum"),
    "count": lambda group: group.count,
    **{what: _figure("query_time", what) for what in ("mean", "p95", "p99", "max")},
    "lock": _figure("lock_time", "sum"),
    "first-seen": lambda group: group.first_us,
    "last-seen": lambda group: group.last_us,
}
ORDERS = tuple(_ORDERS)


def ordered(digest: Digest, by: str) -> Digest:
    """The highest first, groups without that number last; times and calls break ties.

    `by` is one of `ORDERS`, or an attribute of the digest, as `rows-examined`: its sum. Raises UsageError.
    """
    return digest.model_copy(update={"groups": tuple(sorted(digest.groups, key=_place(digest, by)))})


def first_in_order(digest: Digest, more: Iterable[Group], by: str, limit: int) -> Digest:
    """As `ordered` and `first` of a digest with `more` groups behind its own; `limit` are held at once."""
    groups = count = time_us = 0

    def counted() -> Iterator[Group]:
        nonlocal groups, count, time_us
        for group in chain(digest.groups, more):
            groups, count, time_us = groups + 1, count + group.count, time_us + group.query_time_us
            yield group

    kept = tuple(nsmallest(limit, counted(), key=_place(digest, by)))
    if len(kept) == groups:
        return digest.model_copy(update={"groups": kept})
    for group in kept:
        count, time_us = count - group.count, time_us - group.query_time_us
    return _cut(digest, kept, groups - len(kept), count, time_us)


def all_in_order(digest: Digest, more: Iterable[Group], by: str) -> Iterator[Group]:
    """All groups of a digest with `more` behind its own, in order. They wait in a temporary file.

    Raises MydynoError without space for it.
    """
    return iter(Filed(Group, chain(digest.groups, more), _place(digest, by)))


def first(digest: Digest, limit: int | None) -> Digest:
    """The first `limit` groups; the others join its rest."""
    if limit is None or len(digest.groups) <= limit:
        return digest
    count = time_us = 0
    for group in islice(digest.groups, limit, None):  # They may wait in a file.
        count, time_us = count + group.count, time_us + group.query_time_us
    return _cut(digest, tuple(digest.groups[:limit]), len(digest.groups) - limit, count, time_us)


def _cut(digest: Digest, kept: tuple[Group, ...], groups: int, count: int, time_us: int) -> Digest:
    """The digest with the groups `kept`; the others, so many with so many calls, join its rest."""
    rest = digest.rest or Rest(groups=0, count=0, query_time_us=0)
    rest = Rest(
        groups=rest.groups + groups, count=rest.count + count, query_time_us=rest.query_time_us + time_us
    )
    return digest.model_copy(update={"groups": kept, "rest": rest})


def _place(digest: Digest, by: str) -> Callable[[Group], tuple[float, int, int, str]]:
    """What groups are sorted by. Raises UsageError for an order that the digest does not have."""
    name = by.replace("-", "_")
    # Where nothing was read no attribute is known, and there is nothing to be put in order.
    if by not in _ORDERS and name not in digest.total.measures and digest.total.count:
        others = [each.replace("_", "-") for each in digest.total.measures]
        raise UsageError(
            f"--order-by {by}: no statement has that number",
            f"--order-by {', '.join([*ORDERS, *others])}",
        )
    key = _ORDERS.get(by) or _figure(name, "sum")

    def place(group: Group) -> tuple[float, int, int, str]:
        value = key(group)
        return (-value if value is not None else 1.0, -group.query_time_us, -group.count, group.id)

    return place
