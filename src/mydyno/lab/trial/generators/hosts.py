"""The machines of `load.hosts`: what is checked before a run, and what a server opens to them."""

from __future__ import annotations

from pathlib import Path

from mydyno.core.errors import UsageError
from mydyno.lab.plan import Plan, Point
from mydyno.lab.spec import Load
from mydyno.lab.stack.server.opening import ANYWHERE, LOAD_USER, Opening
from mydyno.lab.trial.generators.driver import Generator, about, offset_of
from mydyno.lab.trial.job import database_of
from mydyno.machine.hosts.machines import Machines
from mydyno.machine.protocol import Host

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def examine_generators(plan: Plan, machines: Machines) -> None:
    """Connects to each. Raises UsageError for one that is unknown or not for load, HostError."""
    if plan.load is None:
        return
    for name in plan.load.hosts:
        machines.examine(name, "load")
        offset_of(machines.host(name))
    for point in plan.points:
        opening_of(plan.load, point, machines)


def opening_of(load: Load | None, point: Point, machines: Machines) -> Opening | None:
    """What the point's server opens to the generators; None where there are none. Raises UsageError."""
    if load is None:
        return None
    server, address = point.setup.host.name, load.address
    if address is None and server is not None:
        address = machines.entry(server).address
    if address is None:
        raise UsageError(
            f"the host {server} has no address in hosts.yaml at which {' and '.join(load.hosts)} reach its "
            "server",
            f"hosts.yaml: {server}: {{address: 10.0.0.5}}, or load.address in the experiment",
        )
    clients = tuple(machines.entry(name).address or ANYWHERE for name in load.hosts)
    return Opening(address, load.port, clients, database_of(point))


def opened(plan: Plan, machines: Machines) -> tuple[str, ...]:
    """What the servers of a plan open, and to whom, a sentence each."""
    if plan.load is None:
        return ()
    openings = {
        (point.setup.host.name or "this machine", opening)
        for point in plan.points
        if (opening := opening_of(plan.load, point, machines)) is not None
    }
    return tuple(_sentence(where, opening, plan.load) for where, opening in sorted(openings, key=repr))


def _sentence(where: str, opening: Opening, load: Load) -> str:
    port = f"TCP port {opening.port}" if opening.port else "a free TCP port"
    from_where = ", ".join(
        f"{name} ({'any address' if client == ANYWHERE else client})"
        for name, client in zip(load.hosts, opening.clients, strict=True)
    )
    return (
        f"OPENS {port} on {opening.address} of {where} while a trial runs, to {from_where}: the server lets "
        f"in the account {LOAD_USER} alone, which gets a random password at each start and rights on the "
        f"schema {opening.schema}; what is sent is not encrypted"
    )


def generators_of(load: Load, machines: Machines, server: Host) -> tuple[Generator, ...]:
    """Connected, in the order of the file. Raises EngineError with the host's name."""
    found = []
    for name in load.hosts:
        with about(name):
            host = machines.host(name)
            there = host.read_text(_BOOT_ID)
            found.append(Generator(name, host, there is not None and there == server.read_text(_BOOT_ID)))
    return tuple(found)
