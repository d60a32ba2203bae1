"""One trial: raise the stack, drive it, look whether it may count, and hand back everything it left."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import polars as pl

from mydyno.core.errors import EngineError, ServerError
from mydyno.load import messages
from mydyno.load.job import Job, Target
from mydyno.plan import PlannedTrial, Point, dataset_of
from mydyno.results.records import TrialRecord
from mydyno.results.writer import RunWriter
from mydyno.sampling.frames import interval_frame, sample_frame
from mydyno.sampling.series import restarts, totals, usage
from mydyno.stack import (
    DataDirectoryLayer,
    DatasetLayer,
    FrozenDataset,
    RunningServer,
    ServerLayer,
    Stack,
    durability,
    settings_difference,
)
from mydyno.trial import validity
from mydyno.trial.collect import Collector
from mydyno.trial.drive import driver
from mydyno.trial.events import (
    Event,
    Listener,
    Measured,
    PhaseFinished,
    PhaseStarted,
    Step,
    TrialFinished,
    TrialStarted,
)
from mydyno.trial.interruption import uninterrupted
from mydyno.trial.job import DATABASE, driving, keeps_row_counts, preparing
from mydyno.trial.preflight import Prepared, settings_of


@dataclass(frozen=True)
class TrialRunner:
    """Runs trials of one plan on one stack, one after another, and saves each in the lab."""

    prepared: Prepared
    stack: Stack
    run: RunWriter
    emit: Listener

    def __call__(self, trial: PlannedTrial) -> TrialRecord:
        """Run `trial` to its end and save it, valid or not. An error leaves nothing of it in the lab."""
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
        server, dataset = self._raise_stack(trial, point)
        asked, in_force = server.settings, server.variables()
        collector = self._drive(server, point, driving(_target(server), plan, point, trial, server.pid))
        rows = _rows_found(server, dataset.facts["tables"])
        alive = server.alive()
        self.emit(Step("stopping the server"))
        with uninterrupted():
            self.stack.move_to(self.stack.layers[:1])
        samples = sample_frame(collector.samples, collector.phases)
        counters, cpu = totals(samples), usage(samples, 0.0, float("inf"))
        reasons = validity.check(
            validity.Evidence(
                phases=collector.phases,
                phases_planned=point.workload.phases,
                settings_differences=[str(difference) for difference in settings_difference(asked, in_force)],
                max_used_connections=_whole(counters.get("Max_used_connections")),
                reactors=collector.hello.reactors if collector.hello else 1,
                steal=cpu.steal_share if cpu else None,
                server_alive=alive,
                server_restarted=bool(restarts(samples)),
                rows_expected=dataset.facts["tables"] if keeps_row_counts(point.workload) else {},
                rows_found=rows,
                checks=collector.checks,
            )
        )
        seconds = time.monotonic() - started
        record = self._save(
            collector,
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
                started_at=started_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
                seconds=seconds,
                server_version=str(server.version),
                durability=durability(in_force).label,
                settings_asked={name: str(value) for name, value in asked.items()},
                settings_in_force=in_force,
                counters=counters,
                phases=tuple(collector.phases),
                checks=tuple(collector.checks),
            ),
        )
        self.emit(
            TrialFinished(
                trial=trial.id,
                status=record.status,
                reasons=tuple(reason.message for reason in reasons),
                seconds=seconds,
            )
        )
        return record

    def _save(self, collector: Collector, samples: pl.DataFrame, record: TrialRecord) -> TrialRecord:
        with uninterrupted():
            return self.run.save_trial(
                record,
                samples=samples,
                intervals=interval_frame(collector.intervals),
                histograms=collector.histograms,
            )

    def _raise_stack(self, trial: PlannedTrial, point: Point) -> tuple[RunningServer, FrozenDataset]:
        folder = self.run.new_trial_folder(trial.id)
        binary, config = self.prepared.binary(point), settings_of(point)
        self.emit(Step("preparing the data directory and starting the server"))
        standing = self.stack.move_to(
            [
                DatasetLayer(
                    binary,
                    config,
                    contents={**dataset_of(point.workload), "seed": self.prepared.plan.seed},
                    prepare=lambda server: self._load_tables(server, point, trial),
                ),
                DataDirectoryLayer(trial=f"{trial.id} {folder}"),
                ServerLayer(binary, config, folder=folder, port=point.setup.server.network.port),
            ]
        )
        return standing.of(RunningServer), standing.of(FrozenDataset)

    def _load_tables(self, server: RunningServer, point: Point, trial: PlannedTrial) -> Mapping[str, Any]:
        """Fill a new dataset; its facts are the rows of each table, which every trial must find again."""
        with server.connect() as connection, connection.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE IF NOT EXISTS `{DATABASE}`")
        if not dataset_of(point.workload):
            return {"tables": {}}
        job = preparing(_target(server), point.workload, self.prepared.plan.seed)
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

    def _drive(self, server: RunningServer, point: Point, job: Job) -> Collector:
        """Hear the load out. A server that dies under it ends the trial, not the run."""
        collector = Collector()
        try:
            with driver(point.workload, job, server.host) as load:
                for message in load:
                    collector.hear(message)
                    if event := _event(message, collector):
                        self.emit(event)
        except EngineError:
            if server.alive():
                raise
        return collector


def _event(message: messages.Message, collector: Collector) -> Event | None:
    match message:
        case messages.PhaseStart():
            return PhaseStarted(message.phase, message.connections, message.label)
        case messages.Interval():
            return Measured(
                phase=message.phase,
                connections=message.connections,
                queries_per_second=message.queries / ((message.to_ns - message.from_ns) / 1e9),
                p95_ns=message.p95_ns,
                errors=message.errors,
            )
        case messages.PhaseEnd():
            phase = collector.phases[-1]
            return PhaseFinished(
                phase=phase.index,
                connections=phase.connections_reached,
                queries_per_second=phase.queries_per_second,
                p95_ns=phase.latency.p95_ns,
                label=phase.label,
            )
        case _:
            return None


def _target(server: RunningServer) -> Target:
    return Target(
        user=server.admin_user, password=server.admin_password, database=DATABASE, socket=server.socket
    )


def _rows_found(server: RunningServer, tables: Mapping[str, int]) -> dict[str, int] | None:
    """Rows of each table after the load; None when the server does not answer any more."""
    import pymysql

    try:
        with server.connect() as connection, connection.cursor() as cursor:
            found = {}
            for table in tables:
                cursor.execute(f"SELECT COUNT(*) FROM `{DATABASE}`.`{table}`")
                (found[table],) = cursor.fetchone() or (0,)
            return found
    except pymysql.Error:
        return None


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
