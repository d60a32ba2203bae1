"""Whether the server is the first that the kernel ends when memory is short.

The kernel ends the process with the most memory, corrected by oom_score_adj (-1000 never, 1000 first). A
database has most of the memory by design, so it goes first, though a runaway script beside it may have caused
the shortage. OOMScoreAdjust= of the unit moves it back in the row. It helps only where there is something
else to end; it is no substitute for a budget that fits.
"""

from mydyno.advisor.rules import *

_WANTED = -600
_LARGE = 0.4
"""From this part of the memory on, a database without correction is what is ended first."""


def _judge(system: System, _: Targets) -> Judgement:
    host = system.host
    process = host.process if host else None
    if host is None or process is None or process.oom_score_adj is None:
        return Unknown("oom_score_adj of the server's process")
    if host.container or host.memory.limit is not None:
        return NotHere("a group of its own decides: its limit ends whoever is in it")
    now, resident = process.oom_score_adj, process.resident_bytes or 0
    part = resident / host.memory.total
    numbers = (
        f"oom_score_adj {now}; {format_bytes(resident)} of {format_bytes(host.memory.total)} ({part:.0%})"
    )
    if now < 0 or (now == 0 and part < _LARGE):
        return Fine(numbers)
    unit = unit_of(system)
    if unit and unit.properties.get("OOMScoreAdjust") == str(_WANTED):
        return Fine(f"{unit.name} gives {_WANTED} from the next start on; now {numbers}")
    killed = host.kernel.counters.get("oom_kill")
    change: Change = ByHand(
        says=f"let the server have an oom_score_adj of {_WANTED}",
        commands=(f"choom --pid {process.pid} --adjust {_WANTED}",),
    )
    if unit:
        change = SetUnit(
            unit=unit.name,
            name="OOMScoreAdjust",
            value=str(_WANTED),
            was=unit.properties.get("OOMScoreAdjust"),
        )
    return RULE.finding(
        title="The server is the first to be ended when this machine's memory is short",
        evidence=(numbers, *((f"the kernel has ended {killed} processes since boot",) if killed else ())),
        recommendation=change.sentence(),
        changes=(change,),
        severity=Severity.MEDIUM if killed or now > 0 else Severity.LOW,
        effect=better(
            "stability",
            "medium" if killed else "small",
            "another program is ended first, if there is one that is large enough",
        ),
        risk="when the server itself takes too much, the kernel may end others in vain first",
        restart=True,
    )


RULE = Rule(
    checks="the server's place among those that the kernel ends when memory is short",
    why="The largest process goes first, and on a database machine that is the database.",
    expected="a shortage that others cause does not end the server",
    durability="none: a server that was ended recovers from its redo log",
    risk="other programs are ended first",
    sources=("proc(5), /proc/pid/oom_score_adj", "systemd.exec(5), OOMScoreAdjust="),
    judge=_judge,
)
