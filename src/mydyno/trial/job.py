"""From a point of the plan to the engine's job. Pure."""

from __future__ import annotations

from typing import Any

from mydyno.load import job as jobs
from mydyno.plan import Plan, PlannedTrial, Point
from mydyno.spec import Each, Workload

DATABASE = "mydyno"
"""The schema that holds every table of a workload."""


def workload_of(workload: Workload) -> dict[str, Any]:
    """What is run, as the engine's `workload` object."""
    chosen = workload.sysbench if workload.sysbench is not None else workload.smack
    assert chosen is not None, "the spec lets no workload without a kind through"
    return {workload.kind: chosen.model_dump(mode="json")}


def preparing(target: jobs.Target, workload: Workload, seed: int) -> jobs.Job:
    """Make and load the tables, and no more."""
    return jobs.Job(target=target, seed=seed, workload=workload_of(workload), prepare="create")


def driving(
    target: jobs.Target, plan: Plan, point: Point, trial: PlannedTrial, server_pid: int | None
) -> jobs.Job:
    """Every phase of a trial on tables that are there."""
    workload = point.workload
    rate = workload.arrival.rate
    arrival = jobs.closed_loop() if rate is None else jobs.open_loop(workload.arrival.kind, rate)
    last = len(workload.connections) - 1
    return jobs.Job(
        target=target,
        seed=trial.seed,
        workload=workload_of(workload),
        phases=tuple(
            jobs.Phase(
                connections=connections,
                arrival=arrival,
                work=_work(workload.each),
                pause_s=0.0 if index == last else workload.pause,
            )
            for index, connections in enumerate(workload.connections)
        ),
        sampling=jobs.Sampling(interval_s=plan.sampling.every, server_pid=server_pid),
        interval_s=plan.sampling.every,
    )


def _work(each: Each) -> dict[str, Any]:
    if each.rounds is not None:
        return jobs.rounds(each.rounds)
    assert each.measure is not None, "the spec asks for rounds or measure"
    return jobs.timed(each.warmup or 0.0, each.measure)
