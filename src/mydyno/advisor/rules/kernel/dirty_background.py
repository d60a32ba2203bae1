"""How much dirty file data the kernel keeps in memory.

Writes through the page cache are written back later: in the background from vm.dirty_background_ratio (10 %
of the available memory) on, and at vm.dirty_ratio (20%) the writer itself is stopped. On a machine with
much memory that is tens of gigabytes, and the sync at the end of it stalls everything on that disk. It
matters only for files written through the page cache: tables when InnoDB does not open them with O_DIRECT,
and the binary log when it is not synced at each commit. A fixed number of bytes is the same on every
machine.
"""

from mydyno.advisor.rules import *

_MUCH = 2 << 30
_BACKGROUND, _MOST = 256 << 20, 1 << 30


@Rule(
    checks="how much dirty file data may collect, where the server writes through the page cache",
    why="Gigabytes of dirty data are written at once, at a sync that statements wait for.",
    expected="shorter stalls when dirty data is synced, on machines with much memory; throughput stays the "
    "same",
    risk="other programs that write much are slowed earlier; the kernel sets the two ratios to 0",
    sources=(
        "Linux kernel documentation, Documentation for /proc/sys/vm, dirty_background_bytes and dirty_bytes",
        "MySQL Reference Manual, innodb_flush_method; sync_binlog",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    host = system.host
    through = _through_page_cache(system.server)
    if host is None or host.memory.available is None:
        return Unknown("the kernel's memory settings")
    begin = require(_background_bytes(host.kernel, host.memory.available), "vm.dirty_background_ratio")
    numbers = f"the kernel starts writing back at {format_bytes(begin)} of dirty data"
    if not through:
        return Fine(f"neither tables nor the binary log are written back by the kernel; {numbers}")
    if begin <= _MUCH:
        return Fine(numbers)
    return finding(
        title=f"Up to {format_bytes(begin)} of dirty data collect in memory before the kernel writes any",
        evidence=(f"{numbers} (memory available: {format_bytes(host.memory.available)})", *through),
        recommendation=f"start writing back at {format_bytes(_BACKGROUND)}, and block writers at "
        f"{format_bytes(_MOST)}",
        changes=by_hand(
            "set both in bytes; to revert, set the two ratios again",
            f"echo vm.dirty_background_bytes={_BACKGROUND} > /etc/sysctl.d/60-dirty.conf",
            f"echo vm.dirty_bytes={_MOST} >> /etc/sysctl.d/60-dirty.conf",
            "sysctl --load /etc/sysctl.d/60-dirty.conf",
        ),
        severity=Severity.MEDIUM,
        effect=better("latency", "small"),
    )


def _through_page_cache(server: Server) -> tuple[str, ...]:
    reasons = []
    if past_page_cache(server) is False:
        reasons.append(
            "tables are written through the page cache (innodb_flush_method "
            f"{server.text('innodb_flush_method')})"
        )
    if server.switch("log_bin") and server.number("sync_binlog") == 0:
        reasons.append("the kernel decides when the binary log is written (sync_binlog = 0)")
    return tuple(reasons)


def _background_bytes(kernel: Kernel, available: int) -> int | None:
    outright = kernel.number("vm.dirty_background_bytes")
    ratio = kernel.number("vm.dirty_background_ratio")
    return outright or (None if ratio is None else available * ratio // 100)
