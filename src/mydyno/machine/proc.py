"""What /proc says, as numbers. Pure: it takes the files' texts. Sources: proc(5), Linux iostats.rst."""

import re

from mydyno.core.record import Record

TICKS_PER_SECOND = 100
"""USER_HZ, the unit of CPU times that user space sees: 100 on x86 and ARM, whatever the kernel's HZ is."""
_MODES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
_SECTOR_BYTES = 512


class DiskCounters(Record):
    """One block device since boot; `busy_s` is the time with at least one request at work."""

    reads: int
    read_bytes: int
    writes: int
    write_bytes: int
    busy_s: float


class ProcessCounters(Record):
    """One process with all its threads; what its files do not say, or may not be read, is None."""

    cpu_s: float | None = None
    """User and system time together by the process's CPU clock; None where only ticks were read."""
    cpu_user_s: float
    cpu_system_s: float
    rss_bytes: int
    threads: int
    voluntary_switches: int | None
    involuntary_switches: int | None
    instructions: int | None = None
    """In user space since the first sample, with `cache_misses`; None without such counters."""
    cache_misses: int | None = None
    read_bytes: int | None
    write_bytes: int | None


def cpu_seconds(stat: str) -> dict[str, float]:
    """CPU seconds since boot over all CPUs by mode, from /proc/stat; empty for the text of another file."""
    words = next((line for line in stat.splitlines() if line.startswith("cpu ")), "").split()[1:]
    return {mode: int(word) / TICKS_PER_SECOND for mode, word in zip(_MODES, words, strict=False)}


def cpu_count(stat: str) -> int:
    """CPUs that are online, from /proc/stat."""
    return len(re.findall(r"^cpu\d", stat, re.MULTILINE))


def context_switches(stat: str) -> int:
    """Since boot, from /proc/stat."""
    match = re.search(r"^ctxt (\d+)", stat, re.MULTILINE)
    return int(match[1]) if match else 0


def disks(diskstats: str) -> dict[str, DiskCounters]:
    """Block devices that have done something since boot, by name, from /proc/diskstats."""
    counters = {}
    for line in diskstats.splitlines():
        _, _, name, *words = line.split()
        numbers = [int(word) for word in words]
        if numbers[0] or numbers[4]:
            counters[name] = DiskCounters(
                reads=numbers[0],
                read_bytes=numbers[2] * _SECTOR_BYTES,
                writes=numbers[4],
                write_bytes=numbers[6] * _SECTOR_BYTES,
                busy_s=numbers[9] / 1000,
            )
    return counters


def process(status: str, stat: str, io: str | None) -> ProcessCounters:
    """One process, from its files `status`, `stat` and `io`."""
    lines = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    # The command's name, in brackets, may hold anything; 14 and 15 are utime and stime.
    fields = stat[stat.rindex(")") + 2 :].split()
    counters = dict(line.split(":", 1) for line in (io or "").splitlines() if ":" in line)

    def whole(of: dict[str, str], name: str) -> int | None:
        return int(of[name].split()[0]) if name in of else None

    return ProcessCounters(
        cpu_user_s=int(fields[11]) / TICKS_PER_SECOND,
        cpu_system_s=int(fields[12]) / TICKS_PER_SECOND,
        rss_bytes=(whole(lines, "VmRSS") or 0) * 1024,
        threads=whole(lines, "Threads") or 0,
        voluntary_switches=whole(lines, "voluntary_ctxt_switches"),
        involuntary_switches=whole(lines, "nonvoluntary_ctxt_switches"),
        read_bytes=whole(counters, "read_bytes"),
        write_bytes=whole(counters, "write_bytes"),
    )


def kib(text: str, name: str) -> int | None:
    """Bytes of a line `NAME: 12 kB` of meminfo, of a node's (which begins with `Node 0`) or of a `status`."""
    line = re.search(rf"^(?:Node \d+ )?{name}:\s+(\d+) kB$", text, re.MULTILINE)
    return int(line[1]) * 1024 if line else None


def limits(text: str) -> dict[str, tuple[int | None, int | None]]:
    """Soft and hard limit by the kernel's names (`Max open files`), from a process's file `limits`; None:
    unlimited (proc_pid_limits(5))."""
    rows = re.findall(r"^(Max .*?)\s{2,}(\d+|unlimited)\s+(\d+|unlimited)\s", text, re.MULTILINE)
    return {name: (_limit(soft), _limit(hard)) for name, soft, hard in rows}


def _limit(word: str) -> int | None:
    return None if word == "unlimited" else int(word)


def has_capability(status: str, number: int) -> bool:
    """Whether a process's file `status` has it in its effective set: root in a container may lack it."""
    match = re.search(r"^CapEff:\s*([0-9a-f]+)$", status, re.MULTILINE)
    return match is not None and bool(int(match[1], 16) >> number & 1)


def written_characters(io: str) -> int:
    """Bytes that a process has written by its calls, from its file `io`."""
    match = re.search(r"^wchar: (\d+)", io, re.MULTILINE)
    return int(match[1]) if match else 0
