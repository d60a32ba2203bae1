"""How much the kernel reads ahead of requests.

Readahead serves programs that read files through the page cache from front to back. InnoDB with O_DIRECT
goes past it, and has its own readahead: then the kernel's setting touches only other files. Where tables do
go through the page cache, the kernel reads ahead when reads look sequential: it begins small and doubles,
up to this size. With megabytes (large arrays and some tuning guides have it) a short run of neighbours, as
a range scan makes, can bring in hundreds of pages that are not needed. The kernel's default is 128 KiB. On
an array the array's own value counts, not its disks'.
"""

from mydyno.advisor.rules import *

_DEFAULT_KIB, _FAR_OUT_KIB = 128, 1024
_PAGE = 16384


@Rule(
    checks="the kernel's readahead on the data's disk, where InnoDB reads through the page cache",
    why="Pages of tables are read in random order: what is read ahead is thrown away.",
    expected="random reads waste less disk time and page cache; nothing with O_DIRECT, and little else, "
    "since the kernel detects most random access by itself",
    risk="programs that read large files from front to back, as backups do, may become slower",
    sources=(
        "Linux kernel documentation, Queue sysfs files, read_ahead_kb",
        "MySQL Reference Manual, innodb_flush_method",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    storage = require(system.host, "the disks under the data").storage
    data = require(storage.of("data"), "the disks under the data")
    direct = require(past_page_cache(system.server), "innodb_flush_method")
    if data.volume and not data.array:
        return NotHere("a logical volume has its own readahead, which is not checked")
    array = storage.array_of(data)
    devices = (
        {array.name: array.read_ahead_kib}
        if array
        else {disk.name: disk.read_ahead_kib for disk in storage.disks_of(data)}
    )
    known = {name: kib for name, kib in devices.items() if kib is not None}
    if not known:
        return Unknown("the readahead of the disks under the data")
    numbers = ", ".join(f"{name}: {kib} KiB" for name, kib in known.items())
    if direct:
        return Fine(f"InnoDB reads past the page cache, where no readahead happens ({numbers})")
    far = {name: kib for name, kib in known.items() if kib > _FAR_OUT_KIB}
    if not far:
        return Fine(f"tables are read through the page cache; readahead {numbers}")
    most = max(far.values())
    page = (system.server.number("innodb_page_size") or _PAGE) // 1024 or 1
    return finding(
        title=f"The kernel's readahead under the tables is {most} KiB,"
        f" {most // _DEFAULT_KIB} times its default",
        evidence=(
            f"readahead: {numbers}; the kernel's default is {_DEFAULT_KIB} KiB",
            "tables are read through the page cache; where reads look sequential, the kernel reads up to"
            f" {most} KiB / {page} KiB = {most // page} pages at once",
        ),
        recommendation=f"read ahead {_DEFAULT_KIB} KiB",
        changes=tuple(
            SetQueue(disk=name, attribute="read_ahead_kb", value=str(_DEFAULT_KIB), was=str(kib))
            for name, kib in far.items()
        ),
        effect=better("throughput", "small"),
    )
