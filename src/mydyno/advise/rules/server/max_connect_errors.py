"""How many interrupted handshakes in a row block a client's host.

The server counts connections of each host that broke off before the handshake was done, and refuses the
host from max_connect_errors on ("Host is blocked because of many connection errors") until FLUSH HOSTS.
The count starts anew with each success. It was meant against attackers and mostly hits load balancers and
monitors that open the port and say nothing, and then every application on that address. The default of 100
is reached in minutes by a probe every second. With skip_name_resolve there is no host cache, and nothing
is counted.
"""

from __future__ import annotations

from mydyno.advise.counts import uptime
from mydyno.advise.finding import Effect, Finding, Severity
from mydyno.advise.rule import Fine, Judgement, NotHere, Rule, Unknown
from mydyno.advise.setting import settings
from mydyno.advise.targets import Targets
from mydyno.facts import System

_NAME = "max_connect_errors"
_SMALL = 1_000
_WANTED = 100_000
_MANY = 100


def _judge(system: System, _: Targets) -> Judgement:
    server = system.server
    now, aborted = server.number(_NAME), server.counter("Aborted_connects")
    if now is None or aborted is None:
        return Unknown(f"{_NAME} or Aborted_connects")
    if server.switch("skip_name_resolve"):
        return NotHere("with skip_name_resolve hosts are not looked up and their errors not counted")
    if now > _SMALL or aborted < _MANY:
        return Fine(f"{aborted:.0f} handshakes broke off {uptime(server)}, {now} in a row block a host")
    return Finding(
        rule=RULE.id,
        title=f"{aborted:.0f} handshakes broke off, and {now} in a row block a host",
        evidence=(
            f"Aborted_connects = {aborted:.0f} {uptime(server)}",
            f"{_NAME} = {now}: a probe every second that breaks off is blocked after {now} seconds",
        ),
        recommendation=f"set {_NAME} to {_WANTED}, and find out who breaks off (rule aborted-connects)",
        changes=settings(server, {_NAME: _WANTED}),
        severity=Severity.MEDIUM,
        effect=Effect(
            aspect="stability",
            direction="better",
            size="small",
            says="no host is locked out by its own monitor or load balancer",
        ),
        risk="it is a weak guard against guessing of passwords; a firewall is a better one",
    )


RULE = Rule(
    id="max-connect-errors",
    layer="connections",
    checks="max_connect_errors where many handshakes break off",
    why="A host whose probes break off is refused altogether from then on, its application too.",
    expected="no blocked hosts; no effect on speed",
    durability="none",
    risk="a little more patience with hosts that try passwords",
    sources=(
        "MySQL Reference Manual, Host 'host_name' is blocked; DNS Lookups and the Host Cache",
        "MariaDB Documentation, Server System Variables, max_connect_errors",
    ),
    judge=_judge,
    variables=(_NAME,),
)
