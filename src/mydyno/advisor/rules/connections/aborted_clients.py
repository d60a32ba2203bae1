"""Connections that ended without being closed.

Aborted_clients counts connections whose client disappeared, was idle longer than wait_timeout, or sent a
packet above max_allowed_packet. What such a connection had open is rolled back. Many of them mean that a
pool keeps connections longer than the server (or a firewall between them) does, or that the application
ends without closing: then requests fail with error 2006 or 2013.
"""

from mydyno.advisor.rules import *

_SHARE = 0.05
_MANY = 100


@Rule(
    checks="Aborted_clients compared with Connections",
    why="An aborted connection loses its transaction, and the next request on it fails.",
    expected="fewer errors 2006 and 2013 in the application",
    sources=(
        "MySQL Reference Manual, Communication Errors and Aborted Connections; MySQL server has gone away",
        "MariaDB Documentation, Server Status Variables, Aborted_clients",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    died, all_of_them = server.counter("Aborted_clients"), server.counter("Connections")
    part = share(died, all_of_them)
    if died is None or all_of_them is None or part is None:
        return Unknown("Aborted_clients or Connections")
    if part < _SHARE or died < _MANY:
        return Fine(f"{died:.0f} of {all_of_them:.0f} connections were aborted {uptime(server)}")
    timeout, packet = server.text("wait_timeout"), server.text("max_allowed_packet")
    return finding(
        title=f"{part:.0%} of the connections are aborted, not closed",
        evidence=(
            f"{died:.0f} of {all_of_them:.0f} {uptime(server)} (Aborted_clients / Connections)",
            f"wait_timeout = {timeout} s, max_allowed_packet = {packet} bytes",
        ),
        recommendation="let the application's pool close idle connections before the server does",
        changes=by_hand(
            f"set the longest idle time of connections in the application's pool below {timeout} s,"
            " and below what firewalls on the way allow"
        ),
        effect=better("stability", "small"),
    )
