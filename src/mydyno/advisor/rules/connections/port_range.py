"""Whether short connections can use up this machine's ports.

Each outgoing TCP connection takes a port of net.ipv4.ip_local_port_range, and the side that closes first
keeps it for a minute more. With the usual 28,232 ports that is about 470 connections a second from one
address to one server port. It counts where the clients run: here only when they are on this machine and
come by TCP. Persistent connections, or the unix socket, are the better solution.
"""

from mydyno.advisor.rules import *

_NAME = "net.ipv4.ip_local_port_range"
_KEPT_SECONDS = 60
"""TIME_WAIT, fixed in the kernel."""
_WANTED = (10240, 65535)


@Rule(
    checks="the rate of new connections compared with the range of local ports",
    why="A closed connection keeps its port for a minute; many short ones exhaust the range.",
    expected="clients on this machine do not run out of ports; for clients elsewhere set it there",
    risk="a service that listens on a port of the range can find it taken: reserve it in "
    "net.ipv4.ip_local_reserved_ports",
    sources=("Linux kernel documentation, IP sysctl, ip_local_port_range", "ip(7), Linux manual page"),
)
def rule(system: System, _: Targets) -> Judgement:
    if system.server.switch("skip_networking"):
        return NotHere("the server takes no TCP connections")
    text = system.host.kernel.sysctls.get(_NAME, "") if system.host else ""
    ends = text.split()
    rate = often(system.server, "Connections")
    if len(ends) != 2 or not all(end.isdigit() for end in ends) or rate is None:
        return Unknown(f"{_NAME} and the rate of new connections")
    ports = int(ends[1]) - int(ends[0]) + 1
    most = ports / _KEPT_SECONDS
    numbers = (
        f"{rate:.0f} new connections/s; {ports} ports / {_KEPT_SECONDS} s = {most:.0f}/s from one address"
    )
    if rate < most / 2 or ports >= _WANTED[1] - _WANTED[0]:
        return Fine(numbers)
    value = f"{_WANTED[0]} {_WANTED[1]}"
    return finding(
        title=f"{rate:.0f} new connections a second come near what {ports} ports allow",
        evidence=(numbers, "counts for clients on this machine that connect by TCP"),
        recommendation=f"keep connections open (a pool) or use the unix socket; or set {_NAME} to {value}",
        changes=(SetSysctl(name=_NAME, value=value, was=" ".join(ends)),),
        effect=better("stability", "small"),
    )
