"""What the lab stores of a trial: its evidence judged, its record, and the series of its load. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import polars as pl

from mydyno.core.grounds import BY_NAME
from mydyno.lab.analysis.disk_theory import load_remarks, remarks
from mydyno.lab.analysis.littles_law import Utilisation, utilisation
from mydyno.lab.load import messages
from mydyno.lab.plan import Point
from mydyno.lab.results.records import GroundRecord, Invalidity, Remark, SelfCheckRecord, TrialRecord
from mydyno.lab.sampling.frames import sample_frame
from mydyno.lab.sampling.series import restarts, stretch, totals
from mydyno.lab.trial import validity
from mydyno.lab.trial.attempt import Attempt
from mydyno.lab.trial.drive import Observed
from mydyno.lab.trial.external import other_traffic, without_client, without_host
from mydyno.lab.trial.job import clock_ends, load_of
from mydyno.lab.trial.measurement import judge_phases
from mydyno.lab.trial.running import Running


@dataclass(frozen=True)
class Outcome:
    """The record of a trial, and what is stored with it."""

    record: TrialRecord
    samples: pl.DataFrame = field(default_factory=lambda: sample_frame([]))
    intervals: tuple[messages.Interval, ...] = ()
    histograms: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def unmeasured(attempt: Attempt, reason: Invalidity) -> Outcome:
    """A trial of which nothing is known but the reason."""
    return Outcome(
        attempt.record(
            (reason,),
            server_version=None,
            durability=None,
            settings_asked={},
            settings_in_force={},
            counters={},
            phases=(),
        )
    )


def judge(attempt: Attempt, running: Running, observed: Observed) -> Outcome:
    """Whether the trial may count, and its numbers: of the steady parts of its phases."""
    point, collector = attempt.point, observed.collector
    samples = sample_frame(collector.samples, collector.phases)
    if not observed.host_seen:
        samples = without_host(samples)
    if observed.networks:
        samples = without_client(samples)
    counters, whole = totals(samples), stretch(samples, 0.0, float("inf"))
    cpu = utilisation(whole.growth, whole.seconds) if whole else None
    failed = (observed.failure.reason(attempt.folder),) if observed.failure else ()
    judged = judge_phases(
        collector.phases,
        collector.intervals,
        samples,
        collector.histograms,
        timed=clock_ends(point.workload),
    )
    record = attempt.record(
        (*failed, *validity.check(_evidence(point, observed, samples, counters, cpu))),
        server_version=observed.server_version,
        durability=observed.durability,
        settings_asked={name: str(value) for name, value in observed.settings_asked.items()},
        settings_in_force=observed.settings_in_force,
        counters=counters,
        phases=judged.phases,
        checks=tuple(collector.checks),
        ground=observed.ground,
        self_checks=running.self_checks,
        data=observed.data,
        remarks=(
            *_remarks_on_disks(point, observed.ground, running.self_checks, cpu),
            *_remarks_on_others(point, observed, counters),
            *_remarks_on_generators(observed),
            *judged.remarks,
            *collector.remarks,
        ),
        translations=observed.translations,
        networks=observed.networks,
    )
    return Outcome(record, samples, tuple(collector.intervals), judged.histograms)


def _evidence(
    point: Point,
    observed: Observed,
    samples: pl.DataFrame,
    counters: Mapping[str, int | float],
    cpu: Utilisation | None,
) -> validity.Evidence:
    collector, most = observed.collector, counters.get("Max_used_connections")
    return validity.Evidence(
        phases=collector.phases,
        phases_planned=point.workload.phases,
        settings_differences=observed.differences,
        misplaced=observed.misplaced,
        max_used_connections=None if most is None else int(most),
        reactors=collector.hello.reactors if collector.hello else 1,
        steal=cpu.steal if cpu else None,
        server_alive=observed.server_alive,
        server_restarted=bool(restarts(samples)),
        rows_expected=observed.rows_expected,
        rows_found=observed.rows_found,
        checks=collector.checks,
        of_trace=point.workload.trace_options is not None,
        loads=[load_of(point.workload, phase) for phase in collector.phases],
        host_lost=observed.host_lost if observed.failure is None else None,
    )


def _remarks_on_disks(
    point: Point, ground: GroundRecord | None, checks: tuple[SelfCheckRecord, ...], cpu: Utilisation | None
) -> Iterator[Remark]:
    """What the checks of the disks found, and whether the environment's CPUs had idle time under the load."""
    if ground is None:
        return
    storage = point.setup.storage
    disks = [volume.disks for volume in storage.volumes.values()] if storage is not None else []
    limited = any(disk.iops is not None or disk.bandwidth is not None for disk in disks)
    own = cpu.own(ground.cpus) if cpu else None
    yield from remarks(checks, BY_NAME[ground.kind].tolerance)
    yield from load_remarks(cpu.busy if cpu else None, own, limited=limited)


def _remarks_on_others(
    point: Point, observed: Observed, counters: Mapping[str, int | float]
) -> Iterator[Remark]:
    """What others did on a server that is not mydyno's. Only the engine reports all statements sent."""
    if point.setup.server.external is not None and point.workload.resolved is not None:
        collector = observed.collector
        yield from other_traffic(counters.get("Questions"), collector.intervals, collector.samples)


def _remarks_on_generators(observed: Observed) -> Iterator[Remark]:
    for each in observed.networks:
        if each.beside_server:
            message = f"the generator {each.host} is the server's machine: both share its CPUs"
            yield Remark(check="generators", message=message)
