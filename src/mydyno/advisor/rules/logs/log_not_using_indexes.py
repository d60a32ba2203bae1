"""Whether statements without an index are written to the slow log however fast they are.

It is useful for an hour. Left on, every SELECT from a table of ten rows is an entry, and the slow
statements are lost among them. MySQL can limit the entries (log_throttle_queries_not_using_indexes, for
each minute), MariaDB by a sampling rate.
"""

from mydyno.advisor.rules import *

_NAME = "log_queries_not_using_indexes"
_THROTTLE = "log_throttle_queries_not_using_indexes"
_MANY = 1.0
"""Entries a second."""


@Rule(
    checks="log_queries_not_using_indexes where it floods the slow log",
    why="Fast statements on small tables fill the log and hide the slow ones.",
    expected="slow statements are no longer lost among fast ones; a little less writing",
    risk="fast statements without an index are no longer logged",
    sources=("MySQL Reference Manual, The Slow Query Log", "MariaDB Documentation, Slow Query Log Overview"),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    now = require(server.switch(_NAME), _NAME)
    slow = require(often(server, "Slow_queries"), "Slow_queries")
    if not now:
        return Fine("only slow statements are logged")
    if (server.number(_THROTTLE) or 0) > 0 or slow < _MANY:
        return Fine(
            f"{a_second(slow)} entries, and at most {server.text(_THROTTLE) or 'any number of'} a minute"
        )
    return finding(
        title=f"{a_second(slow)} entries of the slow log, most of them of statements without an index",
        evidence=(f"{_NAME} = ON, Slow_queries grows by {a_second(slow)}",),
        recommendation=f"set {_NAME} = OFF, and ON for an hour to look for such statements",
        changes=settings(server, {_NAME: False}),
        severity=Severity.MEDIUM if slow >= 100 else Severity.LOW,
        effect=better("insight", "small"),
    )
