"""The chunk size of a striped array.

A chunk is the piece of data on one disk before the next disk follows. A page of 16 KiB that crosses a
border occupies two disks, so one request in (chunk / page) does so at worst: a chunk of 4 or 8 KiB splits
every page, 64 KiB one in four when it is not aligned, mdadm's default of 512 KiB hardly any. Small chunks
also cut the sequential writes of logs and scans into many requests. Large chunks cost nothing in random
I/O: the disk of a page is as random as before. On RAID 5 and 6 a full stripe, which needs no reading
before, is chunk times data disks, and a larger chunk makes it rarer.
"""

from mydyno.advisor.rules import *
from mydyno.core.raid import BY_MD_NAME

_STRIPED = tuple(name for name, level in BY_MD_NAME.items() if level.is_striped)
_SMALL = 64 << 10
_DEFAULT = "512K"


@Rule(
    checks="the chunk size of striped arrays compared with InnoDB's page",
    why="A page on two disks takes the time of both.",
    expected="one disk serves one page, and sequential I/O goes in larger requests: more I/O from the same "
    "disks, if the chunk was below 64K; above it nothing",
    risk="a reshape rewrites every disk",
    sources=(
        "mdadm(8), --chunk",
        "md(4), RAID0",
        "Microsoft Azure documentation, Optimize MySQL Performance on Azure Linux VMs, appendix C",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    striped = require(arrays(system, *_STRIPED), "the disks under the server's files")
    if not striped:
        return NotHere("no file of the server is on a striped software array")
    known = {array.name: array.chunk_bytes for array in striped if array.chunk_bytes}
    if not known:
        return Unknown("the chunk size of the arrays")
    page = system.server.number("innodb_page_size") or 16 << 10
    small = {name: chunk for name, chunk in known.items() if chunk < _SMALL or chunk % page}
    numbers = ", ".join(f"{name}: {format_bytes(chunk)}" for name, chunk in known.items())
    if not small:
        return Fine(f"chunks of {numbers} hold pages of {format_bytes(page)} whole")
    splits = "; ".join(
        f"{name}: a page of {format_bytes(page)} meets {-(-page // chunk)} chunk(s) or more"
        if chunk < page
        else f"{name}: up to {page / chunk:.0%} of the pages cross a border"
        for name, chunk in small.items()
    )
    return finding(
        title=f"Small chunks split the server's I/O: {numbers}",
        evidence=(f"chunk: {numbers}; mdadm's default is {_DEFAULT}", splits),
        recommendation=f"use chunks of {_DEFAULT} when the array is next rebuilt",
        changes=by_hand(
            "rebuild the array with the default chunk; or reshape it, which takes days and needs a backup",
            *tuple(f"mdadm --grow /dev/{name} --chunk=512" for name in small),
        ),
        severity=Severity.LOW if all(chunk >= page for chunk in small.values()) else Severity.MEDIUM,
        effect=better("throughput", "medium" if any(chunk < page for chunk in small.values()) else "small"),
    )
