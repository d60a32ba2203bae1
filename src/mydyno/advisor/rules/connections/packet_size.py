"""How large one packet may be: a statement, a row, an event of the binary log.

A larger packet is refused and the connection closed. The buffer starts small (net_buffer_length) and grows
to what is needed, so a generous limit costs no memory by itself. Two problems are common: a limit from an
old option file that dies on today's documents and images, and a replica that takes less than its source
sends, which stops replication (error 1236 or 1153). Sessions cannot raise it for themselves.
"""

from collections.abc import Mapping

from mydyno.advisor.rules import *

_NAME = "max_allowed_packet"
_OF_REPLICAS = ("replica_max_allowed_packet", "slave_max_allowed_packet")
_SMALL = 16 << 20
_DYING = 0.01


@Rule(
    checks="max_allowed_packet where connections die, and a replica's limit compared with its source's",
    why="A packet above the limit closes its connection; one in the binary log stops the replica.",
    expected="large rows pass, and memory is taken only by those that are large; no effect on speed",
    sources=(
        "MySQL Reference Manual, Packet Too Large; Replica Server Options, replica_max_allowed_packet",
        "MariaDB Documentation, Server System Variables, max_allowed_packet",
    ),
    variables=(_NAME, *_OF_REPLICAS),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    now = require(server.number(_NAME), _NAME)
    wanted: dict[str, Setting] = {}
    evidence = [f"{_NAME} = {format_bytes(now)}"]
    dying = share(server.counter("Aborted_clients"), server.counter("Connections"))
    if now < _SMALL and dying is not None and dying >= _DYING:
        wanted[_NAME] = "64M"
        evidence.append(f"{dying:.1%} of the connections died, which a packet above the limit also causes")
    stops = _stops(system)
    for name, size in stops.items():
        wanted[name] = "1G"
        evidence.append(f"{name} = {format_bytes(size)}: a larger event stops replication")
    if not wanted:
        return Fine(f"packets may be as large as {format_bytes(now)}")
    return finding(
        title="Replication stops at large rows"
        if stops
        else f"Packets above {format_bytes(now)} are refused",
        evidence=tuple(evidence),
        recommendation=", ".join(f"{name} = {size}" for name, size in wanted.items()),
        changes=settings(server, wanted),
        severity=Severity.HIGH if stops else Severity.LOW,
        effect=better("stability", "medium" if stops else "small"),
    )


def _stops(system: System) -> Mapping[str, int]:
    """A replica's limit, by the name that is not deprecated, when it is below what clients may write."""
    server = system.server
    clients = server.number(_NAME) or 0
    name = next((name for name in _OF_REPLICAS if server.has(name)), None)
    size = server.number(name) if name and server.role.replica else None
    return {} if name is None or size is None or size >= clients else {name: size}
