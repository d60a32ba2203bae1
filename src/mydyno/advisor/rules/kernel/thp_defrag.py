"""What happens when no huge page is free and one is wanted.

With `always` a page fault that could have a huge page stops and compacts memory first: milliseconds, at a
moment that nobody chose. `madvise` lets only those wait who asked for huge pages by madvise(2); `defer`
leaves the work to kernel threads. It matters as long as transparent huge pages are not off.
"""

from mydyno.advisor.rules import *


def _judge(system: System, _: Targets) -> Judgement:
    if system.host is None or system.host.kernel.thp_defrag is None:
        return Unknown("/sys/kernel/mm/transparent_hugepage/defrag")
    kernel = system.host.kernel
    if kernel.thp_enabled == "never":
        return NotHere("transparent huge pages are off")
    if kernel.thp_defrag != "always":
        return Fine(f"page faults do not stop to make huge pages unasked (defrag: {kernel.thp_defrag})")
    stalls = kernel.counters.get("compact_stall")
    return RULE.finding(
        title="A page fault may stop to compact memory for a huge page (defrag: always)",
        evidence=(
            f"transparent_hugepage/defrag = always, enabled = {kernel.thp_enabled or 'not known'}",
            *((f"processes waited {stalls} times for compaction since boot",) if stalls else ()),
        ),
        recommendation="let only those wait for huge pages who asked for them: madvise",
        changes=(SetSysfs(path="/sys/kernel/mm/transparent_hugepage/defrag", value="madvise", was="always"),),
        severity=Severity.MEDIUM if stalls else Severity.LOW,
        effect=better("latency", "small", "no stalls of milliseconds where memory is fragmented"),
    )


RULE = Rule(
    checks="whether page faults wait for memory to be compacted into huge pages",
    why="Compacting memory takes milliseconds, and with `always` the thread that touched the page waits.",
    expected="fewer stalls where memory is fragmented; nothing elsewhere",
    sources=("Linux kernel documentation, Transparent Hugepage Support, defrag",),
    judge=_judge,
)
