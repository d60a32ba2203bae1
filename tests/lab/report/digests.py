"""Digests that a page has something to show of: with plans and indexes, with thousands of statements, and
with text that would like to be more than text."""

from __future__ import annotations

from functools import cache

from queries.builders import NIGHT_US, digest, group, lognormal, sample

from mydyno.queries.comparison import Comparison, compare
from mydyno.queries.records import (
    Digest,
    Example,
    Flag,
    IndexCandidate,
    NoCandidate,
    Plan,
    PlanRow,
    Problem,
    Rest,
    Source,
)


@cache
def full() -> Digest:
    """The shop's bad night, with what EXPLAIN and the schema add."""
    night = sample()
    by_email, report, *others = night.groups
    return night.model_copy(
        update={
            "groups": (
                by_email.model_copy(update={"plan": Plan(rows=(_SCAN,))}),
                report.model_copy(update={"plan": Plan(rows=_JOIN)}),
                others[0].model_copy(update={"plan": Plan(refused="Table 'shop.stock' doesn't exist")}),
                *others[1:],
            ),
            "candidates": (
                IndexCandidate(
                    database="shop",
                    table="customer",
                    columns=("email",),
                    statement="ALTER TABLE `shop`.`customer` ADD INDEX `email` (`email`)",
                    reasons=(
                        "email = ? finds 1 of 118,422 rows, which are all looked at now",
                        "the statement runs 1.1 times a second",
                    ),
                    caveats=("each INSERT and each UPDATE of email has one more index to keep",),
                    groups=(by_email.id,),
                    query_time_us=by_email.query_time_us,
                ),
            ),
            "without_candidate": (
                NoCandidate(
                    group=others[0].id,
                    why=(
                        "product_id is the primary key",
                        "it waits for locks, it does not look for rows",
                    ),
                ),
            ),
        }
    )


_SCAN = PlanRow(
    id=1, select_type="SIMPLE", table="customer", type="ALL", rows=118_422, filtered=10.0, extra="Using where"
)
_JOIN = (
    PlanRow(
        id=1,
        select_type="SIMPLE",
        table="o",
        type="ALL",
        possible_keys="PRIMARY,placed_at",
        rows=1_204_113,
        filtered=22.5,
        extra="Using where; Using temporary; Using filesort",
    ),
    PlanRow(
        id=1,
        select_type="SIMPLE",
        table="c",
        type="eq_ref",
        possible_keys="PRIMARY",
        key="PRIMARY",
        key_len="4",
        ref="shop.o.customer_id",
        rows=1,
        filtered=100.0,
    ),
    PlanRow(
        id=1,
        select_type="SIMPLE",
        table="i",
        type="ref",
        possible_keys="order_id",
        key="order_id",
        key_len="4",
        ref="shop.o.id",
        rows=3,
        filtered=100.0,
    ),
)


@cache
def many(groups: int) -> Digest:
    """As a busy server has them: few heavy statements, and a long tail."""
    made = [
        group(
            f"select a_{place}, b_{place} from table_{place} where id_{place} = ? and kind in (?+)"
            " and placed_at between ? and ? order by placed_at desc limit ?",
            [round(4_000_000 / (place + 1) ** 1.2) + each for each in (20, 50, 90)],
            rows_examined=[10 * place + 1] * 3,
            rows_sent=[1 + place % 3] * 3,
            lock_time=[40] * 3,
            flags={"full_scan": Flag(yes=3 * (place % 2), told=3)},
            users=(("web", 2), ("report", 1)),
            databases=(("shop", 3),),
            example=f"SELECT a_{place}, b_{place} FROM table_{place} WHERE id_{place} = {place}",
        )
        for place in range(groups)
    ]
    return digest(*made)


HOSTILE = (
    "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"><!-- \"' &amp; "
    "{{ 7*7 }} {% raw %} </pre></style></title> javascript:alert(1) \u202e\x00\x1b[2J\ufffe 스레드"
)


@cache
def hostile() -> Digest:
    """The same text wherever a digest has one."""
    example = Example(
        text=f"select '{HOSTILE}'",
        bytes=10,
        is_cut=True,
        query_time_us=2**63,
        time_us=2**62,
        user=HOSTILE,
        host=HOSTILE,
        database=HOSTILE,
        source=HOSTILE,
        at_byte=2**63,
        line=2**63,
    )
    names = ((HOSTILE, 2), ("", 1))
    row = PlanRow(
        id=1,
        select_type=HOSTILE,
        table=HOSTILE,
        partitions=HOSTILE,
        type="ALL",
        possible_keys=HOSTILE,
        key_len=HOSTILE,
        ref=HOSTILE,
        extra=HOSTILE,
    )
    groups = [
        group(
            f"select {place} {HOSTILE}",
            [10**place] * 3,
            example,
            id=f"{place}{HOSTILE}",
            users=names,
            hosts=names,
            databases=names,
            flags={HOSTILE: Flag(yes=1, told=3)},
            plan=Plan(rows=(row,), refused=HOSTILE),
            **{HOSTILE: [1, 2, 3]},
        )
        for place in range(1, 13)
    ]
    first = groups[-1].id
    return digest(
        *groups,
        sources=(Source(name=HOSTILE, bytes=1, server=HOSTILE, entries=1, first_us=-(2**62), last_us=2**62),),
        problems=(Problem(kind="not-utf8", source=HOSTILE, at_byte=0, count=1, says=HOSTILE),),
        rest=Rest(groups=1, count=1, query_time_us=1),
        candidates=(
            IndexCandidate(
                table=HOSTILE,
                database=HOSTILE,
                columns=(HOSTILE,),
                statement=f"ALTER TABLE {HOSTILE}",
                reasons=(HOSTILE,),
                caveats=(HOSTILE,),
                groups=(first,),
                query_time_us=1,
            ),
        ),
        without_candidate=(NoCandidate(group=first, why=(HOSTILE,)),),
    )


@cache
def nights() -> Comparison:
    """Two hours of a shop: a lookup that lost its index, more baskets, one statement new and one gone."""
    hour = {"first_us": NIGHT_US, "last_us": NIGHT_US + 3_600_000_000}
    lookup = "select id, name from customer where email = ?"
    basket = "select * from basket_line where basket_id in (?+)"
    old = digest(
        group(lookup, lognormal(4_000, 900, 0.4, seed=1), **hour),
        group(basket, lognormal(8_000, 700, 0.3, seed=2), **hour),
        group("update stock set quantity = quantity - ? where product_id = ?", lognormal(900, 1_400), **hour),
        group("select count(*) from visit", lognormal(60, 2_000_000, 0.2, seed=3), **hour),
    )
    new = digest(
        group(lookup, lognormal(4_100, 180_000, 0.4, seed=4), **hour),
        group(basket, lognormal(20_000, 700, 0.3, seed=5), **hour),
        group("update stock set quantity = quantity - ? where product_id = ?", lognormal(900, 1_400), **hour),
        group("select country, sum(price) from sale group by country", lognormal(12, 21_000_000), **hour),
    )
    return compare(old, new)
