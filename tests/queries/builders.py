"""Digests to look at: small ones, made of what a test is about, and one like a shop's on a bad night."""

from __future__ import annotations

import functools
import math
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mydyno.queries.records import (
    Digest,
    Example,
    Figures,
    Flag,
    Group,
    Measure,
    Problem,
    Rest,
    Source,
    Timeline,
    Unit,
)

NIGHT_US = 1_795_316_400_000_000
"""2026-11-22 03:00 UTC."""
_UNITS: dict[str, Unit] = {"query_time": "us", "lock_time": "us", "bytes_sent": "bytes"}
_PRECISION_BITS = 8


def measure(values: Iterable[int], unit: Unit = "us") -> Measure:
    """What these values come to, in buckets as narrow as the engine's (1 in 100)."""
    ordered = sorted(values)
    if not ordered:
        return Measure(unit=unit, count=0, sum=0)
    return Measure(
        unit=unit,
        count=len(ordered),
        sum=sum(ordered),
        min=ordered[0],
        max=ordered[-1],
        p50=_quantile(ordered, 0.50),
        p95=_quantile(ordered, 0.95),
        p99=_quantile(ordered, 0.99),
        histogram=tuple(sorted(Counter(map(_bucket, ordered)).items())),
    )


def sums(count: int, total: int, unit: Unit = "us", **more: int) -> Measure:
    """A measure of which only count and sum are known, as performance_schema of older servers has it."""
    return Measure(unit=unit, count=count, sum=total, **more)


def lognormal(count: int, median_us: float, spread: float = 0.5, seed: int = 1) -> list[int]:
    """Times as servers have them: many near the median, a few far above it. `spread`: of the logarithms."""
    chance = random.Random(seed)
    return [max(1, round(chance.lognormvariate(math.log(median_us), spread))) for _ in range(count)]


def group(
    fingerprint: str = "select c from t where id = ?",
    query_time: Iterable[int] | Measure = (1_000, 2_000, 3_000),
    example: Example | str | None = None,
    **more: Any,
) -> Group:
    """A group with these query times (microseconds).

    In `more` an attribute of logs (`rows_examined=[...]`) is a measure; other names are fields of the record.
    """
    fields = {name: more.pop(name) for name in list(more) if name in Group.model_fields}
    measures = _measures({"query_time": query_time, **more})
    count = fields.pop("count", measures["query_time"].count)
    return Group(
        **{
            "id": f"{hash_of(fingerprint):016x}",
            "fingerprint": fingerprint,
            "count": count,
            "first_us": NIGHT_US,
            "last_us": NIGHT_US + 3_600_000_000,
            "measures": measures,
            "example": Example(text=example, bytes=len(example.encode()))
            if isinstance(example, str)
            else example,
            **fields,
        }
    )


def digest(*groups: Group, limit: int | None = None, **more: Any) -> Digest:
    """A digest of these groups, in the order of their time, whose totals are their sums.

    Those beyond `limit` are its rest.
    """
    ordered = tuple(sorted(groups, key=lambda each: (-each.query_time_us, -each.count, each.id)))
    first = min((each.first_us for each in ordered if each.first_us is not None), default=None)
    last = max((each.last_us for each in ordered if each.last_us is not None), default=None)
    total = more.pop("total", None) or Figures(
        count=sum(each.count for each in ordered),
        first_us=first,
        last_us=last,
        measures=_summed(ordered),
        flags=_flags(ordered),
        users=_names(each.users for each in ordered),
        hosts=_names(each.hosts for each in ordered),
        databases=_names(each.databases for each in ordered),
    )
    source = Source(
        name="slow.log", bytes=230 * total.count, entries=total.count, first_us=first, last_us=last
    )
    beyond = ordered[limit:] if limit is not None else ()
    rest = Rest(
        groups=len(beyond),
        count=sum(each.count for each in beyond),
        query_time_us=sum(each.query_time_us for each in beyond),
    )
    return Digest(
        **{
            "sources": (source,),
            "total": total,
            "groups": ordered[:limit],
            "rest": rest if beyond else None,
            **more,
        }
    )


