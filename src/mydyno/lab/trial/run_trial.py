"""One trial: raise the stack, drive it, look whether it may count, and hand back everything it left."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from mydyno.core.errors import EngineError, HostError, MydynoError, ServerError
from mydyno.core.grounds import BY_NAME
from mydyno.core.interruption import uninterrupted
from mydyno.core.sql_names import quote
from mydyno.lab.analysis.self_checks import load_remarks, remarks
from mydyno.lab.analysis.utilisation import Utilisation, utilisation
from mydyno.lab.load import messages
from mydyno.lab.load.driver import Driver
from mydyno.lab.load.job import Target
from mydyno.lab.plan import PlannedTrial, Point, dataset_of, time_of
from mydyno.lab.results.records import (
    DataRecord,
    GroundRecord,
    Invalidity,
    Remark,
    SelfCheckRecord,
    SettingTranslation,
    TrialRecord,
    Work,
)
from mydyno.lab.results.writer import RunWriter
from mydyno.lab.sampling.frames import interval_frame, sample_frame
from mydyno.lab.sampling.series import restarts, totals
from mydyno.lab.sampling.stretch import stretch
from mydyno.lab.spec import Storage
from mydyno.lab.stack import (
    DataDirectory,
    DatasetLayer,
    RunningServer,
    Server,
    Stack,
    settings_difference,
    understand,
)
from mydyno.lab.stack.disk_base_layer import DiskBaseLayer
from mydyno.lab.stack.server.placement import read_placement
from mydyno.lab.trial import validity
from mydyno.lab.trial.collect import Collector
from mydyno.lab.trial.describe import data_record, ground_record, translations_of, with_files
from mydyno.lab.trial.drive import disk_driver, driver
from mydyno.lab.trial.events import (
    Event,
    Listener,
    Measured,
    PhaseFinished,
    PhaseStarted,
    Step,
    TrialFinished,
    TrialStarted,
)
from mydyno.lab.trial.external import changed_meanwhile, other_traffic, without_host
from mydyno.lab.trial.failures import Failure, Failures, spoils_one_trial
from mydyno.lab.trial.job import clock_ends, database_of, driving, keeps_row_counts, load_of, preparing
from mydyno.lab.trial.measurement import judge_phases
from mydyno.lab.trial.preflight import Prepared
from mydyno.lab.trial.raising import Raised, raise_stack
from mydyno.lab.trial.settings import settings_of
from mydyno.lab.trial.time_cache import add_time, time_cache
from mydyno.machine.process_limits import limits_difference
from mydyno.server.access import dbapi
from mydyno.server.access.login import explained
from mydyno.server.variables.durability import durability

_MADE_ONCE = (DatasetLayer.name, DiskBaseLayer.name)
"""Layers that an estimate counts apart from trials."""

_TIMESTAMP = "%Y-%m-%dT%H:%M:%SZ"


@dataclass
class _Found:
    """What a trial has shown while it stood."""

    ground: GroundRecord | None = None
    data: DataRecord | None = None
    collector: Collector = field(default_factory=Collector)
    server_version: str | None = None
    durability: str | None = None
    asked: Mapping[str, Any] = field(default_factory=dict)
    in_force: Mapping[str, str] = field(default_factory=dict)
    translations: tuple[SettingTranslation, ...] = ()
    differences: list[str] = field(default_factory=list)
    misplaced: tuple[str, ...] = ()
    rows_expected: Mapping[str, int] = field(default_factory=dict)
    rows_found: Mapping[str, int] | None = None
    server_alive: bool = True
    host_lost: str | None = None
    failure: Failure | None = None
    """Why the load ended by itself, on a server and a host that live."""
    host_seen: bool = True
    """Whether the server's machine could be sampled."""


