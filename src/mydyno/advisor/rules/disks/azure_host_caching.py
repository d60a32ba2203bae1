"""How Azure's host caches the disks of a virtual machine.

Each managed disk has its own setting. With ReadWrite the host caches writes: Microsoft recommends that only
for programs that flush persistent data themselves, and makes it the default of the operating system's disk,
where a fresh installation has its data. With ReadOnly reads are served by the host's memory and SSD, and
writes go to the disk and into the cache: good for data that is mostly read, useless for logs, which are not
read. With None everything goes to the disk, which suits logs and busy data. Guides of 2015 have None for
every data disk of MySQL.

Changing it detaches and attaches the disk for a moment: stop the server first.
"""

from mydyno.advisor.rules import *

_LOGS = ("redo log", "binary log")


@Rule(
    checks="the host caching of an Azure virtual machine's disks",
    why="A host's write cache may lose writes; a read cache is useless for logs.",
    expected="no committed transaction lost with the host; a little less latency of logs",
    durability="none, or raised where the host cached writes",
    risk="reads that the host's cache has served go to the disk",
    sources=(
        "Microsoft, Azure premium storage: design for high performance, Disk caching",
        "Microsoft, Azure Instance Metadata Service, Storage metadata",
        "Microsoft Azure, Optimise MySQL on Linux VMs, 2015: host cache preference None",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    host = require(system.host, "the machine")
    if host.cloud != "Microsoft Azure":
        return NotHere("it is not a virtual machine on Azure")
    cached: dict[str, tuple[str, list[str]]] = {}
    for place, files in places(system):
        for disk in host.storage.disks_of(place):
            if disk.host_caching is not None:
                cached.setdefault(disk.name, (disk.host_caching, []))[1].extend(files.split(", "))
    if not cached:
        return Unknown("how the host caches the disks (from Azure's metadata service)")
    numbers = "; ".join(f"{name} ({', '.join(files)}): {how}" for name, (how, files) in cached.items())
    written = sorted(name for name, (how, _) in cached.items() if how == "ReadWrite")
    read_more = _reads_more(system)
    logged = sorted(
        name
        for name, (how, files) in cached.items()
        if how == "ReadOnly" and set(files) & set(_LOGS) and ("data" not in files or read_more is False)
    )
    if not written and not logged:
        return Fine(numbers)
    wrong = written or logged
    return finding(
        title=f"The host caches writes to {', '.join(wrong)}"
        if written
        else f"The host caches {', '.join(wrong)} for reading, and the server mostly writes there",
        evidence=(f"host caching: {numbers}", *_io(system)),
        recommendation=f"set the host caching of {', '.join(wrong)} to None",
        changes=by_hand(
            f"stop the server, set the host caching of {', '.join(wrong)} to None, start it again;"
            " do not keep data on the operating system's disk",
            "az vm update --resource-group GROUP --name VM --disk-caching LUN=None",
        ),
        severity=Severity.HIGH if written else Severity.LOW,
        effect=better(
            "safety" if written else "latency",
            "medium" if written else "small",
            "committed transactions are on the disk, whatever happens to the host"
            if written
            else "writes are not copied to a cache that is never read",
        ),
    )


def _reads_more(system: System) -> bool | None:
    """Whether the server reads more from its data than it writes, by the counts since the start."""
    reads, writes = (system.server.counter(f"Innodb_data_{name}") for name in ("reads", "writes"))
    return None if reads is None or writes is None else reads > writes


def _io(system: System) -> tuple[str, ...]:
    reads, writes = (system.server.counter(f"Innodb_data_{name}") for name in ("reads", "writes"))
    if reads is None or writes is None:
        return ()
    return (f"Innodb_data_reads = {reads:,.0f}, Innodb_data_writes = {writes:,.0f} since the start",)
