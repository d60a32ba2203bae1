"""From a point of the plan to the load's job. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from mydyno.load import job as jobs
from mydyno.plan import Plan, PlannedTrial, Point
from mydyno.spec import Each, Workload

DATABASE = "mydyno"
"""The schema that holds every table of a workload."""


def preparing(target: jobs.Target, workload: Workload, seed: int) -> jobs.Job:
    """Make and load the tables, and no more."""
    return jobs.Job(target=target, seed=seed, workload=engine_workload(workload), prepare="create")


def driving(
    target: jobs.Target, plan: Plan, point: Point, trial: PlannedTrial, server_pid: int | None
) -> jobs.Job:
    """Every phase of a trial on tables that are there."""
    workload = point.workload
    return jobs.Job(
        target=target,
        seed=trial.seed,
        workload=engine_workload(workload),
        phases=phases(workload),
        sampling=jobs.Sampling(interval_s=plan.sampling.every, server_pid=server_pid),
        interval_s=plan.sampling.every,
        answer_within_s=workload.answer_within,
    )


def engine_workload(workload: Workload) -> dict[str, Any]:
    """What is run, as the engine's `workload` object. An external program has one of its own."""
    if workload.sql_bench is not None:
        return {"sql_bench": workload.sql_bench.job}
    if workload.resolved is not None:
        return {"program": workload.resolved.program}
    return {"watch": {}}


def phases(workload: Workload) -> tuple[jobs.Phase, ...]:
    """One for each number of connections; the engine makes those of sql-bench itself."""
    each, rate, think = workload.each, workload.arrival.rate, workload.think
    if each is None:
        return ()
    last = len(workload.connections) - 1
    return tuple(
        jobs.Phase(
            connections=connections,
            arrival=jobs.closed_loop() if rate is None else jobs.open_loop(workload.arrival.kind, rate),
            work=_work(each),
            pause_s=0.0 if index == last else workload.pause,
            active=None if workload.active is None else min(workload.active, connections),
            think=None if think is None else jobs.think(think.kind, think.mean),
            ramp_s=workload.ramp,
        )
        for index, connections in enumerate(workload.connections)
    )


def _work(each: Each) -> dict[str, Any]:
    if each.rounds is not None:
        return jobs.rounds(each.rounds)
    if each.events is not None:
        return jobs.events(each.events)
    if each.split is not None:
        return jobs.split(each.split)
    assert each.measure is not None, "the spec asks for one of them"
    return jobs.timed(each.warmup or 0.0, each.measure)


def keeps_row_counts(workload: Workload) -> bool:
    """Whether the tables must hold as many rows after the load as before it: nothing is inserted or deleted,
    or each event deletes as many rows as it inserts."""
    if workload.resolved is None:
        return False
    words = Counter(_first_words(workload.resolved.program["transactions"]))
    return words["insert"] == words["delete"] and not words.keys() & {"replace", "truncate", "load", "call"}


def _first_words(node: Any) -> Iterator[str]:
    """The first word of every statement below a node of the program, in small letters."""
    if isinstance(node, list):
        for each in node:
            yield from _first_words(each)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key == "sql":
                yield str(value[0]).split(None, 1)[0].lower()
            else:
                yield from _first_words(value)
