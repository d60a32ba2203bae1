"""From a point of the plan to the load's job. Pure."""

from typing import Any

from mydyno.lab.analysis.littles_law import Load
from mydyno.lab.load import job as jobs
from mydyno.lab.plan import Plan, PlannedTrial, Point
from mydyno.lab.plan.statements import first_words
from mydyno.lab.results.records import PhaseRecord
from mydyno.lab.spec import Each, Workload

DATABASE = "mydyno"
"""The schema that holds every table of a workload on a server of mydyno's own."""

INTERVALS = 60
"""Of the measured part of each phase, at least: enough to judge it."""
SHORTEST_S = 0.1
"""Ten intervals a second: putting a histogram together and writing it takes some 0.3 ms, 0.3% of a CPU."""


def database_of(point: Point) -> str:
    """The schema that holds every table of the point's workload."""
    external = point.setup.server.external
    return DATABASE if external is None else external.database


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
        workload=engine_workload(workload, reads_only=point.setup.server.external is not None),
        phases=phases(workload),
        sampling=jobs.Sampling(interval_s=plan.sampling.every, server_pid=server_pid),
        interval_s=interval_of(workload, plan.sampling.every),
        answer_within_s=workload.answer_within,
    )


def sampling_of(job: jobs.Job) -> jobs.Job:
    """Only the samples of a job, for an engine on the server's machine; the load comes from others."""
    return jobs.Job(
        target=job.target,
        seed=job.seed,
        workload={"watch": {}},
        sampling=job.sampling,
        answer_within_s=job.answer_within_s,
    )


def interval_of(workload: Workload, sampled_every_s: float) -> float:
    """How long the load's intervals are: as the samples, or shorter where a phase would have too few to see
    whether it is steady."""
    measured_s = workload.each.measure if workload.each is not None else None
    if measured_s is None:
        return sampled_every_s
    return min(sampled_every_s, max(measured_s / INTERVALS, SHORTEST_S))


def engine_workload(workload: Workload, *, reads_only: bool = False) -> dict[str, Any]:
    """What is run, as the engine's `workload` object. An external program has a different one.

    `reads_only`: of a trace that does not say itself what of it is replayed.
    """
    if workload.trace_options is not None:
        return {"replay": workload.trace_options.job(reads_only=reads_only)}
    if workload.sql_bench is not None:
        return {"sql_bench": workload.sql_bench.job}
    if workload.resolved is not None:
        return {"program": workload.resolved.program}
    return {"watch": {}}


def phases(workload: Workload) -> tuple[jobs.Phase, ...]:
    """One for each number of connections; the engine makes those of sql-bench itself."""
    each, rate, think = workload.each, workload.arrival.rate, workload.think
    if workload.trace_options is not None:
        peak = workload.trace_options.survey.peak_connections
        return (jobs.Phase(max(1, peak), jobs.closed_loop(), jobs.whole_trace()),)
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


def load_of(workload: Workload, phase: PhaseRecord) -> Load | None:
    """What Little's law needs to know of a phase's load; None for test programs, whose statements are
    alone, for traces, and for slices, at whose ends the connections empty."""
    if workload.sql_bench is not None or workload.trace_options is not None or phase.slices is not None:
        return None
    if workload.fio_options is not None:
        # Options of fio let its jobs rest and wait for fsync in ways that only fio knows.
        return Load(phase.connections_asked, closed=True, all_busy=False)
    each, think = workload.each, workload.think
    shared = each is not None and (each.measure is not None or each.events is not None)
    rests = workload.resolved is not None and _rests(workload.resolved.program)
    return Load(
        connections=min(workload.active or phase.connections_asked, phase.connections_asked),
        closed=workload.arrival.rate is None,
        rate=workload.arrival.rate,
        rest_s=0.0 if think is None else think.mean,
        all_busy=shared and not rests and not (workload.ramp and each is not None and each.measure is None),
    )


def clock_ends(workload: Workload) -> bool:
    """Whether phases last for a time, not for an amount of work."""
    if workload.each is None:
        return workload.fio_options is not None
    return workload.each.measure is not None


def _rests(part: Any) -> bool:
    """Whether a program, or a part of it, has a step that only waits: it may be outside of all statements."""
    if isinstance(part, dict):
        return "pause_s" in part or any(map(_rests, part.values()))
    return isinstance(part, list) and any(map(_rests, part))


def _work(each: Each) -> dict[str, Any]:
    if each.rounds is not None:
        return jobs.rounds(each.rounds)
    if each.events is not None:
        return jobs.events(each.events)
    if each.split is not None:
        return jobs.split(each.split)
    assert each.measure is not None, "the spec requires one of them"
    return jobs.timed(each.warmup or 0.0, each.measure)


def keeps_row_counts(workload: Workload) -> bool:
    """Whether the tables must hold as many rows after the load as before it: nothing is inserted or deleted,
    or each event deletes as many rows as it inserts."""
    if workload.resolved is None:
        return False
    words = first_words(workload)
    return words["insert"] == words["delete"] and not words.keys() & {"replace", "truncate", "load", "call"}
