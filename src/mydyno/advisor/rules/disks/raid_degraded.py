"""An array that runs with fewer disks than it should have.

It keeps working, but without the protection it was built for: RAID 1, 5 and 10 without a disk lose data at
the next failure (RAID 10: of that disk's mirror), and RAID 5 and 6 compute the missing chunk for each read.
"""

from mydyno.advisor.rules import *


@Rule(
    checks="whether all disks of the arrays work",
    why="A degraded array loses the data at the next failure, and parity levels read slower meanwhile.",
    expected="the array survives the next failure again",
    durability="raises: committed transactions survive a disk failure again",
    risk="rebuilding reads all other disks and slows the server for hours",
    sources=("md(4), degraded arrays", "mdadm(8), Manage mode"),
)
def rule(system: System, _: Targets) -> Judgement:
    present = require(arrays(system), "the disks under the server's files")
    if not present:
        return NotHere("no file of the server is on a software array")
    known = [array for array in present if array.working is not None]
    if not known:
        return Unknown("how many disks of the arrays work")
    numbers = [
        f"{array.name} ({array.level}): {array.working} of {array.devices} disks work" for array in known
    ]
    broken = [array for array in known if array.degraded]
    if not broken:
        return Fine("; ".join(numbers))
    names = ", ".join(array.name for array in broken)
    rebuilding = all(array.action == "recover" for array in broken)
    return finding(
        title=f"A disk is missing in {names}",
        evidence=(*numbers, *(f"{array.name} is {array.action}" for array in broken if array.action)),
        recommendation="let the running rebuild finish" if rebuilding else "replace the failed disk now",
        changes=by_hand(
            f"find the failed disk of {names}, replace it and add the new one",
            *tuple(
                line
                for array in broken
                for line in (
                    f"mdadm --detail /dev/{array.name}",
                    f"mdadm --manage /dev/{array.name} --add /dev/NEW",
                )
            ),
        ),
        severity=Severity.CRITICAL,
        effect=better("safety", "large"),
        durability="raises",
        durability_says="committed transactions survive the failure of a disk again",
    )
