"""Huge pages that are reserved and unused, or needed and missing.

Memory reserved by vm.nr_hugepages is available only as huge pages. A server without large_pages leaves all
of it unused. A server with large_pages takes its buffer pool from there, and falls back to ordinary pages
when there are too few, with a line in its error log: then the memory is taken twice.
"""

from mydyno.advisor.rules import *

_WASTE = 0.01


@Rule(
    checks="whether reserved huge pages and large_pages fit together",
    why="A server that does not use reserved huge pages loses that memory; too few are not used for the "
    "pool.",
    expected="more usable memory, or a pool in huge pages",
    risk="another program may need the reserved pages",
    sources=(
        "Linux kernel documentation, HugeTLB Pages",
        "MySQL Reference Manual, Enabling Large Page Support",
    ),
)
def rule(system: System, targets: Targets) -> Judgement:
    memory = system.host.memory if system.host else None
    if memory is None or memory.huge_pages_total is None or memory.huge_page_bytes is None:
        return Unknown("how many huge pages are reserved")
    reserved = memory.huge_pages_total * memory.huge_page_bytes
    wanted = system.server.switch("large_pages")
    numbers = (
        f"{memory.huge_pages_total} huge pages of {format_bytes(memory.huge_page_bytes)} = "
        f"{format_bytes(reserved)} reserved"
    )
    if wanted:
        pool = pool_bytes(system, targets) or 0
        if reserved >= pool:
            return Fine(f"large_pages is ON; {numbers} for a buffer pool of {format_bytes(pool)}")
        return _too_few(memory, pool, numbers)
    if not reserved:
        return NotHere("no huge pages are reserved and large_pages is off")
    idle = reserved
    if memory.huge_pages_free is not None:
        idle = memory.huge_pages_free * memory.huge_page_bytes
    if idle < memory.total * _WASTE:
        return Fine(f"{numbers}, used by another program")
    return finding(
        title=f"{format_bytes(idle)} of memory are reserved for huge pages that this server does not use",
        evidence=(numbers, f"large_pages = {system.server.text('large_pages') or 'not there'}"),
        recommendation="free the memory, or switch large_pages on",
        changes=by_hand(
            "unless another program needs them, free the reserved pages (and remove vm.nr_hugepages from "
            "sysctl.d)",
            "sysctl vm.nr_hugepages=0",
        ),
        severity=Severity.MEDIUM,
        effect=better(
            "memory",
            "large" if idle > memory.total // 10 else "medium",
            f"{format_bytes(idle)} ({idle / memory.total:.0%} of the machine) become usable",
        ),
        risk="a program that needs huge pages fails to start",
    )


def _too_few(memory: Memory, pool: int, numbers: str) -> Finding:
    size = memory.huge_page_bytes or 1
    need = int(pool * 1.05) // size + 1
    return finding(
        title=f"large_pages is ON, but {numbers} do not hold the buffer pool of {format_bytes(pool)}",
        evidence=(
            f"{numbers}; the pool needs {format_bytes(pool)} x 1.05 / {format_bytes(size)} = {need} pages",
        ),
        recommendation=f"reserve {need} huge pages at boot, or switch large_pages off",
        changes=by_hand(
            "reserve the pages at boot, when memory is not fragmented yet",
            f"echo vm.nr_hugepages={need} > /etc/sysctl.d/hugepages.conf",
        ),
        severity=Severity.MEDIUM,
        effect=better(
            "memory",
            "medium",
            "the pool uses huge pages as configured, instead of ordinary pages in addition to them",
        ),
        risk="memory for huge pages is not available to anything else",
        restart=True,
    )
