"""Whether a buffer pool that is larger than one memory node is spread over all of them.

A process gets memory from the node that its thread runs on. The pool is allocated by few threads, so it
fills one node, which then is short of memory (reclaim, swapping) while the other is empty, and all its
bandwidth goes through one controller. innodb_numa_interleave spreads the pool page by page; where a release
does not have it, systemd's NUMAPolicy=interleave (since version 243) or numactl does it for the whole
process. A pool that fits well into one node is not worth it.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_numa_interleave"
_PART = 0.8
"""A pool above this part of a node's memory does not fit there with everything else."""


@Rule(
    checks="whether the buffer pool is spread over the memory nodes when it is larger than one",
    why="Memory comes from the node of the thread that touches it first: a large pool fills one node and "
    "leaves the others empty, and the full one starts to reclaim and swap.",
    expected="no node is full while another is empty; a few per cent of throughput on large machines",
    risk="the pool is allocated at the start, which takes longer",
    sources=(
        "MySQL Reference Manual, innodb_numa_interleave",
        "MariaDB Server Documentation, innodb_numa_interleave",
        "systemd.exec(5), NUMAPolicy=",
        "numa(7), Linux manual page",
    ),
    variables=(_NAME,),
)
def rule(system: System, targets: Targets) -> Judgement:
    host, server = system.host, system.server
    if host is None or host.cpu.numa_nodes is None:
        return Unknown("how many memory nodes the machine has")
    nodes = host.cpu.numa_nodes
    if nodes < 2:
        return NotHere("the machine has one memory node")
    pool = require(pool_bytes(system, targets), "the size of the buffer pool")
    node = min(host.cpu.numa_memory_bytes, default=host.memory.total // nodes)
    sums = f"buffer pool {format_bytes(pool)}, smallest of {nodes} nodes {format_bytes(node)}"
    if pool <= node * _PART:
        return Fine(f"the pool fits into one node: {sums}")
    if server.switch(_NAME):
        return Fine(f"{_NAME} is ON: {sums}")
    unit = unit_of(system)
    policy = (host.process.numa_policy if host.process else None) or ""
    planned = unit.properties.get("NUMAPolicy") if unit else None
    if policy.startswith("interleave") or planned == "interleave":
        return Fine(f"the process's memory is interleaved over the nodes: {sums}")
    changes: tuple[Change, ...] = settings(server, {_NAME: "ON"}) if server.has(_NAME) else ()
    if not changes and unit:
        changes = tuple(
            set_unit(unit, name, value) for name, value in (("NUMAPolicy", "interleave"), ("NUMAMask", "all"))
        )
    if not changes:
        changes = by_hand("start the server by numactl --interleave=all")
    return finding(
        title=f"A buffer pool of {format_bytes(pool)} is not spread over the {nodes} memory nodes",
        evidence=(
            f"{sums}: it does not fit into one",
            f"memory policy of the process: {policy or 'not known'}",
            f"{_NAME} = {server.text(_NAME) or 'not there'}",
        ),
        recommendation="; ".join(change.sentence() for change in changes),
        changes=changes,
        severity=Severity.MEDIUM,
        effect=better("stability", "medium"),
        restart=True,
    )
