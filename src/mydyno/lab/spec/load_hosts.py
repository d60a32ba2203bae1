"""load: the machines that drive the load, where it does not come from the machine that the server is on."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from mydyno.core.document.addresses import interface_address
from mydyno.core.document.base import Fault, Section, refuse
from mydyno.core.document.problems import Findings
from mydyno.core.document.tree import Location, find, locate
from mydyno.core.document.tree import Mapping as Tree
from mydyno.core.plurals import counted
from mydyno.lab.spec.host import NAME as HOST_NAME
from mydyno.lab.spec.setup import Setup
from mydyno.lab.spec.workload import Workload

MOST_HOSTS = 64
"""Engines that can share a load."""


def _hosts(raw: Any) -> Any:
    names = [raw] if isinstance(raw, str) else raw
    if not isinstance(names, list | tuple) or not 1 <= len(names) <= MOST_HOSTS:
        raise refuse(Fault("is not a list of hosts", f"1 to {MOST_HOSTS} names of hosts.yaml, as [c1, c2]"))
    faults = [
        Fault("is not the name of a host", "a name of hosts.yaml, as c1", at=(place,))
        for place, name in enumerate(names)
        if not isinstance(name, str) or not re.fullmatch(HOST_NAME, name)
    ]
    faults += [
        Fault("is named twice", "each host once", at=(place,))
        for place, name in enumerate(names)
        if name in names[:place]
    ]
    if faults:
        raise refuse(*faults)
    return tuple(names)


class Load(Section):
    """The machines that drive the load. Without this section it comes from the machine of the server."""

    hosts: Annotated[tuple[str, ...], BeforeValidator(_hosts)] = Field(
        description="The generators: names of hosts.yaml with the role `load`. An engine on each starts with "
        "the others and drives its share of the connections, or of the rate "
        "(docs/how-to/other-machines.md).",
        json_schema_extra={
            "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]
        },
        examples=[["c1", "c2"]],
    )
    address: Annotated[str, BeforeValidator(interface_address)] | None = Field(
        default=None,
        description="The IP address of the server's machine that the server listens on for the generators. "
        "Default with `host: ssh:NAME`: the `address` of that host in hosts.yaml.",
        examples=["10.0.0.5"],
    )
    port: Annotated[int, Field(ge=1, le=65535)] | None = Field(
        default=None, description="The TCP port that it listens on. Default: any free one."
    )


_HOSTS: Location = ("load", "hosts")


def refuse_generators(setup: Setup, workload: Workload, tree: Tree, findings: Findings) -> None:
    """What cannot be driven from several machines."""
    node = find(tree, _HOSTS)
    if node is None:
        return
    hosts = node.plain()
    count = len(hosts) if isinstance(hosts, list) else 1
    if not count:
        return

    def refuse_at(at: Location, message: str, allowed: str, *, at_key: bool = False) -> None:
        spot = locate(tree, at)
        findings.add(spot.key if at_key else spot.node.position, message, allowed=allowed)

    if workload.resolved is None:
        generator = workload.generator
        why = (
            "keeps the order of its statements in one engine"
            if workload.trace_options is not None
            else "is not driven by mydyno's engine on several connections"
        )
        message = f"load.hosts: workload.{generator} {why}"
        refuse_at(_HOSTS, message, "a workload of mydyno, as oltp-read-only; or no load.hosts", at_key=True)
        return
    if setup.server.external is not None:
        message = "load.hosts: generators connect to a server that mydyno starts, and this one is external"
        refuse_at(_HOSTS, message, "a server of mydyno's, or no load.hosts", at_key=True)
    elif setup.host.is_guest:
        message = f"load.hosts: a guest (host {setup.host.kind}) has no network that generators could reach"
        refuse_at(_HOSTS, message, "host: local or ssh:NAME", at_key=True)
    elif setup.host.is_fleet:
        message = "load.hosts: hosts of a fleet run their trials side by side, each with a separate load"
        refuse_at(_HOSTS, message, "host: ssh:NAME, or no load.hosts", at_key=True)
    elif setup.host.kind == "local" and find(tree, ("load", "address")) is None:
        message = "load.hosts: the server listens on a unix socket only, which generators cannot reach"
        refuse_at(_HOSTS, message, "load.address: an IP address of this machine that they reach", at_key=True)
    if setup.server.network.enabled:
        message = "server.network is given, but with load.hosts the server listens on load.address"
        refuse_at(("setup", "server", "network"), message, "load.port, or no load.hosts", at_key=True)
    least = min(workload.connections)
    if workload.active is not None:
        least = min(least, workload.active)
    if least < count:
        key = "active" if workload.active == least else "connections"
        message = f"workload.{key} has {least}, and {counted(count, 'generator')} share them"
        refuse_at(("workload", key), message, f"at least {count}, or fewer hosts")
    each = workload.each
    if each is not None and each.events is not None and each.events < count:
        message = f"workload.each.events has {each.events}, and {counted(count, 'generator')} share them"
        refuse_at(("workload", "each"), message, f"at least {count}, or fewer hosts")