@dataclass(frozen=True)
class TrialRunner:
    """Runs trials of one plan on one stack, one after another, and saves each in the lab."""

    prepared: Prepared
    stack: Stack
    run: RunWriter
    emit: Listener
    failures: Failures = field(default_factory=Failures)

    def __call__(self, trial: PlannedTrial) -> TrialRecord:
        """Run `trial` to its end and save it: valid, invalid, or failed with the reason.

        Raises the errors that concern every trial (the lab, putting back, an external server); then nothing
        of it is in the lab.
        """
        plan = self.prepared.plan
        point = plan.point(trial.point_id)
        self.emit(
            TrialStarted(
                trial=trial.id,
                number=trial.index + 1,
                planned=len(plan.trials),
                block=trial.block,
                point=point.title or "the only point",
                phases=point.workload.phases,
            )
        )
        started_at, started = datetime.now(UTC), time.monotonic()
        self.stack.spent.clear()
        reason = self.failures.given_up(point)
        if reason is None:
            folder = self.run.new_trial_folder(trial.id)
            try:
                record = self._measured(trial, point, folder, started_at, started)
            except MydynoError as error:
                reason = self._failed(point, error).reason(folder)
        if reason is not None:
            record = self._save(
                Collector(), {}, sample_frame([]), _not_measured(trial, point, reason, started_at, started)
            )
        if record.status == "valid":
            once = sum(self.stack.spent.get(layer, 0.0) for layer in _MADE_ONCE)
            cost = plan.estimate.trials[point.id]
            add_time(time_cache(), time_of(point, cost, record.seconds - once))
        self.emit(
            TrialFinished(
                trial=trial.id,
                status=record.status if record.measured else "failed",
                reasons=tuple(each.message for each in record.invalidities),
                seconds=record.seconds,
            )
        )
        return record

    def _failed(self, point: Point, error: MydynoError) -> Failure:
        """Notes a trial that could not be built, and leaves nothing of it standing."""
        if not _may_go_on(point, error):
            raise error
        failure = Failure(self.stack.building or "preparing the load", error)
        with uninterrupted():
            self.stack.clear()
        self.failures.failed(point, failure)
        return failure

    def _measured(
        self, trial: PlannedTrial, point: Point, folder: Path, started_at: datetime, started: float
    ) -> TrialRecord:
        raised = raise_stack(
            self.stack,
            self.prepared,
            trial,
            point,
            folder,
            load=lambda server: self._load_tables(server, point),
            fill=lambda raised: self._fill_files(raised, trial, point, folder),
        )
        found = self._measure(raised, trial, point, folder)
        self.emit(Step("stopping the server and removing what the trial set up"))
        with uninterrupted():
            if isinstance(raised.server, RunningServer) and found.server_alive and not found.host_lost:
                raised.server.leave_pages_unwritten()
            self.stack.move_to([layer for layer in self.stack.layers[:1] if isinstance(layer, DatasetLayer)])
        samples = sample_frame(found.collector.samples, found.collector.phases)
        if not found.host_seen:
            samples = without_host(samples)
        counters, whole = totals(samples), stretch(samples, 0.0, float("inf"))
        cpu = utilisation(whole.growth, whole.seconds) if whole else None
        if found.failure is None:
            self.failures.measured(point)
        else:
            self.failures.failed(point, found.failure)
        reasons = (
            *((found.failure.reason(folder),) if found.failure else ()),
            *validity.check(
                validity.Evidence(
                    phases=found.collector.phases,
                    phases_planned=point.workload.phases,
                    settings_differences=found.differences,
                    misplaced=found.misplaced,
                    max_used_connections=_whole(counters.get("Max_used_connections")),
                    reactors=found.collector.hello.reactors if found.collector.hello else 1,
                    steal=cpu.steal if cpu else None,
                    server_alive=found.server_alive,
                    server_restarted=bool(restarts(samples)),
                    rows_expected=found.rows_expected,
                    rows_found=found.rows_found,
                    checks=found.collector.checks,
                    loads=[load_of(point.workload, phase) for phase in found.collector.phases],
                    host_lost=found.host_lost,
                )
            ),
        )
        judged = judge_phases(
            found.collector.phases,
            found.collector.intervals,
            samples,
            found.collector.histograms,
            timed=clock_ends(point.workload),
        )
        return self._save(
            found.collector,
            judged.histograms,
            samples,
            TrialRecord(
                trial_id=trial.id,
                index=trial.index,
                block=trial.block,
                point_id=trial.point_id,
                levels=point.levels,
                seed=trial.seed,
                status="invalid" if reasons else "valid",
                invalidities=reasons,
                started_at=started_at.strftime(_TIMESTAMP),
                seconds=time.monotonic() - started,
                server_version=found.server_version,
                durability=found.durability,
                settings_asked={name: str(value) for name, value in found.asked.items()},
                settings_in_force=found.in_force,
                counters=counters,
                phases=judged.phases,
                checks=tuple(found.collector.checks),
                ground=found.ground,
                self_checks=raised.self_checks,
                data=found.data,
                remarks=(
                    *_remarks(found.ground, raised.self_checks, cpu, point.setup.storage),
                    *_remarks_on_others(point, found.collector, counters),
                    *judged.remarks,
                    *found.collector.remarks,
                ),
                translations=found.translations,
            ),
        )

    def _save(
        self,
        collector: Collector,
        histograms: Mapping[str, Mapping[str, str]],
        samples: pl.DataFrame,
        record: TrialRecord,
    ) -> TrialRecord:
        with uninterrupted():
            return self.run.save_trial(
                record,
                samples=samples,
                intervals=interval_frame(collector.intervals),
                histograms=histograms,
            )

    def _measure(self, raised: Raised, trial: PlannedTrial, point: Point, folder: Path) -> _Found:
        """Drives what stands. A server or a guest that dies under it ends the trial, not the run."""
        found = _Found()
        try:
            found.ground = ground_record(raised, point.setup.host)
            if raised.server is None:
                self._measure_disks(found, raised, trial, point, folder)
            else:
                self._measure_server(found, raised, raised.server, trial, point)
        except HostError as error:
            found.host_lost = error.message
        except MydynoError as error:
            if not _may_go_on(point, error):
                raise
            found.failure = Failure("load", error)
        return found

    def _measure_disks(
        self, found: _Found, raised: Raised, trial: PlannedTrial, point: Point, folder: Path
    ) -> None:
        load = disk_driver(point.workload, raised, self.prepared.plan, trial, folder, "measure")
        self._hear(load, found.collector, "ios")

    def _fill_files(self, raised: Raised, trial: PlannedTrial, point: Point, folder: Path) -> None:
        with disk_driver(point.workload, raised, self.prepared.plan, trial, folder, "fill") as load:
            for message in load:
                if isinstance(message, messages.Progress):
                    self.emit(Step(f"filling the files: {message.stage}", message.done, message.of))

    def _measure_server(
        self, found: _Found, raised: Raised, server: Server, trial: PlannedTrial, point: Point
    ) -> None:
        plan, limits = self.prepared.plan, point.setup.limits
        found.host_seen = server.pid is not None
        found.server_version = str(server.version)
        found.asked, found.in_force = server.settings, server.variables()
        understood = understand(self.prepared.knows(point), settings_of(point))
        found.translations = translations_of(understood.notes)
        found.durability = durability(found.in_force, raised.unflushed).label
        found.differences = [str(each) for each in settings_difference(found.asked, found.in_force)]
        if limits is not None:
            found.differences += [each.sentence() for each in limits_difference(limits, server.limits())]
        if isinstance(server, RunningServer):
            self._look_at_data(found, raised, server, point)
        tables, database = raised.tables, database_of(point)
        found.rows_expected = tables if keeps_row_counts(point.workload) else {}
        job = driving(Target.of(server.login, database), plan, point, trial, server.pid)
        try:
            self._hear(driver(point.workload, job, server.host), found.collector, "queries")
        except EngineError:
            if server.alive():
                raise
        found.rows_found = _rows_found(server, database, found.rows_expected)
        found.server_alive = server.alive()
        if point.setup.server.external is not None and found.server_alive:
            found.differences += changed_meanwhile(found.asked, found.in_force, server.variables())

    def _look_at_data(self, found: _Found, raised: Raised, server: RunningServer, point: Point) -> None:
        """What is known only of data that mydyno has placed itself: its clone, and where its files lie."""
        found.data = data_record(raised, point.setup, found.in_force, server.status())
        placement = read_placement(server, raised.standing.of(DataDirectory).places, found.in_force)
        found.misplaced = placement.wrong
        found.ground = found.ground and with_files(found.ground, placement)

    def _hear(self, load: Driver, collector: Collector, work: Work) -> None:
        with load:
            for message in load:
                collector.hear(message)
                if event := _event(message, collector, work):
                    self.emit(event)

    def _load_tables(self, server: Server, point: Point) -> Mapping[str, Any]:
        """Fill a new dataset; its facts are the rows of each table, which every trial must find again."""
        database = database_of(point)
        _make_schema(server, database)
        if not dataset_of(point.workload):
            return {"tables": {}}
        job = preparing(Target.of(server.login, database), point.workload, self.prepared.plan.seed)
        prepared: messages.Prepared | None = None
        with driver(point.workload, job, server.host) as load:
            for message in load:
                match message:
                    case messages.Progress():
                        self.emit(Step(f"loading the dataset: {message.stage}", message.done, message.of))
                    case messages.Prepared():
                        prepared = message
                    case _:
                        pass
        if prepared is None:
            raise ServerError("the engine ended without having loaded the dataset")
        return {"tables": {table.name: table.rows for table in prepared.tables}}


