"""A plan as plain data and as text, for people who want to know before they run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mydyno.core.document.base import Section
from mydyno.core.plurals import counted, plural
from mydyno.core.units import format_bytes, format_duration, format_range
from mydyno.lab.plan.data_size import dataset_rows
from mydyno.lab.plan.describe_storage import describe_host, describe_storage
from mydyno.lab.plan.design import described, factors_of, lettered
from mydyno.lab.plan.fleet import described as described_fleet
from mydyno.lab.plan.layers import LAYERS, first_difference, layer_keys, rebuilds
from mydyno.lab.plan.plan import Plan
from mydyno.lab.plan.point import Point
from mydyno.lab.plan.statements import writes
from mydyno.lab.spec import Each, Workload


@dataclass(frozen=True)
class PointRow:
    id: str
    title: str
    levels: dict[str, str]
    storage: str | None
    """Host and volumes on one line; None for this machine as it is."""
    notes: tuple[str, ...]
    workload: str
    phases: str
    trials: int


@dataclass(frozen=True)
class TrialRow:
    id: str
    block: int
    point_id: str
    title: str
    rebuilt_from: str
    """The lowest layer that differs from the trial before, with which all above it are rebuilt; what is fresh
    where none differs."""


FEW_FACTORS = 2
"""With more, points are named by their levels alone, below the names of the factors."""


@dataclass(frozen=True)
class Explanation:
    """What a plan would do, ready to be laid out."""

    experiment: str
    question: str | None
    size: str | None
    fingerprint: str
    seed: int
    factors: tuple[str, ...]
    """Full names, in the order of the file."""
    points: tuple[PointRow, ...]
    design: tuple[str, ...]
    """What is to be known of the design, one sentence each."""
    fleet: tuple[str, ...]
    """Which host runs what, one sentence each; nothing without a fleet."""
    trials: tuple[TrialRow, ...]
    rebuilds: dict[str, int]
    """Layer -> how often it is built; every trial starts its server on a fresh clone."""
    disks: tuple[str, ...]
    """Real disks: model, serial, size and what they carry."""
    low_seconds: float
    high_seconds: float
    disk_bytes: int
    assumptions: tuple[str, ...]
    side_effects: tuple[str, ...]
    warnings: tuple[str, ...]


def explain(plan: Plan) -> Explanation:
    """The plan as rows and sentences."""
    by_id = {point.id: point for point in plan.points}
    keys = {point.id: layer_keys(point) for point in plan.points}
    counts = {point_id: sum(trial.point_id == point_id for trial in plan.trials) for point_id in by_id}
    trials: list[TrialRow] = []
    before: str | None = None
    for trial in plan.trials:
        lowest = first_difference(keys[before], keys[trial.point_id]) if before else 0
        rebuilt_from = LAYERS[lowest] if lowest < len(LAYERS) else _fresh(by_id[trial.point_id])
        title = _title(by_id[trial.point_id], factors_of(plan.points))
        trials.append(TrialRow(trial.id, trial.block, trial.point_id, title, rebuilt_from))
        before = trial.point_id
    return Explanation(
        experiment=plan.experiment_name,
        question=plan.question,
        size=plan.size,
        fingerprint=plan.fingerprint,
        seed=plan.seed,
        factors=factors_of(plan.points),
        points=tuple(
            PointRow(
                id=point.id,
                title=_title(point, factors_of(plan.points)),
                levels=dict(point.levels),
                storage=_storage(point),
                notes=point.notes,
                workload=describe_workload(point.workload),
                phases=describe_phases(point.workload),
                trials=counts[point.id],
            )
            for point in plan.points
        ),
        design=tuple(described(plan.design, plan.points, plan.blocks)),
        fleet=tuple(described_fleet(plan.fleet, plan.blocks, plan.seed)) if plan.fleet else (),
        trials=tuple(trials),
        rebuilds=_rebuilds(plan, by_id),
        disks=plan.disks,
        low_seconds=plan.estimate.low_seconds,
        high_seconds=plan.estimate.high_seconds,
        disk_bytes=plan.estimate.disk_bytes,
        assumptions=plan.estimate.assumptions,
        side_effects=plan.side_effects,
        warnings=plan.warnings,
    )


def _title(point: Point, factors: tuple[str, ...]) -> str:
    """`thread_cache_size = 8`; of many factors the levels alone."""
    if len(factors) <= FEW_FACTORS:
        return point.title or "the only point"
    levels = " · ".join(point.levels.get(factor, "–") for factor in factors)
    return levels if point.control_of is None else f"{levels} (A/A control)"


def _of_factors(factors: tuple[str, ...]) -> str:
    """The order of the levels in a title that has levels alone."""
    if len(factors) <= FEW_FACTORS:
        return ""
    named = (f"{letter} {name}" for letter, name in lettered(factors).items())
    return f" of {' · '.join(named)}"


def _trial_count(plan: Plan, explained: Explanation) -> str:
    """`10 trials`, or of a sequential design `6 to 40 trials`."""
    at_least = f"{len(plan.points) * plan.design.first_look} to " if plan.design.first_look else ""
    return f"{at_least}{counted(len(explained.trials), 'trial')}"


def _fresh(point: Point) -> str:
    """What is new for every trial, also when nothing differs from the one before."""
    if point.setup.storage is not None:
        return "fresh disks"
    if point.setup.server.external is None:
        return "fresh clone"
    return "fresh tables" if writes(point.workload) else "the same tables"


def _rebuilds(plan: Plan, by_id: Mapping[str, Point]) -> dict[str, int]:
    counts = rebuilds(by_id[trial.point_id] for trial in plan.trials)
    if all(point.setup.storage is None for point in plan.points):
        del counts["storage"]
    return counts


def render(plan: Plan) -> str:
    """The explanation as plain text, for a pipe or a log."""
    explained = explain(plan)
    size = f" (size {explained.size})" if explained.size else ""
    lines = [f"{explained.experiment}{size}"]
    if explained.question:
        lines.append(explained.question)
    lines += ["", f"{counted(len(explained.points), 'point')}{_of_factors(explained.factors)}"]
    common_storage = _shared_storage(explained)
    wide = max(4, *(len(row.id) for row in explained.points))
    loads = {f"{row.workload}, {row.phases}" for row in explained.points}
    if len(loads) == 1:
        for row in explained.points:
            lines += [f"  {row.id:{wide}} {row.title}", *_below(row, common_storage)]
        lines.append(f"  load {loads.pop()}")
    else:
        for row in explained.points:
            lines += [
                f"  {row.id:{wide}} {row.title}: {row.workload}, {row.phases}",
                *_below(row, common_storage),
            ]
    if common_storage:
        lines.append(f"  on {common_storage}")
    lines += [f"  {device}" for device in explained.disks]
    lines += [
        "",
        f"{_trial_count(plan, explained)}, seed {explained.seed}, plan {explained.fingerprint[:12]}",
    ]
    lines += [f"  {sentence}" for sentence in (*explained.design, *explained.fleet)]
    shown = [row for row in explained.trials if row.block <= (plan.design.first_look or row.block)]
    lines += [
        f"  {row.id} block {row.block:<3} {row.point_id:{wide}} {row.title} [{row.rebuilt_from}]"
        for row in shown
    ]
    if len(shown) < len(explained.trials):
        lines.append(f"  blocks {shown[-1].block + 1} to {plan.design.at_most} in the same way, as needed")
    rebuilt = ", ".join(f"{layer} {count}" for layer, count in explained.rebuilds.items())
    lines.append(f"  layers built or changed during the run: {rebuilt}")
    time, disk = (
        format_range(explained.low_seconds, explained.high_seconds),
        format_bytes(explained.disk_bytes),
    )
    at_most = "at most " if plan.design.until else ""
    lines += [
        "",
        f"{at_most}{time}; about {disk} of disk, if",
    ]
    lines += [f"  - {assumption}" for assumption in explained.assumptions]
    lines += ["", "outside the lab it"]
    lines += [f"  - {effect}" for effect in explained.side_effects]
    lines += ["  - and nothing else"]
    if plan.missing_tools:
        lines += ["", "missing programs"]
        lines += [f"  ! {tool.sentence}" for tool in plan.missing_tools]
    if explained.warnings:
        lines += ["", "warnings"]
        lines += [f"  ! {warning}" for warning in explained.warnings]
    return "\n".join(lines) + "\n"


def _storage(point: Point) -> str | None:
    storage = point.setup.storage
    if storage is None:
        return None if point.setup.host.kind == "local" else describe_host(point.setup)
    return f"{describe_host(point.setup)}; {describe_storage(storage)}"


def _shared_storage(explained: Explanation) -> str | None:
    """Host and volumes when they are the same at every point."""
    all_of_them = {row.storage for row in explained.points}
    return all_of_them.pop() if len(all_of_them) == 1 else None


def _below(row: PointRow, common_storage: str | None) -> list[str]:
    storage = [f"on {row.storage}"] if row.storage and not common_storage else []
    return [f"         {line}" for line in (*storage, *row.notes)]


def describe_workload(workload: Workload) -> str:
    """`oltp-read-only {tables: 4}, 40,000 rows`: the generator with what was chosen for it."""
    options = workload.options
    chosen = {
        name: value
        for name, value in options.model_dump(mode="json").items()
        if name not in type(options).model_fields or value != _default(options, name)
    }
    with_options = f" {{{', '.join(f'{name}: {_flow(value)}' for name, value in chosen.items())}}}"
    rows = f", {dataset_rows(workload):,} rows" if dataset_rows(workload) else ""
    return f"{workload.generator}{with_options if chosen else ''}{rows}"


def _default(options: Section, name: str) -> Any:
    return type(options).model_fields[name].get_default(call_default_factory=True)


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {_flow(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def describe_phases(workload: Workload) -> str:
    """`40 phases of 10 to 400 connections, 100 rounds each, 10s apart`."""
    counts = workload.connections
    if workload.fio_options is not None:
        stretches = workload.fio_options.stretches
        depths = sorted({stretch.depth for stretch in stretches})
        span = f"{depths[0]}" if len(depths) == 1 else f"{depths[0]} to {depths[-1]}"
        return f"{counted(len(stretches), 'phase')} at a queue depth of {span}"
    if workload.trace_options is not None:
        return f"1 phase: {workload.trace_options.summary}"
    if workload.each is None:
        programs = workload.phases
        return f"{counted(programs, 'test program')} by 1 connection"
    span = f"{counts[0]}" if len(counts) == 1 else f"{min(counts)} to {max(counts)}"
    rate = workload.arrival.rate
    arrival = f", {workload.arrival.kind} {rate:g}/s" if rate is not None else ""
    active = f", {workload.active} of them active" if workload.active is not None else ""
    think = f", {format_duration(workload.think.mean)} of think time" if workload.think is not None else ""
    ramp = f", opened over {format_duration(workload.ramp)}" if workload.ramp else ""
    pause = f", {format_duration(workload.pause)} apart" if workload.pause and len(counts) > 1 else ""
    unit = "connection" if counts == (1,) else "connections"
    shape = f"{active}{think}{ramp}{arrival}{pause}"
    return f"{counted(len(counts), 'phase')} of {span} {unit}, {_long(workload.each)}{shape}"


def _long(each: Each) -> str:
    if each.rounds is not None:
        return f"{each.rounds:,} {plural(each.rounds, 'round')} each"
    if each.events is not None or each.split is not None:
        how = "in all" if each.events is not None else "split between them"
        return f"{each.events or each.split:,} transactions {how}"
    warmup = f"{format_duration(each.warmup)} warm-up and " if each.warmup else ""
    return f"{warmup}{format_duration(each.measure or 0.0)} each"
