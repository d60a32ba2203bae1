"""Whether the server asks DNS for the name of each client's address.

Without skip_name_resolve the server looks up the name of a TCP client's address, and the address of that
name, before it checks the password. The host cache remembers both, so a good DNS costs nothing noticeable;
a slow or broken one delays every new host for seconds. With it accounts are known by address alone: an
account whose host is a name can no longer log in. Only you know whether such accounts are in use, so this
is done by hand.
"""

from mydyno.advisor.rules import *

_NAME = "skip_name_resolve"
_MANY = 1.0
"""New connections each second."""
_ACCOUNTS = (
    "SELECT user, host FROM mysql.user"
    " WHERE host <> 'localhost' AND host REGEXP '[[:alpha:]]' AND host NOT LIKE '%:%';"
)


@Rule(
    checks="skip_name_resolve where clients connect often",
    why="A slow DNS delays each new client, and a broken one refuses it.",
    expected="connecting no longer depends on DNS; nothing where DNS is good, since the host cache hides "
    "most of it",
    risk="accounts whose host is a name can no longer log in",
    sources=(
        "MySQL Reference Manual, DNS Lookups and the Host Cache",
        "MariaDB Documentation, Server System Variables, skip_name_resolve",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    skipped = require(server.switch(_NAME), _NAME)
    rate = require(often(server, "Connections"), "Connections")
    if skipped:
        return Fine("addresses are not looked up")
    if server.switch("skip_networking"):
        return NotHere("this server takes no connections over TCP")
    if rate < _MANY:
        return Fine(f"{a_second(rate)} new connections: too few for DNS to matter")
    failed = server.counter("Connection_errors_peer_address") or 0
    return finding(
        title=f"The server may ask DNS for {a_second(rate)} new connections",
        evidence=(
            f"{_NAME} = OFF, Connections grows by {a_second(rate)}",
            f"Connection_errors_peer_address = {failed:.0f} (addresses that could not be looked up)",
            *_named_hosts(system.server),
        ),
        recommendation=f"set {_NAME} = ON once no account is bound to a host's name",
        changes=by_hand(
            f"give accounts that name a host its address instead, then set {_NAME} = ON and restart",
            _ACCOUNTS,
        ),
        severity=Severity.MEDIUM if failed else Severity.LOW,
        effect=better("latency", "small"),
        restart=True,
    )


def _named_hosts(server: Server) -> tuple[str, ...]:
    if server.accounts is None:
        return ()
    hosts = server.accounts.named_hosts
    listed = f": {first(hosts)}" if hosts else ""
    return (f"accounts are bound to {counted(len(hosts), 'name')} of hosts{listed}",)
