"""The execution time from which a statement counts as slow.

The default of 10 s hides everything that users of a web page complain about; the 2 s of old guides still
hide most of it. At 0 everything is logged: useful for some minutes, and a full disk and a contended lock
after that. One second finds the problems, and can be lowered once they are fixed. A running session keeps
the value that it started with.
"""

from mydyno.advisor.rules import *

_NAME = "long_query_time"
_LONG = 5.0
_WANTED = 1
_FLOOD = 100
"""Slow statements a second."""


@Rule(
    checks="long_query_time, and how many statements are slower",
    why="Too long hides what users wait for; too short floods the log.",
    expected="a slow log that shows what matters",
    risk="the log grows faster when many statements take seconds",
    sources=(
        "MySQL Reference Manual, The Slow Query Log; Server System Variables, long_query_time",
        "MariaDB Documentation, Slow Query Log Overview",
        "Microsoft Azure, Optimise MySQL on Linux VMs, 2015: long_query_time = 2",
    ),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    now = require(decimal(server, _NAME), _NAME)
    slow = require(often(server, "Slow_queries"), "Slow_queries")
    if now >= _LONG:
        return finding(
            title=f"Only statements above {now:g} s count as slow",
            evidence=(f"{_NAME} = {now:g}; {a_second(slow)} are slower",),
            recommendation=f"set {_NAME} = {_WANTED}",
            changes=settings(server, {_NAME: _WANTED}),
            effect=better(
                "insight",
                "medium",
                "statements that users wait for are counted and, with the slow log on, logged",
            ),
        )
    if slow >= _FLOOD and server.switch("slow_query_log"):
        return finding(
            title=f"{a_second(slow)} statements are written to the slow log",
            evidence=(f"{_NAME} = {now:g}, Slow_queries grows by {a_second(slow)}",),
            recommendation="raise the threshold, or log a sample, once you have seen enough",
            changes=by_hand(
                f"raise {_NAME}"
                + (", or log one statement of many" if server.has("log_slow_rate_limit") else ""),
                *(
                    (f"SET GLOBAL {_NAME} = 1;",)
                    + (
                        ("SET GLOBAL log_slow_rate_limit = 100;",)
                        if server.has("log_slow_rate_limit")
                        else ()
                    )
                ),
            ),
            severity=Severity.MEDIUM,
            effect=better("throughput", "small", "fewer entries written under one lock, and a smaller file"),
            risk="",
        )
    return Fine(f"{_NAME} is {now:g} s, {a_second(slow)} statements are slower")