def _may_go_on(point: Point, error: MydynoError) -> bool:
    """An external server may keep the settings of a trial that broke off: the run ends, the journal knows."""
    return spoils_one_trial(error) and point.setup.server.external is None


def _not_measured(
    trial: PlannedTrial, point: Point, reason: Invalidity, started_at: datetime, started: float
) -> TrialRecord:
    """A trial of which there is nothing but the reason."""
    return TrialRecord(
        trial_id=trial.id,
        index=trial.index,
        block=trial.block,
        point_id=trial.point_id,
        levels=point.levels,
        seed=trial.seed,
        status="invalid",
        invalidities=(reason,),
        started_at=started_at.strftime(_TIMESTAMP),
        seconds=time.monotonic() - started,
        server_version=None,
        durability=None,
        settings_asked={},
        settings_in_force={},
        counters={},
        phases=(),
    )


def _remarks(
    ground: GroundRecord | None,
    checks: Sequence[SelfCheckRecord],
    cpu: Utilisation | None,
    storage: Storage | None,
) -> tuple[Remark, ...]:
    """What the checks of the disks found, and whether the ground's CPUs had any time left under the load."""
    if ground is None:
        return ()
    disks = [volume.disks for volume in storage.volumes.values()] if storage is not None else []
    limited = any(each.iops is not None or each.bandwidth is not None for each in disks)
    own = cpu.own(ground.cpus) if cpu else None
    return (
        *remarks(checks, BY_NAME[ground.kind].tolerance),
        *load_remarks(cpu.busy if cpu else None, own, limited=limited),
    )