@functools.cache
def sample() -> Digest:
    """An hour of a shop in which a lookup lost its index: with all that a page has to show."""
    lookups = lognormal(4_000, 180_000, 0.4, seed=1)
    by_email = group(
        "select id, name, password_hash from customer where email = ?",
        lookups,
        rows_examined=[118_422] * 4_000,
        rows_sent=[1] * 3_990 + [0] * 10,
        lock_time=lognormal(4_000, 90, 0.6, seed=2),
        flags={"full_scan": Flag(yes=4_000, told=4_000), "filesort": Flag(yes=0, told=4_000)},
        users=(("web", 3_998), ("support", 2)),
        hosts=(("10.0.0.11", 2_100), ("10.0.0.12", 1_900)),
        databases=(("shop", 4_000),),
        example=Example(
            text="SELECT id, name, password_hash FROM customer WHERE email = 'ann@example.com'",
            bytes=76,
            query_time_us=max(lookups),
            time_us=NIGHT_US + 1_800_000_000,
            user="web",
            host="10.0.0.11",
            database="shop",
            source="slow.log",
            at_byte=1_204_113,
            line=31_802,
        ),
    )
    report = group(
        "select c.country, sum(i.price * i.quantity) from order_item i join orders o on o.id = i.order_id"
        " join customer c on c.id = o.customer_id where o.placed_at between ? and ? group by c.country"
        " order by ? desc",
        lognormal(12, 21_000_000, 0.3, seed=3),
        rows_examined=lognormal(12, 3_400_000, 0.1, seed=4),
        rows_sent=[41] * 12,
        lock_time=[180] * 12,
        flags={
            "full_scan": Flag(yes=12, told=12),
            "tmp_table_on_disk": Flag(yes=9, told=12),
            "filesort": Flag(yes=12, told=12),
        },
        users=(("report", 12),),
        hosts=(("10.0.0.40", 12),),
        databases=(("shop", 12),),
        example="SELECT c.country, SUM(i.price * i.quantity) FROM order_item i"
        " JOIN orders o ON o.id = i.order_id JOIN customer c ON c.id = o.customer_id"
        " WHERE o.placed_at BETWEEN '2026-11-01' AND '2026-11-22' GROUP BY c.country ORDER BY 2 DESC",
    )
    waited = lognormal(100, 900_000, 0.5, seed=6)
    stock = group(
        "update stock set quantity = quantity - ? where product_id = ?",
        [*lognormal(900, 1_400, 0.5, seed=5), *waited],
        rows_examined=[1] * 1_000,
        rows_sent=[0] * 1_000,
        rows_affected=[1] * 1_000,
        lock_time=[*lognormal(900, 60, 0.4, seed=7), *(each * 99 // 100 for each in waited)],
        flags={"full_scan": Flag(yes=0, told=1_000)},
        users=(("web", 1_000),),
        hosts=(("10.0.0.11", 510), ("10.0.0.12", 490)),
        databases=(("shop", 1_000),),
        example="UPDATE stock SET quantity = quantity - 1 WHERE product_id = 4711",
    )
    basket = group(
        "select product_id, quantity from basket_line where basket_id in (?+)",
        lognormal(20_000, 700, 0.3, seed=9),
        rows_examined=lognormal(20_000, 6, 0.4, seed=10),
        rows_sent=lognormal(20_000, 6, 0.4, seed=10),
        lock_time=[40] * 20_000,
        flags={"full_scan": Flag(yes=0, told=20_000)},
        users=(("web", 20_000),),
        hosts=(("10.0.0.12", 10_050), ("10.0.0.11", 9_950)),
        databases=(("shop", 20_000),),
        example="SELECT product_id, quantity FROM basket_line WHERE basket_id IN (17, 18, 23)",
    )
    quit_ = group(
        "administrator command: Quit", [12] * 300, kind="administrator-command", users=(("web", 300),)
    )
    return digest(
        by_email,
        report,
        stock,
        basket,
        quit_,
        *(group(f"select ? from {table}", [30] * 20) for table in ("a", "b", "c")),
        limit=5,
        sources=(
            Source(
                name="slow.log",
                bytes=6_012_331,
                server="10.11.19-MariaDB-log (Debian 12)",
                entries=25_413,
                first_us=NIGHT_US,
                last_us=NIGHT_US + 3_600_000_000,
            ),
        ),
        problems=(
            Problem(
                kind="broken-tail",
                source="slow.log",
                at_byte=6_012_160,
                line=158_211,
                count=1,
                says="the last entry ends within its statement",
            ),
        ),
        filtered=41,
        timeline=Timeline(
            step_s=60,
            steps=tuple(
                (NIGHT_US // 1_000_000 + 60 * minute, 380 + 7 * (minute % 9), 15_000_000 + 400_000 * minute)
                for minute in range(60)
            ),
        ),
    )


def hash_of(fingerprint: str) -> int:
    """A number for an id: not the engine's, but the same in every run."""
    found = 1_469_598_103_934_665_603
    for byte in fingerprint.encode():
        found = (found ^ byte) * 1_099_511_628_211 % (1 << 64)
    return found


def _measures(values: Mapping[str, Iterable[int] | Measure]) -> dict[str, Measure]:
    return {
        name: each if isinstance(each, Measure) else measure(each, _UNITS.get(name, "count"))
        for name, each in values.items()
    }


def _bucket(value: int) -> int:
    """The upper bound of the bucket, of which each power of two has 128."""
    shift = max(0, value.bit_length() - _PRECISION_BITS)
    return ((value >> shift) + 1 << shift) - 1


def _quantile(ordered: Sequence[int], share: float) -> int:
    return min(_bucket(ordered[math.ceil(share * len(ordered)) - 1]), ordered[-1])


def _summed(groups: Sequence[Group]) -> dict[str, Measure]:
    """Of each attribute the sum over the groups; their histograms merged."""
    found = {}
    for name in sorted({name for each in groups for name in each.measures}):
        parts = [each.measures[name] for each in groups if name in each.measures]
        buckets: Counter[int] = Counter()
        for part in parts:
            buckets.update(dict(part.histogram))
        found[name] = Measure(
            unit=parts[0].unit,
            count=sum(part.count for part in parts),
            sum=sum(part.sum for part in parts),
            min=min((part.min for part in parts if part.min is not None), default=None),
            max=max((part.max for part in parts if part.max is not None), default=None),
            histogram=tuple(sorted(buckets.items())),
            **_quantiles_of(buckets),
        )
    return found


def _quantiles_of(buckets: Counter[int]) -> dict[str, int]:
    ordered = sorted(buckets.items())
    total = buckets.total()
    found = {}
    for name, share in (("p50", 0.50), ("p95", 0.95), ("p99", 0.99)):
        seen = 0
        for bound, count in ordered:
            seen += count
            if seen >= share * total:
                found[name] = bound
                break
    return found


def _flags(groups: Sequence[Group]) -> dict[str, Flag]:
    return {
        name: Flag(
            yes=sum(each.flags[name].yes for each in groups if name in each.flags),
            told=sum(each.flags[name].told for each in groups if name in each.flags),
        )
        for name in sorted({name for each in groups for name in each.flags})
    }


def _names(names: Iterable[Sequence[tuple[str, int]]]) -> tuple[tuple[str, int], ...]:
    counted: Counter[str] = Counter()
    for each in names:
        counted.update(dict(each))
    return tuple(sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])))
