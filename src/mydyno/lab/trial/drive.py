"""Drives the load of one trial on what is running for it, and notes what is known only while it runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from mydyno.core.errors import EngineError, HostError, MydynoError
from mydyno.core.sql_names import quote
from mydyno.lab.load.engine import Driver
from mydyno.lab.load.job import Job, Target
from mydyno.lab.results.records import DataRecord, GroundRecord, NetworkRecord, SettingTranslation, Work
from mydyno.lab.stack import DataDirectory, RunningServer, Server, settings_difference, understand
from mydyno.lab.stack.server.placement import read_placement
from mydyno.lab.stack.undo.base import comes_true
from mydyno.lab.trial.attempt import Attempt, settings_of
from mydyno.lab.trial.collect import Collector, progress_of
from mydyno.lab.trial.describe import data_record, ground_record, translations_of, with_files
from mydyno.lab.trial.drivers import disk_driver, driver
from mydyno.lab.trial.events import Listener, Step
from mydyno.lab.trial.external import changed_meanwhile
from mydyno.lab.trial.failures import Failure, spoils_one_trial
from mydyno.lab.trial.generators.driver import Generators
from mydyno.lab.trial.generators.hosts import generators_of
from mydyno.lab.trial.generators.network import measure_network
from mydyno.lab.trial.job import database_of, driving, keeps_row_counts, sampling_of
from mydyno.lab.trial.preflight import Prepared
from mydyno.lab.trial.replay_checks import reaching_elsewhere
from mydyno.lab.trial.running import Running
from mydyno.machine.process_limits import limits_difference
from mydyno.server.access import dbapi
from mydyno.server.variables.durability import durability

_ENDING_SECONDS = 2.0
REPLAY = "replay"
"""Folder of a trial with the results of each statement of a trace."""


@dataclass
class Observed:
    """What a trial has shown while it ran."""

    ground: GroundRecord | None = None
    data: DataRecord | None = None
    collector: Collector = field(default_factory=Collector)
    server_version: str | None = None
    durability: str | None = None
    networks: tuple[NetworkRecord, ...] = ()
    settings_asked: Mapping[str, Any] = field(default_factory=dict)
    settings_in_force: Mapping[str, str] = field(default_factory=dict)
    translations: tuple[SettingTranslation, ...] = ()
    differences: list[str] = field(default_factory=list)
    misplaced: tuple[str, ...] = ()
    rows_expected: Mapping[str, int] = field(default_factory=dict)
    rows_found: Mapping[str, int] | None = None
    server_alive: bool = True
    host_lost: str | None = None
    failure: Failure | None = None
    """Why the load ended by itself, on a server and a host that live, or that another machine was lost."""
    host_seen: bool = True
    """Whether the server's machine could be sampled."""


