"""`mydyno doctor`: what this machine can do, and what to install for the rest."""

import dataclasses
import os
import platform
import resource
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import typer

from mydyno.cli import options, screen
from mydyno.cli.declare import option
from mydyno.cli.doctor_grounds import GroundCheck, examine_grounds, show
from mydyno.core.errors import ExitCode, MissingToolError, MydynoError, UsageError
from mydyno.core.plurals import counted
from mydyno.core.units import format_bytes

Verdict = Literal["ok", "warning", "missing"]
_MARKS = {"ok": "ok", "warning": "!", "missing": "MISSING"}
_COLOURS = {"ok": typer.colors.GREEN, "warning": typer.colors.YELLOW, "missing": typer.colors.RED}

_SMALL_DISK = 2 * 1024**3
_FEW_FILES = 4096


@dataclass(frozen=True)
class Check:
    """One check. `missing` stops experiments; a `warning` only limits them."""

    name: str
    verdict: Verdict
    found: str
    hint: str | None = None


def doctor(
    lab: options.Lab = options.DEFAULT_LAB,
    as_json: options.AsJson = False,
    clean: bool = option(
        "--clean",
        "List every place that mydyno uses on this machine, with sizes, and remove them.",
        default=False,
    ),
    yes: options.Yes = False,
) -> None:
    """Check what mydyno can do on this machine; with --clean, uninstall its data.

    Shows what is missing and how to install it; changes nothing without --clean. Ends with exit code 3 when
    something that every experiment needs is missing. The table shows which kind of storage can be built in
    which environment (`setup.host`).

    With --clean it removes caches and state, for uninstalling. Labs stay, and so does a journal that
    something can still be restored from, with exit code 6. It is refused while another mydyno is running.

    ```text
    mydyno doctor
    mydyno doctor --clean
    mydyno doctor --json | jq '.[] | select(.verdict != "ok")'
    mydyno doctor --json | jq '.[] | select(.name == "environment uml").offers'
    ```
    """
    if clean:
        if as_json:
            raise UsageError("--json and --clean do not go together", "leave one of them out")
        from mydyno.cli import doctor_clean

        doctor_clean.clean(lab, yes=yes)
        return
    grounds = examine_grounds()
    checks: list[Check | GroundCheck] = [*examine(lab), *grounds]
    if as_json:
        screen.echo_json([dataclasses.asdict(check) for check in checks])
    else:
        width = max(len(check.name) for check in checks)
        for check in checks:
            screen.echo(f"{_MARKS[check.verdict]:>7}", nl=False, fg=_COLOURS[check.verdict])
            screen.echo(f"  {check.name:{width}}  {check.found}")
            if check.hint and check.verdict != "ok":
                screen.echo(f"{'':{width + 11}}hint: {check.hint}")
        screen.echo()
        show(grounds)
    if any(check.verdict == "missing" for check in checks):
        raise typer.Exit(ExitCode.MISSING)


def examine(lab: Path) -> Iterator[Check]:
    """Every check, in the order in which an experiment would come to need it."""
    from mydyno import __version__

    yield Check("mydyno", "ok", f"{__version__} on Python {platform.python_version()}")
    yield _needed("engine", _engine)
    yield _needed("server", _server)
    yield _releases()
    yield _needed("setpriv", _setpriv)
    yield _fio()
    yield _needed("user", _user)
    yield from _machine(lab)
    yield _open_files()
    yield _journal(lab)


def _needed(name: str, look: Callable[[], str]) -> Check:
    try:
        return Check(name, "ok", look())
    except MydynoError as error:
        return Check(name, "missing", error.message, error.hint)


def _engine() -> str:
    from mydyno.lab.load.engine import NAME, engine_version
    from mydyno.machine.programs import find_program

    return f"{engine_version()} ({find_program(NAME)})"


def _server() -> str:
    from mydyno.server.releases import binary_of

    binary = binary_of()
    return f"{binary.version} ({binary.path}, knows {len(binary.options)} options)"


def _releases() -> Check:
    from mydyno.cli.servers_table import every_release
    from mydyno.server.releases import ReleaseStore

    rows = [row for row in every_release(ReleaseStore()) if row.provider != "system"]
    here = [f"{row.name} ({row.problem or row.version})" for row in rows if row.installed]
    others = [row.name for row in rows if not row.installed]
    return Check(
        "releases",
        "warning" if any(row.problem for row in rows) else "ok",
        f"installed: {', '.join(here) or 'none'}; available: {', '.join(others) or 'none'}",
        "mydyno servers list",
    )


def _setpriv() -> str:
    path = shutil.which("setpriv")
    if path is None:
        raise MissingToolError("not found in PATH", "apt-get install util-linux")
    return path


def _fio() -> Check:
    path = shutil.which("fio")
    return Check(
        "fio",
        "warning" if path is None else "ok",
        path or "not found in PATH: for fio workloads and the self-check of disks (local, uml)",
        "apt-get install fio",
    )


def _user() -> str:
    from mydyno.machine.identity import server_identity

    identity = server_identity()
    if identity is None:
        return f"servers run as the user of mydyno (uid {os.geteuid()})"
    return f"root; servers run as {identity.name}"


def _machine(lab: Path) -> Iterator[Check]:
    from mydyno.machine.local import LocalHost

    host = LocalHost()
    facts, environment = host.facts(lab), host.environment(lab)
    memory = "unknown" if facts.memory_bytes is None else format_bytes(facts.memory_bytes)
    yield Check(
        "machine",
        "ok" if facts.cpus > 1 else "warning",
        f"{facts.cpus} CPUs ({environment.cpu_model or 'unknown model'}), {memory} of memory,"
        f" kernel {environment.kernel}, {environment.virtualisation or 'no sign of a hypervisor'}",
        "client and server share one CPU here: the client limits throughput as much as the server",
    )
    free = facts.free_disk_bytes
    kind = environment.filesystem.kind if environment.filesystem else "unknown file system"
    yield Check(
        "lab",
        "warning" if free is None or free < _SMALL_DISK else "ok",
        f"{lab}: {'unknown' if free is None else format_bytes(free)} free on {kind}",
        "choose a folder with more space: --lab FOLDER",
    )


def _open_files() -> Check:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = hard == resource.RLIM_INFINITY
    return Check(
        "open files",
        "ok" if unlimited or hard >= _FEW_FILES else "warning",
        f"hard limit {'unlimited' if unlimited else hard}: limits the connections of client and server",
        "increase it: ulimit -Hn, LimitNOFILE= in a systemd unit, or limits.conf",
    )


def _journal(lab: Path) -> Check:
    from mydyno.lab.stack import outstanding_in

    left = len(outstanding_in(lab))
    return Check(
        "leftovers",
        "warning" if left else "ok",
        f"{counted(left, 'change')} that a running or killed run has to undo" if left else "none",
        f"when nothing runs: mydyno cleanup --lab {lab}",
    )
