"""Joins that read a whole table for every row, or every batch of rows, of another.

Select_full_join counts joins whose second table has no usable index. Their cost is the product of both
tables' rows, so they are fast until the tables grow. No setting helps; an index does.
"""

from mydyno.advisor.rules import *

_MANY = 1.0
"""A second."""


@Rule(
    checks="Select_full_join",
    why="A join without an index costs the product of both tables' rows.",
    expected="the cost of the statements concerned grows with one table instead of the product of two",
    risk="an index costs space and slows writes a little",
    sources=(
        "MySQL Reference Manual, Server Status Variables, Select_full_join",
        "MariaDB Documentation, Server Status Variables, Select_full_join",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    rate = require(often(server, "Select_full_join"), "Select_full_join")
    if rate < _MANY:
        return Fine(f"{a_second(rate)} joins without an index")
    part = share(server.counter("Select_full_join"), server.counter("Com_select"))
    of_all = f", {part:.1%} of all SELECTs" if part is not None else ""
    return finding(
        title=f"{a_second(rate)} joins read a table without an index",
        evidence=(f"Select_full_join grows by {a_second(rate)}{of_all}",),
        recommendation="find these statements and index their join columns",
        changes=by_hand("find joins without an index, then index the joined columns", *_find(system)),
        severity=Severity.HIGH if part is not None and part > 0.1 else Severity.MEDIUM,
        effect=better("latency", "medium"),
    )


def _find(system: System) -> tuple[str, ...]:
    if system.server.switch("performance_schema"):
        return (
            "SELECT digest_text, count_star, sum_select_full_join FROM"
            " performance_schema.events_statements_summary_by_digest"
            " WHERE sum_select_full_join > 0 ORDER BY sum_timer_wait DESC LIMIT 10;",
        )
    return ("SET GLOBAL log_queries_not_using_indexes = ON; -- for some minutes, with the slow log on",)
