"""Who carries out a trial's load and fills what it is measured on: the engine, or an external program."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from mydyno.core.errors import ServerError, StorageError
from mydyno.core.sql_names import quote
from mydyno.lab.load import messages
from mydyno.lab.load.engine import Driver, Engine
from mydyno.lab.load.external import External
from mydyno.lab.load.fio import Fio
from mydyno.lab.load.job import Job, Target
from mydyno.lab.plan import Plan, PlannedTrial, Point, dataset_of
from mydyno.lab.spec import Workload
from mydyno.lab.stack import Server
from mydyno.lab.trial.attempt import Attempt
from mydyno.lab.trial.events import Listener, Step
from mydyno.lab.trial.job import database_of, preparing
from mydyno.lab.trial.running import Running
from mydyno.machine.protocol import Host
from mydyno.server.access.login import server_errors


def driver(workload: Workload, job: Job, host: Host) -> Driver:
    """The job, started on `host`. Raises MissingToolError, UsageError, EngineError."""
    return Engine(job, host) if workload.external is None else External(job, workload.external)


def disk_driver(
    workload: Workload,
    running: Running,
    plan: Plan,
    trial: PlannedTrial,
    folder: Path,
    part: Literal["fill", "measure"],
) -> Driver:
    """fio on a volume of the trial; `folder` keeps its reports. Raises StorageError, MissingToolError."""
    options, ground = workload.fio_options, running.ground
    volume = running.volumes.get(options.volume) if options is not None else None
    if options is None or ground is None or volume is None:
        raise StorageError("fio has no volume to run on", "define the volume that it names in setup.storage")
    return Fio(
        options,
        volume.path,
        ground.host,
        seed=trial.seed,
        interval_s=plan.sampling.every,
        folder=folder,
        part=part,
        answer_within_s=workload.answer_within,
    )


def load_tables(server: Server, point: Point, seed: int, emit: Listener) -> Mapping[str, Any]:
    """Fills a new dataset; its facts are the rows of each table, which every trial must find again."""
    database = database_of(point)
    _create_schema(server, database)
    if not dataset_of(point.workload):
        return {"tables": {}}
    job = preparing(Target.of(server.login, database), point.workload, seed)
    prepared = _run(driver(point.workload, job, server.host), "loading the dataset", emit)
    if prepared is None:
        raise ServerError("the engine ended before it had loaded the dataset")
    return {"tables": {table.name: table.rows for table in prepared.tables}}


def fill_files(running: Running, attempt: Attempt, plan: Plan, emit: Listener) -> None:
    """Writes the files of fio, at full speed."""
    load = disk_driver(attempt.point.workload, running, plan, attempt.planned, attempt.folder, "fill")
    _run(load, "filling the files", emit)


def _run(driver: Driver, what: str, emit: Listener) -> messages.Prepared | None:
    prepared = None
    with driver as load:
        for message in load:
            if isinstance(message, messages.Progress):
                emit(Step(f"{what}: {message.stage}", message.done, message.of))
            elif isinstance(message, messages.Prepared):
                prepared = message
    return prepared


def _create_schema(server: Server, name: str) -> None:
    with (
        server_errors(server.login, f"the schema {name} could not be created"),
        server.connect() as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute(f"CREATE DATABASE IF NOT EXISTS {quote(name)}")
