"""Fills what a trial is measured on: the tables of a new dataset, or the files of a load on the disks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mydyno.core.errors import ServerError
from mydyno.core.sql_names import quote
from mydyno.lab.load import messages
from mydyno.lab.load.engine import Driver
from mydyno.lab.load.job import Target
from mydyno.lab.plan import Plan, dataset_of
from mydyno.lab.stack import Server
from mydyno.lab.trial.attempt import Attempt
from mydyno.lab.trial.drivers import disk_driver, driver
from mydyno.lab.trial.events import Listener, Step
from mydyno.lab.trial.job import database_of, preparing
from mydyno.lab.trial.running import Running
from mydyno.server.access.login import server_errors


def load_tables(server: Server, attempt: Attempt, seed: int, emit: Listener) -> Mapping[str, Any]:
    """Fills a new dataset; its facts are the rows of each table, which every trial must find again."""
    point, database = attempt.point, database_of(attempt.point)
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
