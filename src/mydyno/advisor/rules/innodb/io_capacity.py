"""How many writes a second InnoDB may use when it flushes in the background.

innodb_io_capacity is the pace at which dirty pages are written ahead of need, innodb_io_capacity_max what
it may take when it has fallen behind. Far below what the disks can do, dirty pages accumulate until all
queries wait for them; far above, pages are written too early, again and again, and the disk is busy when a
query needs it.

Where the disk was measured (`--measure`), half of its random writes is advised: each page is written twice
(doublewrite), and reads need the rest. Where it was not, a modest number for the kind of disk; no number is
advised for a hypervisor's disk, unless its requests take less than a millisecond each, which no rotating
disk does: then that of an SSD. Where nothing is known, a number of 100 or less is raised to 200, the lowest
default of any release: 100 is meant for a single slow disk. A number is lowered only where it is twice what
the disk can do or more. MySQL's default is 10,000 since 8.4 and 200 before, MariaDB's is 200, about what
two rotating disks do.
"""

from mydyno.advisor.innodb import data_disk_kinds
from mydyno.advisor.rules import *

_NAME, _MAX = "innodb_io_capacity", "innodb_io_capacity_max"
_BY_KIND = {"nvme": 2000, "ssd": 1000, "rotating": 200}
_LEAST, _MOST = 100, 20_000
_FAR_ABOVE = 4
"""Half of a measurement times this is twice what the disk can do."""
_PRESSED = 0.6
_USUAL = 200
"""The least default of any release."""
_NO_ARM_SECONDS = 0.001
_ENOUGH_REQUESTS = 10_000


@Rule(
    checks="innodb_io_capacity and its maximum compared with what the disks can do, measured or by their "
    "kind",
    why="It sets the rate of background writes: too low and queries wait in the end, too high and pages "
    "are written over and over.",
    expected="steadier throughput under writes",
    risk="at too high a rate pages are written too often; half of a measured rate leaves headroom",
    sources=(
        'MySQL Reference Manual, "Configuring InnoDB I/O Capacity"',
        'MySQL 8.4 Reference Manual, "What Is New in MySQL 8.4 since MySQL 8.0", table of new defaults',
        'MariaDB Documentation, "InnoDB System Variables", innodb_io_capacity',
    ),
    variables=(_NAME, _MAX),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    now = server.number(_NAME)
    if now is None or not server.has(_MAX):
        return Unknown(_NAME)
    wanted, because, measured = _wanted(system)
    if wanted is None and now >= _USUAL:
        return Unknown(f"what the data's disks can do: {because}")
    if wanted is None:
        wanted, because = _USUAL, f"{because}; {_USUAL} is the lowest default of any release"
    too_high = now > _FAR_ABOVE * wanted and (measured or wanted == _BY_KIND["rotating"])
    if now * 2 > wanted and not too_high:
        return Fine(f"{_NAME} is {now}; {because}: about {wanted}")
    changes = settings(server, _in_order(now, wanted))
    if not changes:
        return Fine(f"{_NAME} is {now}")
    pressed = _pressed(system)
    return finding(
        title=f"InnoDB is set to {now} writes a second; the disks suit {wanted}",
        evidence=(because, f"{_NAME} = {now}, {_MAX} = {server.text(_MAX)}", *_of_load(server)),
        recommendation=f"set {_NAME} to {wanted} and {_MAX} to {2 * wanted}",
        changes=changes,
        severity=Severity.MEDIUM if pressed else Severity.LOW,
        effect=better(
            "stability",
            "medium" if pressed and not too_high else "small",
            "no bursts of writes that queries wait for"
            if too_high
            else "dirty pages are written in time, before queries wait for it",
        ),
    )


def _wanted(system: System) -> tuple[int | None, str, bool]:
    """The advised pace, why, and whether the disk was measured."""
    storage = system.host.storage if system.host else None
    speed = storage.speed_of(storage.of("data")) if storage else None
    if speed is not None:
        half = round(speed.write_iops / 2, -2)
        wanted = int(min(max(half, _LEAST), _MOST))
        return wanted, f"half of {speed.write_iops:,.0f} measured random writes/s", True
    kinds = data_disk_kinds(system)
    if kinds is None or "virtual" in kinds:
        quick = _quick(system)
        if quick is not None:
            return _BY_KIND["ssd"], quick, False
        if kinds is None:
            return None, "which disks the data is on is not known", False
        return None, "a hypervisor's disk does not show it; use `--measure`", False
    slowest = min(kinds, key=lambda kind: _BY_KIND[kind])
    return _BY_KIND[slowest], f"the data is on {' and '.join(sorted(kinds))}", False


def _quick(system: System) -> str | None:
    """That the disks under the data are faster than any rotating disk, in words; None: not so, not known."""
    storage = system.host.storage if system.host else None
    disks = storage.disks_of(storage.of("data")) if storage else ()
    if not disks:
        return None
    slowest = 0.0
    for disk in disks:
        for requests, seconds in ((disk.reads, disk.read_seconds), (disk.writes, disk.write_seconds)):
            if requests is None or seconds is None or requests < _ENOUGH_REQUESTS:
                return None
            slowest = max(slowest, seconds / requests)
    if slowest >= _NO_ARM_SECONDS:
        return None
    names = ", ".join(disk.name for disk in disks)
    microseconds = f"{slowest * 1e6:,.0f} us on average since boot"
    return f"{names}: a request takes {microseconds}, faster than any rotating disk"


def _in_order(now: int, wanted: int) -> dict[str, Setting]:
    """Neither may pass the other for a moment: the server would adjust it."""
    both: list[tuple[str, Setting]] = [(_NAME, wanted), (_MAX, 2 * wanted)]
    return dict(reversed(both)) if wanted > now else dict(both)


def _pressed(system: System) -> bool:
    age = checkpoint_age(system)
    waits = system.server.rate("Innodb_buffer_pool_wait_free") or 0.0
    return waits > 0 or (age is not None and age[0] > _PRESSED * age[1])


def _of_load(server: Server) -> tuple[str, ...]:
    flushed = often(server, "Innodb_buffer_pool_pages_flushed")
    dirty, total = (server.counter(f"Innodb_buffer_pool_pages_{kind}") for kind in ("dirty", "total"))
    lines = [] if flushed is None else [f"{flushed:,.1f} pages are written each second"]
    if dirty is not None and total:
        lines.append(f"{dirty / total:.0%} of the buffer pool is dirty")
    return tuple(lines)
