"""How many stripes of RAID 4, 5 and 6 the kernel can work on at once.

Every write to a parity array needs a stripe in the stripe cache while old chunks are read and the parity is
computed. With the default of 256 entries a burst of page flushes runs out of them, and writes that belong
to one stripe meet there less often. Its memory is page size x entries x disks. It is not a write cache: a
write is acknowledged when it is on the disks.
"""

from mydyno.advisor.rules import *
from mydyno.core.raid import BY_MD_NAME

_PARITY = tuple(name for name, level in BY_MD_NAME.items() if level.parity_disks)
_FEW, _WANTED = 1024, 4096
_PAGE = 4096
_MEMORY_PART = 0.01
_WRITES_PER_SECOND = 20


@Rule(
    checks="stripe_cache_size of arrays with parity, where the server writes",
    why="A write to RAID 5 or 6 waits for a free stripe; the default is small.",
    expected="more writes in bursts; published gains are for sequential writes, random ones gain little",
    durability="none: it is not a write cache",
    risk="some memory",
    sources=("Linux kernel documentation, RAID arrays, stripe_cache_size", "md(4), md/stripe_cache_size"),
)
def rule(system: System, _: Targets) -> Judgement:
    parity = arrays(system, *_PARITY)
    if system.host is None or parity is None:
        return Unknown("the disks under the server's files")
    if not parity:
        return NotHere("no file of the server is on a software array with parity")
    known = [(array, array.stripe_cache_size) for array in parity if array.stripe_cache_size is not None]
    if not known:
        return Unknown("stripe_cache_size of the arrays")
    numbers = ", ".join(f"{array.name}: {size} entries" for array, size in known)
    few = [(array, size) for array, size in known if size < _FEW]
    if not few:
        return Fine(f"stripe cache of {numbers}")
    writes = require(often(system.server, "Innodb_data_writes"), "Innodb_data_writes")
    if writes < _WRITES_PER_SECOND:
        return Fine(f"{numbers}, and only {writes:.1f} writes/s")
    memory = sum(_memory(array) for array, _ in few)
    sums = (
        f"{format_bytes(_PAGE)} x {_WANTED} x {few[0][0].devices} disks = {format_bytes(_memory(few[0][0]))}"
    )
    if memory > system.host.memory.total * _MEMORY_PART:
        return Fine(f"{numbers}; more would take too much of this machine's memory ({sums})")
    return finding(
        title=f"Few stripes at once for {writes:.0f} writes/s on {', '.join(array.name for array, _ in few)}",
        evidence=(f"stripe_cache_size of {numbers}", f"memory of {_WANTED}: {sums}"),
        recommendation=f"stripe_cache_size = {_WANTED}",
        changes=tuple(
            SetArray(array=array.name, attribute="stripe_cache_size", value=str(_WANTED), was=str(size))
            for array, size in few
        ),
        effect=better("throughput", "small"),
    )


def _memory(array: Array) -> int:
    return _PAGE * _WANTED * array.devices
