"""Who carries out a job: the engine, or the external program that the workload names."""

from __future__ import annotations

from mydyno.host.protocol import Host
from mydyno.load.driver import Driver
from mydyno.load.engine import Engine
from mydyno.load.external import External
from mydyno.load.job import Job
from mydyno.spec import Workload


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
