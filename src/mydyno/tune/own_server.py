"""A server of one point of a plan, outside any run: to be looked at under load, or killed under it.

Advice needs the facts of a server that works, and the time of a recovery needs a crash. Both are done on a
private server of this machine, on a clone of the dataset, and leave nothing behind.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from mydyno.advisor import Advice, advise
from mydyno.advisor.registry import variables
from mydyno.core.errors import MydynoError, ServerError, UsageError
from mydyno.core.interruption import uninterrupted
from mydyno.lab.plan import Point
from mydyno.lab.stack import DataDirectory, Journal, RunningServer, Site, Stack, start_server
from mydyno.lab.trial.attempt import Attempt
from mydyno.lab.trial.drive import LoadRun
from mydyno.lab.trial.drivers import fill_files, load_tables
from mydyno.lab.trial.events import Listener
from mydyno.lab.trial.preflight import Prepared
from mydyno.lab.trial.running import Running, start_stack
from mydyno.machine.protocol import Host
from mydyno.survey import survey
from mydyno.survey.facts import System

_WATCHED_S = 10.0
"""At most; a load that is measured for less is watched for less."""
_SETTLING_S = 1.0
_ENDING_S = 30.0
_READY_S = 3600.0
"""A recovery may take long, and its time is what is measured."""


@dataclass(frozen=True)
class OwnServer:
    """A point's server that runs, with its load."""

    prepared: Prepared
    attempt: Attempt
    running: Running
    server: RunningServer
    site: Site

    @contextmanager
    def loaded(self, emit: Listener) -> Iterator[float]:
        """Drives the load meanwhile; gives the seconds that it lasts, without its warm-up."""
        each = self.attempt.point.workload.each
        seconds = (each.measure if each is not None else None) or _WATCHED_S
        warmup = (each.warmup if each is not None else None) or 0.0
        load = LoadRun(self.prepared, self.attempt, self.running, emit)
        thread = threading.Thread(target=_drive, args=(load,), daemon=True)
        thread.start()
        try:
            time.sleep(min(warmup, _SETTLING_S) + _SETTLING_S)
            yield seconds
        finally:
            thread.join(seconds * len(self.attempt.point.workload.connections) * 2 + _ENDING_S)


def _drive(load: LoadRun) -> None:
    """Its results are of no use here, nor is the error of a load whose server was killed."""
    with suppress(MydynoError):
        load.drive()


def is_here(point: Point) -> bool:
    """Whether its server is a private one on this machine."""
    return point.setup.server.external is None and point.setup.host.kind == "local"


@contextmanager
def own_server(
    prepared: Prepared, point_id: str, lab: Path, host: Host, emit: Listener
) -> Iterator[OwnServer]:
    """Raises UsageError where the server is not one of mydyno's on this machine."""
    plan = prepared.plan
    planned = next(trial for trial in plan.trials if trial.point_id == point_id)
    point = plan.point(point_id)
    if not is_here(point):
        raise UsageError("only a private server on this machine can be looked at under load")
    journal = Journal(lab)
    journal.replay()
    site = Site(lab, host, journal)
    (lab / "searches").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="server-", dir=lab / "searches") as name:
        folder = Path(name)
        folder.chmod(0o755)  # The server runs as another user when root starts it.
        attempt = Attempt(planned, point, folder)
        stack = Stack(site)
        try:
            running = start_stack(
                stack,
                prepared,
                attempt,
                load=lambda server: load_tables(server, point, plan.dataset_seed, emit),
                fill=lambda built: fill_files(built, attempt, plan, emit),
            )
            server = running.server
            assert isinstance(server, RunningServer)
            yield OwnServer(prepared, attempt, running, server, site)
        finally:
            with uninterrupted():
                stack.close()


def look(own: OwnServer, names: frozenset[str], emit: Listener) -> tuple[Advice, System]:
    """Static advice on the server under its load, and the facts that it was made of; `names`: further
    variables that are tested for being dynamic."""
    with own.loaded(emit) as seconds:
        system = survey(
            own.server.login, settable=variables() | names, seconds=max(1.0, min(seconds, _WATCHED_S) - 1.0)
        )
    return advise(system, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")), system


def seconds_to_recover(own: OwnServer, emit: Listener) -> float:
    """From the start after `kill -9` under load until it answers. Raises ServerError when it never does."""
    server, directory = own.server, own.running.layers.of(DataDirectory)
    with own.loaded(emit) as seconds:
        time.sleep(min(seconds, _WATCHED_S) / 2)
        server.host.run(["kill", "-9", str(server.pid)])
        deadline = time.monotonic() + _ENDING_S
        while server.alive():
            if time.monotonic() > deadline:
                raise ServerError("the server is still there after kill -9")
            time.sleep(0.02)
    folder = own.attempt.folder / "again"
    folder.mkdir()
    began = time.monotonic()
    again = start_server(
        own.site,
        own.prepared.binary(own.attempt.point),
        datadir=directory.data,
        scratch=directory.scratch,
        config=server.settings,
        folder=folder,
        places=server.places,
        limits=own.attempt.point.setup.limits,
        ready_seconds=_READY_S,
    )
    try:
        return time.monotonic() - began
    finally:
        again.leave_pages_unwritten()
        again.stop()
