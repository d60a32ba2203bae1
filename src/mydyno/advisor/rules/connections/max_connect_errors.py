"""How many interrupted handshakes in a row block a client's host.

The server counts connections of each host that broke off before the handshake was done, and refuses the
host from max_connect_errors on ("Host is blocked because of many connection errors") until FLUSH HOSTS.
Wrong passwords and unknown users are not counted here, and each success resets the count. It was meant
against attackers and mostly hits load balancers and monitors that open the port and close it, and then
every application on that address. The default of 100 is reached in minutes by a probe every second. With
skip_name_resolve there is no host cache, and nothing is counted.

performance_schema.host_cache has the counts. Where it cannot be read, MariaDB's Access_denied_errors taken
from Aborted_connects leaves the handshakes; MySQL counts both in Aborted_connects alone.
"""

from mydyno.advisor.rules import *

_NAME = "max_connect_errors"
_SMALL = 1_000
_WANTED = 100_000
_MANY = 100
_NEAR = 0.5
"""Of the limit."""


@Rule(
    checks="max_connect_errors compared with the most errors in a row of one host",
    why="A host whose probes disconnect early is blocked, together with its application.",
    expected="no host is locked out by its own monitor or load balancer; no effect on speed",
    risk="it does not protect against password guessing, which it does not count; use a firewall",
    sources=(
        "MySQL Reference Manual, Host 'host_name' is blocked; DNS Lookups and the Host Cache",
        "MariaDB Documentation, Server System Variables, max_connect_errors",
    ),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    now = server.number(_NAME)
    if not now:
        return Unknown(_NAME)
    if server.switch("skip_name_resolve"):
        return NotHere("with skip_name_resolve hosts are not looked up and their errors not counted")
    errors, evidence, blocked = _handshakes(server, now)
    if errors is None:
        return Unknown("performance_schema.host_cache, which counts handshakes that broke off")
    if now > _SMALL or (not blocked and errors < min(_MANY, _NEAR * now)):
        return Fine(f"{evidence}, {now} in a row block the host")
    return finding(
        title=f"{errors:.0f} handshakes broke off, and {now} in a row block the host",
        evidence=(
            evidence,
            f"{_NAME} = {now}: a probe that connects and disconnects every second is blocked after {now} "
            "seconds",
        ),
        recommendation=f"set {_NAME} to {_WANTED}, and find the clients that disconnect early (rule "
        "aborted-connects)",
        changes=settings(server, {_NAME: _WANTED}),
        severity=Severity.HIGH if blocked else Severity.MEDIUM,
        effect=better("stability", "medium" if blocked else "small"),
    )


def _handshakes(server: Server, limit: int) -> tuple[float | None, str, bool]:
    """How many broke off, the numbers in words, and whether a host is blocked."""
    cache = server.host_cache
    if cache is not None:
        blocked = cache.blocked_errors > 0 or cache.most_errors >= limit
        words = (
            f"host_cache: {cache.most_errors} errors in a row of a host, {cache.handshake_errors} handshakes"
            f" of {cache.hosts} hosts broke off, {cache.blocked_errors} connections were refused for it"
            f" ({cache.authentication_errors} wrong passwords do not count)"
        )
        return cache.most_errors, words, blocked
    aborted, denied = server.counter("Aborted_connects"), server.counter("Access_denied_errors")
    if aborted is None or denied is None:
        return None, "", False
    left = max(0.0, aborted - denied)
    sum_of = f"Aborted_connects {aborted:.0f} - Access_denied_errors {denied:.0f} = {left:.0f}"
    return left, f"{sum_of} handshakes broke off {uptime(server)}", False
