"""`mydyno hosts`: other machines that hosts.yaml names, and what they are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mydyno.cli import options, screen
from mydyno.cli.application import Application
from mydyno.cli.declare import argument, option
from mydyno.cli.shown import aligned, show_table
from mydyno.core.errors import ExitCode
from mydyno.core.units import format_bytes

if TYPE_CHECKING:
    from mydyno.core.facts import FarStorageFacts
    from mydyno.machine.hosts.check import HostCheck, HostFacts

HostsFile = Annotated[
    Path,
    option("--hosts", "The file that names the hosts (docs/reference/hosts.md).", show_default="hosts.yaml"),
]
_Names = Annotated[list[str] | None, argument("NAME", "Hosts of the file.", show_default="all")]
DEFAULT_FILE = Path("hosts.yaml")

commands = Application(
    name="hosts",
    help="""List and check other machines: reachable, rights, tools, clock, disk, load.

`hosts.yaml` names them, how each is reached, and what it is for:

```yaml
hosts:
  db1: ssh:mysql@db1.example
  c1: {destination: c1.example, roles: [load]}
```

```text
mydyno hosts list
mydyno hosts check db1
```
""",
)


@commands.command("list")
def list_hosts(
    names: _Names = None, hosts: HostsFile = DEFAULT_FILE, as_json: options.AsJson = False
) -> None:
    """List the hosts of the file. Connects to none.

    ```text
    mydyno hosts list
    mydyno hosts list --hosts cluster.yaml --json
    ```
    """
    from mydyno.machine.hosts.entry import chosen, read_hosts

    entries = chosen(read_hosts(hosts), names or ())
    if as_json:
        listed = [{"name": name, **entry.model_dump(mode="json")} for name, entry in entries.items()]
        screen.echo_json(listed)
        return
    rows = [
        (name, f"{entry.launcher}:{entry.destination}", ", ".join(entry.roles))
        for name, entry in entries.items()
    ]
    show_table(("name", "address", "roles"), rows)


@commands.command()
def check(names: _Names = None, hosts: HostsFile = DEFAULT_FILE, as_json: options.AsJson = False) -> None:
    """Connect to hosts and show what they are.

    Shows the rights of the user there, the kernel, installed servers and tools, which storage can be built,
    the clock's offset, free disk, load, and whether a server listens on port 3306. mydyno's programs are
    copied to ~/.cache/mydyno/agent there when they are missing; nothing else is changed. Ends with exit
    code 4 when a host cannot be used.

    ```text
    mydyno hosts check
    mydyno hosts check db1 --json | jq '.[0].facts.clock'
    ```
    """
    from concurrent.futures import ThreadPoolExecutor

    from mydyno.machine.hosts.check import check_host
    from mydyno.machine.hosts.entry import chosen, read_hosts

    entries = chosen(read_hosts(hosts), names or ())
    with ThreadPoolExecutor(max_workers=16) as workers:
        checks = list(workers.map(check_host, entries, entries.values()))
    if as_json:
        screen.echo_json([one.as_json() for one in checks])
    else:
        for one in checks:
            for line in _described(one):
                screen.echo(line)
    if any(one.facts is None for one in checks):
        raise typer.Exit(ExitCode.SERVER)


def _described(check: HostCheck) -> Iterator[str]:
    yield f"{check.name} ({check.address}; {', '.join(check.roles)})"
    facts = check.facts
    if facts is None:
        yield f"  cannot be used: {check.problem}"
        if check.hint:
            yield f"  hint: {check.hint}"
        return
    yield from (f"  {line}" for line in aligned(list(_rows(facts))))


def _rows(facts: HostFacts) -> Iterator[tuple[str, str]]:
    from mydyno.machine.hosts.check import MYSQL_PORT, SERVERS, TOOLS

    rights = {"root": "root", "sudo": "sudo without a password", "ordinary": "no root"}[facts.rights]
    yield "user", f"{facts.user} ({rights})"
    yield "system", f"{facts.distribution or 'unknown distribution'}, kernel {facts.kernel}"
    yield "machine", f"{facts.cpus} CPUs, {format_bytes(facts.memory_bytes)} of memory"
    yield "server", ", ".join(each for each in SERVERS if each in facts.tools) or "none installed"
    tools = [each for each in TOOLS if each not in SERVERS]
    yield "tools", ", ".join(each for each in tools if each in facts.tools) or "none"
    if missing := [each for each in tools if each not in facts.tools]:
        yield "missing", ", ".join(missing)
    yield "storage", _storage(facts.storage)
    clock = facts.clock
    yield "clock", f"{1000 * clock.seconds:+.3f} ms ± {1000 * clock.error:.3f} ms"
    free = "unknown" if facts.free_bytes is None else format_bytes(facts.free_bytes)
    yield "disk", f"{free} free in {facts.folder}"
    load = "unknown" if facts.load is None else f"{facts.load:.2f}"
    state = "another run of mydyno is there" if facts.in_use else "busy" if facts.busy else "idle"
    yield "load", f"{load} over 1 minute: {state}"
    if facts.listens:
        yield "warning", f"a server listens on port {MYSQL_PORT}: is this host in production?"


def _storage(facts: FarStorageFacts) -> str:
    """Which storage an experiment can have there."""
    from mydyno.lab.plan.grounds import CAPABILITIES, DISKS, FILES, far_offer

    disks = far_offer(DISKS, facts)
    if not disks.has:
        return f"no: {disks.why} (hint: {disks.hint})"
    files = far_offer(FILES, facts)
    kinds = "loop devices, real disks" if files.has else f"real disks alone, since {files.why}"
    lacking = [each for each in CAPABILITIES if each != "boots" and not far_offer(each, facts).has]
    return f"{kinds}; all but {', '.join(lacking)}" if lacking else f"{kinds}; everything"
