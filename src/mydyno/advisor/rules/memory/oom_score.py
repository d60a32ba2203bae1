"""Whether the kernel kills the server first when memory is short.

The kernel kills the process with the most memory, corrected by oom_score_adj (-1000 never, 1000 first). A
database has most of the memory by design, so it is killed first, though a runaway script may have caused
the shortage. OOMScoreAdjust= of the unit lowers its score. It helps only where there is something else to
kill; it does not replace a budget that fits.
"""

from mydyno.advisor.rules import *

_WANTED = -600
_LARGE = 0.4
"""From this part of the memory on, a database without correction is what is ended first."""


@Rule(
    checks="the server's OOM score compared with other processes",
    why="The largest process is killed first, and on a database machine that is the database.",
    expected="another program is killed first, if one is large enough",
    durability="none: a killed server recovers from its redo log",
    risk="when the server itself takes too much, the kernel may kill others in vain first",
    sources=("proc(5), /proc/pid/oom_score_adj", "systemd.exec(5), OOMScoreAdjust="),
)
def rule(system: System, _: Targets) -> Judgement:
    host = system.host
    process = host.process if host else None
    if host is None or process is None or process.oom_score_adj is None:
        return Unknown("oom_score_adj of the server's process")
    if host.container or host.memory.limit is not None:
        return NotHere("its own control group decides: only the group's processes are killed at its limit")
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
        says=f"set the server's oom_score_adj to {_WANTED}",
        commands=(f"choom --pid {process.pid} --adjust {_WANTED}",),
    )
    if unit:
        change = set_unit(unit, "OOMScoreAdjust", str(_WANTED))
    return finding(
        title="The kernel kills the server first when memory is short",
        evidence=(numbers, f"the kernel has killed {killed} processes since boot" if killed else None),
        recommendation=change.sentence(),
        changes=(change,),
        severity=Severity.MEDIUM if killed or now > 0 else Severity.LOW,
        effect=better("stability", "medium" if killed else "small"),
        restart=True,
    )
