"""An array that is being resynced, rebuilt, checked or reshaped.

resync, recover, check and reshape read all of the disks, with at least dev.raid.speed_limit_min even when
the server is busy. Measurements taken meanwhile do not show what the machine can do. A monthly check is
usual in distributions and should run in quiet hours.
"""

from mydyno.advisor.rules import *


@Rule(
    checks="whether an array is being rebuilt, resynced, reshaped or checked",
    why="It reads every disk completely, in addition to the server's own I/O.",
    expected="the full speed of the disks",
    risk="an array is not redundant before its rebuild has finished",
    sources=("Linux kernel documentation, RAID arrays, sync_action", "md(4), speed_limit_min"),
)
def rule(system: System, _: Targets) -> Judgement:
    present = arrays(system)
    if present is None or system.host is None:
        return Unknown("the disks under the server's files")
    if not present:
        return NotHere("no file of the server is on a software array")
    known = [array for array in present if array.action is not None]
    if not known:
        return Unknown("whether the arrays are copying (sync_action)")
    busy = [array for array in known if array.action not in ("idle", "frozen")]
    if not busy:
        return Fine(", ".join(f"{array.name} is {array.action}" for array in known))
    kernel = system.host.kernel
    floor, ceiling = kernel.number("dev.raid.speed_limit_min"), kernel.number("dev.raid.speed_limit_max")
    checks = [array for array in busy if array.action == "check"]
    return finding(
        title=", ".join(f"{array.name} is busy with {array.action}" for array in busy),
        evidence=(
            f"dev.raid.speed_limit_min = {floor or 'not known'}, "
            f"speed_limit_max = {ceiling or 'not known'} (KiB/s for each disk)",
            "measurements of this interval include the array's own I/O",
        ),
        recommendation="wait until it has finished before judging the server's speed",
        changes=by_hand(
            "a check can be stopped and left to a quiet hour; a resync or rebuild should finish",
            *tuple(f"echo idle > /sys/block/{array.name}/md/sync_action" for array in checks),
        ),
        severity=Severity.LOW if len(checks) == len(busy) else Severity.MEDIUM,
        effect=better("throughput", "medium"),
    )
