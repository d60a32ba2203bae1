"""A live server and its host as one `System`."""

import posixpath
from collections.abc import Collection
from datetime import UTC, datetime

from mydyno import __version__
from mydyno.server.access.login import Login
from mydyno.survey.facts import Host, Server, System, Unread
from mydyno.survey.host.kernel import load_between, read_counters
from mydyno.survey.host.machine import LocalMachine, Machine
from mydyno.survey.host.process import find_process, is_server
from mydyno.survey.host.read import read_host
from mydyno.survey.host.speed import measure
from mydyno.survey.server.interval import Report, Wait, pause
from mydyno.survey.server.read import Read, read_server

INTERVAL_SECONDS = 10.0


def survey(
    login: Login,
    machine: Machine | None = None,
    *,
    settable: Collection[str] = (),
    without_host: bool = False,
    measured: bool = False,
    seconds: float = INTERVAL_SECONDS,
    report: Report = lambda text: None,
    wait: Wait = pause,
) -> System:
    """Reads the server behind `login`, and the machine that it runs on.

    `settable`: the variables to test for being settable while it runs.
    `machine` None: this one, if the server is seen to run here. Status is counted over `seconds`. `measured`:
    with the speed of the data's disk, for which fio writes to it.
    Raises ServerError when there is no way in, HostError when the machine is lost.
    """
    unread: list[Unread] = []
    watched = None if without_host else machine or LocalMachine()
    before = read_counters(watched) if watched else None
    read = read_server(login, unread, settable=settable, seconds=seconds, report=report, wait=wait)
    load = load_between(before, read_counters(watched)) if watched else None
    server, host = read.with_origins(None), None
    if not without_host:
        machine, pid = _place(login, machine, read)
        if machine is None:
            unread.append(_elsewhere(login))
        else:
            report(f"reading {machine.name}")
            server, host = _with_host(machine, pid, read, unread)
            host = host.model_copy(update={"load": load}) if host is not None else None
            if measured and host is not None:
                host = _with_speed(machine, host, report, unread)
    return System(
        mydyno=__version__,
        read_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        server=server,
        host=host,
        unread=tuple(unread),
    )


def _place(login: Login, machine: Machine | None, read: Read) -> tuple[Machine | None, int | None]:
    """The machine to read, and the server's process there."""
    if machine is None or isinstance(machine, LocalMachine):
        here = machine or LocalMachine()
        itself = None if read.pid is None else is_server(here, read.pid)
        if itself:
            return here, read.pid
        # A loopback address may be a tunnel's: without the process it is not known which machine it is.
        if machine is None and (itself is False or login.socket is None):
            return None, None
        machine = here
    data, pid_file = read.server.text("datadir") or "", read.server.text("pid_file")
    return machine, find_process(machine, posixpath.join(data, pid_file) if pid_file else None, data)


def _with_host(
    machine: Machine, pid: int | None, read: Read, unread: list[Unread]
) -> tuple[Server, Host | None]:
    variables = {name: variable.value for name, variable in read.server.variables.items()}
    seen = read_host(machine, pid, variables, read.server.release, unread)
    return read.with_origins(seen.options), seen.host


def _with_speed(machine: Machine, host: Host, report: Report, unread: list[Unread]) -> Host:
    speeds = measure(machine, host.storage, report, unread)
    return host.model_copy(update={"storage": host.storage.model_copy(update={"speeds": speeds})})


def _elsewhere(login: Login) -> Unread:
    return Unread(
        what="the server's host",
        why=f"no process of the server at {login.address} is seen on this machine",
        hint="--ssh USER@HOST for the machine that it runs on, or --ssh local if it is this one",
    )