def _remarks_on_others(
    point: Point, collector: Collector, counters: Mapping[str, int | float]
) -> tuple[Remark, ...]:
    """What others did on a server that is not mydyno's. Only the engine tells all statements that it sent."""
    if point.setup.server.external is None or point.workload.resolved is None:
        return ()
    return tuple(other_traffic(counters.get("Questions"), collector.intervals, collector.samples))


def _event(message: messages.Message, collector: Collector, work: Work) -> Event | None:
    match message:
        case messages.PhaseStart():
            return PhaseStarted(message.phase, message.connections, message.label, work)
        case messages.Interval():
            return Measured(
                phase=message.phase,
                connections=message.connections,
                queries_per_second=message.queries / ((message.to_ns - message.from_ns) / 1e9),
                p95_ns=message.p95_ns,
                errors=message.errors,
                work=work,
                transaction_p95_ns=message.transaction_p95_ns,
            )
        case messages.PhaseEnd():
            phase = collector.phases[-1]
            return PhaseFinished(
                phase=phase.index,
                connections=phase.connections_reached,
                queries_per_second=phase.queries_per_second,
                p95_ns=phase.latency.p95_ns,
                label=phase.label,
                work=work,
                transaction_p95_ns=phase.transaction_latency.p95_ns,
            )
        case _:
            return None


def _make_schema(server: Server, name: str) -> None:
    try:
        with server.connect() as connection, connection.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE IF NOT EXISTS {quote(name)}")
    except dbapi.Error as error:
        raise explained(error, server.login, f"the schema {name} could not be made") from error


def _rows_found(server: Server, database: str, tables: Mapping[str, int]) -> dict[str, int] | None:
    """Rows of each table after the load; None when the server does not answer any more."""
    try:
        with server.connect() as connection, connection.cursor() as cursor:
            found = {}
            for table in tables:
                cursor.execute(f"SELECT COUNT(*) FROM {quote(database, table)}")
                (found[table],) = cursor.fetchone() or (0,)
            return found
    except dbapi.Error:
        return None


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