@dataclass(frozen=True)
class LoadRun:
    """The load of one attempt, from its first phase to the checks after its last."""

    prepared: Prepared
    attempt: Attempt
    running: Running
    emit: Listener
    observed: Observed = field(default_factory=Observed)

    def drive(self) -> Observed:
        """A server or a guest that dies under the load ends the trial, not the run."""
        observed, point = self.observed, self.attempt.point
        try:
            if self.running.server is None:
                observed.ground = ground_record(self.running, point.setup.host)
                self._drive_disks()
            else:
                self._drive_server()
        except HostError as error:
            observed.host_lost = error.message
            if point.setup.host.kind == "ssh":
                # What ends a guest may be the load; what ends a connection is not: it is tried again.
                observed.failure = Failure("load", error)
        except MydynoError as error:
            if not spoils_one_trial(error, point):
                raise
            observed.failure = Failure("load", error)
        return observed

    def _drive_disks(self) -> None:
        attempt = self.attempt
        load = disk_driver(
            attempt.point.workload,
            self.running,
            self.prepared.plan,
            attempt.planned,
            attempt.folder,
            "measure",
        )
        self._collect(load, "ios")

    @property
    def server(self) -> Server:
        assert self.running.server is not None, "only a load of disks has none"
        return self.running.server

    def _drive_server(self) -> None:
        job = self.begin()
        try:
            self._collect(self._load(job), "queries")
        except EngineError:
            if not has_ended(self.server):
                raise
        self.end()

    def _load(self, job: Job) -> Driver:
        """From the server's machine, or from the generators."""
        load, server = self.prepared.plan.load, self.server
        if load is None:
            return driver(self.attempt.point.workload, job, server.host)
        assert isinstance(server, RunningServer), "the spec requires it"
        assert server.load_login is not None, "so does it"
        generators = generators_of(load, self.prepared.machines, server.host)
        shared = replace(job, target=Target.of(server.load_login, job.target.database))
        self.emit(Step(f"measuring the network from {' and '.join(load.hosts)} to the server"))
        packet_bytes = int(self.observed.settings_in_force["max_allowed_packet"])
        self.observed.networks = tuple(
            measure_network(each, shared.target, packet_bytes) for each in generators
        )
        return Generators(shared, generators, sampling_of(job), server.host)

    def begin(self) -> Job:
        """Notes what is known before the load, and gives the job of the load."""
        observed, point, planned = self.observed, self.attempt.point, self.attempt.planned
        server = self.server
        observed.ground = ground_record(self.running, point.setup.host)
        self._note_settings(server)
        if isinstance(server, RunningServer):
            self._note_data(server)
        observed.rows_expected = self.running.tables if keeps_row_counts(point.workload) else {}
        target = Target.of(server.login, database_of(point))
        job = driving(target, self.prepared.plan, point, planned, server.pid)
        if point.workload.trace_options is None:
            return job
        out = str((self.attempt.folder / REPLAY).resolve())
        with server.connect() as connection:
            replay = {**job.workload["replay"], **reaching_elsewhere(connection), "out": out}
        return replace(job, workload={"replay": replay})

    def end(self) -> None:
        """Notes what the load has left."""
        observed, point, server = self.observed, self.attempt.point, self.server
        database = database_of(point)
        observed.rows_found = _rows_found(server, database, observed.rows_expected)
        observed.server_alive = observed.rows_found is not None or not has_ended(server)
        if point.setup.server.external is not None and observed.server_alive:
            observed.differences += changed_meanwhile(
                observed.settings_asked, observed.settings_in_force, server.variables()
            )

    def _note_settings(self, server: Server) -> None:
        observed, point = self.observed, self.attempt.point
        observed.host_seen = server.pid is not None
        observed.server_version = str(server.version)
        observed.settings_asked, observed.settings_in_force = server.settings, server.variables()
        understood = understand(self.prepared.knows(point), settings_of(point))
        observed.translations = translations_of(understood.notes)
        observed.durability = durability(observed.settings_in_force, self.running.unflushed).label
        settings = settings_difference(observed.settings_asked, observed.settings_in_force)
        observed.differences = [str(difference) for difference in settings]
        if (limits := point.setup.limits) is not None:
            refused = limits_difference(limits, server.limits())
            observed.differences += [difference.sentence() for difference in refused]

    def _note_data(self, server: RunningServer) -> None:
        """What is known only of data that mydyno has placed itself: its clone, and where its files lie."""
        observed, variables = self.observed, self.observed.settings_in_force
        observed.data = data_record(self.running, self.attempt.point.setup, variables, server.status())
        placement = read_placement(server, self.running.layers.of(DataDirectory).places, variables)
        observed.misplaced = placement.wrong
        observed.ground = observed.ground and with_files(observed.ground, placement)

    def _collect(self, load: Driver, work: Work) -> None:
        collector = self.observed.collector
        with load:
            for message in load:
                collector.hear(message)
                if event := progress_of(message, collector, work):
                    self.emit(event)


def has_ended(server: Server) -> bool:
    """Of a server that does not answer: a killed process closes its sockets a moment before it is gone."""
    return comes_true(lambda: not server.alive(), _ENDING_SECONDS)


def _rows_found(server: Server, database: str, tables: Mapping[str, int]) -> dict[str, int] | None:
    """Rows of each table after the load; None when the server no longer answers."""
    try:
        with server.connect() as connection, connection.cursor() as cursor:
            rows = {}
            for table in tables:
                cursor.execute(f"SELECT COUNT(*) FROM {quote(database)}.{quote(table)}")
                (rows[table],) = cursor.fetchone() or (0,)
            return rows
    except dbapi.Error:
        return None
