"""What the disk's write cache means for commits.

A disk that reports `write back` has a cache that a power cut empties: the kernel sends it a flush at each
sync (unless barriers are off), and a commit takes as long as that flush: 5 to 15 ms on a rotating disk,
around a millisecond and more on SSDs without capacitors. `write through` means there is no such cache, or
one that survives: flushes are left out, and a commit takes tens of microseconds on a good SSD. Neither is
unsafe. Writing `write through` into sysfs for a disk whose cache is volatile is: nothing can see that from
here.
"""

from mydyno.advisor.rules import *

_SLOW_SECONDS = 0.002
_COMMITS_PER_SECOND = 20


@Rule(
    checks="whether the disks under the redo log have a volatile cache, and what flushing it costs",
    why="A durable commit takes as long as the flush of such a cache.",
    expected="faster durable commits by a better disk",
    risk="never set write_cache to `write through` by hand to save the flush: a power cut loses commits",
    durability="none: both kinds keep what was synced",
    sources=(
        "Linux kernel documentation, Explicit volatile write back cache control",
        "Linux kernel documentation, Queue sysfs files, write_cache",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    storage = system.host.storage if system.host else None
    log = (storage.of("redo log") or storage.of("data")) if storage else None
    caches = {
        disk.name: disk.write_cache
        for disk in (storage.disks_of(log) if storage else ())
        if disk.write_cache is not None
    }
    if storage is None or not caches:
        return Unknown("the write cache of the disks under the redo log")
    numbers = ", ".join(f"{name}: {cache}" for name, cache in caches.items())
    if "write back" not in caches.values():
        return Fine(f"{numbers}: no volatile cache, so flushes cost nothing")
    speed = storage.speed_of(log)
    if speed is None or speed.sync_seconds is None:
        return Fine(
            f"{numbers}: a volatile cache, flushed at each sync; how long that takes was not measured"
        )
    commits = often(system.server, "Handler_commit") or 0.0
    cost = f"a write and its sync take {format_duration(speed.sync_seconds)}"
    if speed.sync_seconds < _SLOW_SECONDS or commits < _COMMITS_PER_SECOND:
        return Fine(f"{numbers}: a volatile cache; {cost}, {commits:.0f} commits/s")
    return finding(
        title=f"Each commit waits {format_duration(speed.sync_seconds)} for the disk's volatile cache",
        evidence=(
            numbers,
            f"{cost}: at most {1 / speed.sync_seconds:.0f} in a row each second; commits together share one",
            f"commits: {commits:.0f}/s",
        ),
        recommendation="use a disk with power-loss protection for the redo log, not a weaker commit",
        changes=by_hand(
            "choose disks with power-loss protection (capacitors) when the storage is next renewed"
        ),
        effect=better("latency", "large", f"commits take well below {format_duration(speed.sync_seconds)}"),
    )
