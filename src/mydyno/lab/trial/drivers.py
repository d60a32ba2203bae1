"""Who carries out a trial's load: the engine, or the external program that the workload names."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from mydyno.core.errors import StorageError
from mydyno.lab.load.engine import Driver, Engine
from mydyno.lab.load.external import External
from mydyno.lab.load.fio import Fio
from mydyno.lab.load.job import Job
from mydyno.lab.plan import Plan, PlannedTrial
from mydyno.lab.spec import Workload
from mydyno.lab.trial.running import Running
from mydyno.machine.protocol import Host


def driver(workload: Workload, job: Job, host: Host) -> Driver:
    """The job, started on `host`. Raises MissingToolError, UsageError, EngineError."""
    external = workload.external
    if external is None:
        return Engine(job, host)
    return External(
        job.target,
        job.phases,
        external,
        job.sampling,
        seed=job.seed,
        prepare=job.prepare,
        interval_s=job.interval_s,
        drop_existing=job.drop_existing,
        answer_within_s=job.answer_within_s,
    )


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
