"""Whether one scan of a large table can empty the buffer pool.

A page that is read for the first time goes into the older part of the list, and only a second use later
than innodb_old_blocks_time moves it among the pages that are used often. A backup or a report touches each
page several times within milliseconds; with 0 they all count as used often, and push out what the
application needs. The default is 1000 ms since MySQL 5.6.6 and MariaDB 10.0.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_old_blocks_time"
_DEFAULT = 1000


@Rule(
    checks="innodb_old_blocks_time",
    why="With 0 the buffer pool has no protection against scans.",
    expected="backups and reports leave the cached pages of the application alone",
    sources=('MySQL Reference Manual, "Making the Buffer Pool Scan Resistant"',),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    now = require(system.server.number(_NAME), _NAME)
    if now > 0:
        return Fine(f"{_NAME} is {now} ms")
    return finding(
        title="A single scan of a large table pushes everything else out of the buffer pool",
        evidence=(f"{_NAME} = 0: a page counts as used often from its second use on, however soon",),
        recommendation=f"set {_NAME} to {_DEFAULT}, the default",
        changes=settings(system.server, {_NAME: _DEFAULT}),
        severity=Severity.MEDIUM,
        effect=better("stability", "medium"),
    )
