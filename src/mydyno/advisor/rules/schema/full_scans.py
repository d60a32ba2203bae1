"""Rows read by scans, compared with rows found by an index.

Handler_read_rnd_next counts steps of a scan through a table (or a temporary table). Where nearly all rows
are read that way, statements scan tables that an index would avoid. Scans of small tables are fine but
counted too, so only a high rate matters.
"""

from mydyno.advisor.rules import *

_SCANNED = "Handler_read_rnd_next"
_FOUND = ("Handler_read_key", "Handler_read_next", "Handler_read_prev", "Handler_read_first")
_MANY = 100_000
"""Rows a second."""
_PART = 0.8


@Rule(
    checks="rows read by scans compared with rows read by indexes",
    why="A scan reads every row to find a few, and pushes useful pages out of the buffer pool.",
    expected="much less CPU and reading for the statements concerned",
    risk="an index costs space and slows writes a little",
    sources=(
        "MySQL Reference Manual, Server Status Variables, Handler_read_rnd_next; Avoiding Full Table Scans",
        "MariaDB Documentation, Server Status Variables, Handler_read_rnd_next",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    scanned = often(server, _SCANNED)
    reads = [rate for name in _FOUND if (rate := often(server, name)) is not None]
    if scanned is None or not reads:
        return Unknown("the counters Handler_read_...")
    part = scanned / ((scanned + sum(reads)) or 1)
    if scanned < _MANY or part < _PART:
        return Fine(f"{a_second(scanned)} rows are read by scans, {part:.0%} of all")
    scans = often(server, "Select_scan")
    return finding(
        title=f"{part:.0%} of all rows are read by scanning tables",
        evidence=(
            f"{_SCANNED} grows by {a_second(scanned)}, all indexed reads together by {a_second(sum(reads))}",
            f"Select_scan grows by {a_second(scans)}",
        ),
        recommendation="find the statements that scan most rows and give them an index",
        changes=by_hand("find the statements that examine most rows", *_find(system)),
        severity=Severity.MEDIUM,
        effect=better("throughput", "large", f"most of {a_second(scanned)} rows do not have to be read"),
    )


def _find(system: System) -> tuple[str, ...]:
    if system.server.switch("performance_schema"):
        return (
            "SELECT digest_text, count_star, sum_rows_examined, sum_rows_sent FROM"
            " performance_schema.events_statements_summary_by_digest"
            " ORDER BY sum_rows_examined DESC LIMIT 10;",
        )
    return ("SET GLOBAL slow_query_log = ON; SET GLOBAL long_query_time = 0.1; -- for some minutes",)
