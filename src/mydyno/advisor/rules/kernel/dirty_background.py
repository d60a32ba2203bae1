"""How much written but unsaved file data the kernel lets pile up.

Writes that go by way of the page cache are saved later: in the background from vm.dirty_background_ratio
(10% of the available memory) on, and at vm.dirty_ratio (20%) the writer itself is stopped. On a machine
with much memory that is tens of gigabytes, and the sync at the end of it stalls everything on that disk. It
matters only for files that are written that way: tables when InnoDB does not open them with O_DIRECT, and
the binary log when it is not synced at each commit. A fixed number of bytes is the same on every machine.
"""

from mydyno.advisor.rules import *

_MUCH = 2 << 30
_BACKGROUND, _MOST = 256 << 20, 1 << 30


def _judge(system: System, _: Targets) -> Judgement:
    host = system.host
    through = _through_page_cache(system.server)
    if host is None or host.memory.available is None:
        return Unknown("the kernel's memory settings")
    begin = _background_bytes(host.kernel, host.memory.available)
    if begin is None:
        return Unknown("vm.dirty_background_ratio")
    numbers = f"the kernel begins to save at {format_bytes(begin)} of unsaved data"
    if not through:
        return Fine(f"neither tables nor a binary log are left to the page cache; {numbers}")
    if begin <= _MUCH:
        return Fine(numbers)
    return RULE.finding(
        title=f"Up to {format_bytes(begin)} of writes pile up in memory before the kernel saves any",
        evidence=(f"{numbers} (memory available: {format_bytes(host.memory.available)})", *through),
        recommendation=f"begin at {format_bytes(_BACKGROUND)}, and stop the writer at {format_bytes(_MOST)}",
        changes=by_hand(
            "set both in bytes; the way back is to set the two ratios again",
            f"echo vm.dirty_background_bytes={_BACKGROUND} > /etc/sysctl.d/60-dirty.conf",
            f"echo vm.dirty_bytes={_MOST} >> /etc/sysctl.d/60-dirty.conf",
            "sysctl --load /etc/sysctl.d/60-dirty.conf",
        ),
        severity=Severity.MEDIUM,
        effect=better(
            "latency", "small", "shorter stalls when unsaved data is synced; throughput stays the same"
        ),
        risk="other programs that write much are slowed earlier; the kernel sets the two ratios to 0",
    )


def _through_page_cache(server: Server) -> tuple[str, ...]:
    found = []
    if past_page_cache(server) is False:
        found.append(
            f"tables go by way of the page cache (innodb_flush_method {server.text('innodb_flush_method')})"
        )
    if server.switch("log_bin") and server.number("sync_binlog") == 0:
        found.append("the binary log is left to the page cache (sync_binlog = 0)")
    return tuple(found)


def _background_bytes(kernel: Kernel, available: int) -> int | None:
    outright = kernel.number("vm.dirty_background_bytes")
    ratio = kernel.number("vm.dirty_background_ratio")
    return outright or (None if ratio is None else available * ratio // 100)


RULE = Rule(
    checks="how much unsaved file data may pile up, where the server writes by way of the page cache",
    why="Gigabytes of unsaved data are saved in one go, at a sync that somebody waits for.",
    expected="shorter peaks of latency on machines with much memory",
    risk="programs that write much in short bursts wait earlier",
    sources=(
        "Linux kernel documentation, Documentation for /proc/sys/vm, dirty_background_bytes and dirty_bytes",
        "MySQL Reference Manual, innodb_flush_method; sync_binlog",
    ),
    judge=_judge,
)
