"""A system in a few lines: which server, on what, and how long it was watched."""

from collections.abc import Iterator
from datetime import UTC, datetime

from mydyno.core.plurals import counted
from mydyno.core.units import format_bytes
from mydyno.survey.facts import Host, Server, System


def system_lines(system: System) -> Iterator[str]:
    """What was read, for people. What is not known is left out, or said where advice needs it."""
    server, host = system.server, system.host
    place = f" at {server.address}" if server.address else ""
    yield f"{server.release}{place}, read {moment(system.read_at)}"
    if roles := list(_roles(server)):
        yield ", ".join(roles)
    yield ("its host was not read: no advice on memory, disks and kernel" if host is None else _host(host))
    if host is not None and (places := _places(host)):
        yield places
    yield _load(server)


def _roles(server: Server) -> Iterator[str]:
    role = server.role
    if role.managed:
        yield role.managed
    if role.galera:
        yield "a Galera node"
    if role.group_replication:
        yield "a member of Group Replication"
    if role.replica:
        yield "a replica"
    if role.source:
        yield "a replication source"


def _host(host: Host) -> str:
    parts = [f"{format_bytes(host.memory.total)} of memory"]
    if host.memory.limit is not None:
        parts[0] += f" ({format_bytes(host.memory.limit)} for the server's control group)"
    parts.append(f"{counted(host.cpu.count, 'CPU')}")
    if host.kernel.release:
        parts.append(f"Linux {host.kernel.release}")
    if host.distribution:
        parts.append(host.distribution)
    if host.container:
        parts.append("in a container")
    elif host.virtualisation not in (None, "none"):
        parts.append(f"a guest of {host.virtualisation}")
    return ", ".join(parts)


def _places(host: Host) -> str | None:
    """`data on /var/lib/mysql: xfs on md0 (raid10 of 4 nvme disks), 120G free`."""
    storage = host.storage
    place = storage.of("data")
    if place is None:
        return None
    disks, array = storage.disks_of(place), storage.array_of(place)
    kinds = sorted({disk.kind for disk in disks if disk.kind})
    text = f"data on {place.mount_point}: {place.kind}"
    if array is not None:
        text += f" on {array.name} ({array.level} of {array.devices} {' and '.join(kinds)} disks)"
    elif disks:
        text += f" on {', '.join(disk.name for disk in disks)} ({' and '.join(kinds) or 'unknown kind'})"
    return text + (f", {format_bytes(place.free_bytes)} free" if place.free_bytes is not None else "")


def _load(server: Server) -> str:
    parts = []
    uptime = server.uptime_seconds
    if uptime is not None:
        parts.append(f"up for {_age(uptime)}")
    parts.append(f"counters watched for {server.status.seconds:.0f} s")
    queries = server.rate("Queries")
    if queries is not None:
        parts.append(f"{queries:.0f} statements a second")
    schema = server.schema_facts
    if schema is None:
        parts.append("its schema was not read")
    else:
        size = format_bytes(schema.innodb_bytes) if schema.innodb_bytes is not None else "an unknown size"
        least = "at least " if schema.partial else ""
        parts.append(f"{least}{counted(schema.tables, 'table')}, {size} of InnoDB")
    return ", ".join(parts)


def _age(seconds: float) -> str:
    if seconds >= 2 * 86_400:
        return f"{seconds / 86_400:.0f} days"
    return f"{seconds / 3600:.0f} hours" if seconds >= 2 * 3600 else f"{seconds / 60:.0f} minutes"


def moment(text: str) -> str:
    """`2026-11-21 23:45 UTC`; as it is written when it is not a time."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
