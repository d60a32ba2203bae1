"""RAID 5 and 6 under a load that writes.

A page written in place changes one chunk of a stripe. RAID 5 reads the old chunk and the old parity and
rewrites both: four I/Os; RAID 6 has two parities: six. RAID 1 and 10 write twice and read nothing. For
reads all are equal. So the more of the load is writes, the more the same disks achieve on RAID 10; a page
flush, its doublewrite copy and each commit of the redo log all count. Full stripes (large sequential
writes) avoid it.
"""

from mydyno.advisor.rules import *
from mydyno.core.raid import BY_MD_NAME

_PENALTY = {name: level.small_write_ios for name, level in BY_MD_NAME.items() if level.parity_disks}
_MIRRORED = BY_MD_NAME["raid10"].small_write_ios
_WRITES_PER_SECOND = 20
_RATIO = 1.3


@Rule(
    checks="the RAID level compared with the server's mix of reads and writes",
    why="A small write costs four disk I/Os on RAID 5 and six on RAID 6, and two on RAID 10.",
    expected="more writes from the same disks",
    risk="half of the disks' space; rebuilding an array erases it",
    sources=(
        "md(4), RAID4, RAID5, RAID6, RAID10",
        "Patterson, Gibson, Katz, A Case for Redundant Arrays of Inexpensive Disks, SIGMOD 1988, level 5",
        "Microsoft Azure documentation, Optimize MySQL Performance on Azure Linux VMs (RAID)",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    present = require(arrays(system), "the disks under the server's files")
    if not present:
        return NotHere("no file of the server is on a software array")
    parity = [array for array in present if array.level in _PENALTY]
    if not parity:
        return Fine(", ".join(f"{array.name}: {array.level}, no parity to maintain" for array in present))
    reads = require(often(system.server, "Innodb_data_reads"), "Innodb_data_reads")
    writes = require(often(system.server, "Innodb_data_writes"), "Innodb_data_writes")
    array = max(parity, key=lambda array: _PENALTY[array.level])
    penalty = _PENALTY[array.level]
    now, then = reads + penalty * writes, reads + _MIRRORED * writes
    ratio = now / then if then else 1.0
    sums = (
        f"{array.level}: {reads:.0f} reads/s + {penalty} x {writes:.0f} writes/s = {now:.0f} disk I/Os/s; "
        f"raid10: {reads:.0f} + {_MIRRORED} x {writes:.0f} = {then:.0f}"
    )
    if writes < _WRITES_PER_SECOND or ratio < _RATIO:
        return Fine(f"{array.name} ({sums}): the load writes too little for it to matter")
    size: Size = "large" if ratio >= 1.7 else "medium"
    return finding(
        title=f"{array.level} makes {ratio:.1f} times the disk I/O of raid10 under this load",
        evidence=(
            f"{sums}: {ratio:.1f} times",
            f"{writes / (reads + writes):.0%} of InnoDB's I/Os are writes; full stripes would cost less",
        ),
        recommendation=f"rebuild {array.name} as RAID 10, or move the data to mirrored disks",
        changes=by_hand(
            f"when the storage is next renewed, use RAID 10 instead of {array.level} "
            f"({array.devices} disks then hold the data of {array.devices // 2})"
        ),
        severity=Severity.MEDIUM,
        effect=better(
            "throughput",
            size,
            f"up to {ratio:.1f} times the writes where the disks are the bottleneck; no effect elsewhere",
        ),
    )
