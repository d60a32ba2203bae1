"""From an experiment to the list of its trials, with what they cost and what they touch."""

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

from mydyno.core.facts import AskedDisk, DiskFacts, GroundFacts, HostFacts
from mydyno.core.record import Record
from mydyno.core.units import format_bytes
from mydyno.lab.plan.design import Order, PlannedDesign, order_of, planned_design
from mydyno.lab.plan.estimate import Estimate, estimate
from mydyno.lab.plan.fleet import Fleet, differing, fleet_of, on_hosts
from mydyno.lab.plan.ground_checks import MissingTool, ground_problems, missing_tools
from mydyno.lab.plan.memory import DEFAULT_MAX_CONNECTIONS, TIGHT, memory_sum
from mydyno.lab.plan.mount_options import mount_problems, mount_warnings
from mydyno.lab.plan.order import FEWEST_BLOCKS, blocked, control_of, is_controlled, order_keys, trial_seed
from mydyno.lab.plan.point import Point, memory_bytes, points_of
from mydyno.lab.plan.room import room_problems
from mydyno.lab.plan.side_effects import side_effects
from mydyno.lab.plan.slices import slice_warnings
from mydyno.lab.plan.trial_times import TrialTime
from mydyno.lab.spec import Experiment, Load, Problem, Sampling, SpecErrors, Variant


class PlannedTrial(Record):
    """One repetition of one point."""

    id: str
    """t001, t002, ... in the order in which they run."""
    index: int
    """0-based position in that order."""
    block: int
    """Which repetition this is, from 1."""
    point_id: str
    seed: int
    """For the load of this trial; the same for all points of a block."""


class Plan(Record):
    """What `run` does. Plain values: as JSON and back it is the same plan."""

    experiment_name: str
    question: str | None
    size: str | None
    fingerprint: str
    """Of all that decides what is measured; a comment in the file or a new question does not change it."""
    seed: int
    data_seed: int | None = None
    points: tuple[Point, ...]
    trials: tuple[PlannedTrial, ...]
    sampling: Sampling
    estimate: Estimate
    side_effects: tuple[str, ...]
    """What happens outside the lab folder, and how it ends."""
    warnings: tuple[str, ...]
    missing_tools: tuple[MissingTool, ...] = ()
    disks: tuple[str, ...] = ()
    """The real disks that are built on, as their machine describes them."""
    design: PlannedDesign = PlannedDesign()
    fleet: Fleet | None = None
    """The machines over which the blocks are spread; None where each point has its host."""
    load: Load | None = None
    """The generators; None: the load comes from the server's machine."""

    @property
    def dataset_seed(self) -> int:
        return self.seed if self.data_seed is None else self.data_seed

    @property
    def blocks(self) -> int:
        """Of a sequential design, at most."""
        return self.trials[-1].block

    def point(self, point_id: str) -> Point:
        """The point with this id. Raises KeyError."""
        for point in self.points:
            if point.id == point_id:
                return point
        raise KeyError(point_id)


def make(
    experiment: Experiment,
    facts: HostFacts,
    grounds: GroundFacts | None = None,
    past: Sequence[TrialTime] = (),
) -> Plan:
    """The plan of `experiment` on a machine with `facts`; reads and changes nothing else.

    `grounds` None: what the environments of the machine can do is not checked. `past`: what its last trials
    took, oldest first; only the estimate of time depends on it. Raises SpecErrors when a
    point needs more memory than there is, larger volumes than it has, or what its environment
    does not offer.
    """
    described = points_of(experiment, facts)
    problems = [*room_problems(described), *mount_problems(described), *_fleet_problems(described)]
    if grounds is not None:
        problems += ground_problems(described, grounds)
    warnings = _check_memory(described, facts, problems)
    if problems:
        raise SpecErrors(problems)
    points, order = _chosen(experiment, tuple(point for point, _ in described), facts)
    trials, design = _trials(experiment, points, order), planned_design(experiment, points, order)
    # Which points there are must not depend on what this machine has measured before.
    cost = _cost(experiment, points, order, facts, past)
    fleet = None
    if points[0].setup.host.is_fleet:
        fleet = fleet_of(facts, experiment.design.control is not False)
        made_once = estimate(points, (), facts.shares_blocks, past=past).seconds
        cost, fleet = on_hosts(fleet, cost, made_once, experiment.design.blocks, experiment.design.rest)
    return Plan(
        experiment_name=experiment.name,
        question=experiment.question,
        size=experiment.size,
        fingerprint=_fingerprint(experiment, points, trials, design),
        design=design,
        seed=experiment.design.seed,
        data_seed=experiment.design.data_seed,
        points=points,
        trials=trials,
        sampling=experiment.sampling,
        load=experiment.load,
        estimate=cost,
        fleet=fleet,
        side_effects=side_effects(points, grounds, experiment.load),
        warnings=(
            *warnings,
            *mount_warnings(described),
            *_warnings(experiment, points, cost, facts),
            *slice_warnings(order.sliced, experiment.design.slice or 0.0),
            *(differing(fleet) if fleet else ()),
        ),
        missing_tools=missing_tools(described, grounds) if grounds else (),
        disks=_described(grounds.disks) if grounds else (),
    )


def _described(disks: Mapping[AskedDisk, DiskFacts]) -> tuple[str, ...]:
    return tuple(
        facts.description if disk.host is None else f"{disk.host}: {facts.description}"
        for disk, facts in disks.items()
    )


def _fleet_problems(described: Sequence[tuple[Point, Variant]]) -> list[Problem]:
    """Points of a fleet next to others: blocks are spread only where every point may be on each host."""
    in_fleet = [point.setup.host.is_fleet for point, _ in described]
    if all(in_fleet) or not any(in_fleet):
        return []
    _, variant = described[in_fleet.index(True)]
    message = "some points run on any host of the fleet, and others on a host that is named"
    return [variant.problem(("setup", "host"), message, "ssh for all points, or ssh:NAME for each")]


def _chosen(
    experiment: Experiment, points: tuple[Point, ...], facts: HostFacts
) -> tuple[tuple[Point, ...], Order]:
    """The points with an A/A control where there is one, and the order in which they are measured."""
    design, controlled = experiment.design, (*points, control_of(points[0]))
    order = order_of(experiment, points if design.control is False else controlled, facts)
    if order.name == "slices":
        return (points if design.control is False else controlled), order
    longer = _cost(experiment, controlled, order, facts).seconds
    longer /= _cost(experiment, points, order, facts).seconds
    return (controlled if is_controlled(design, len(points), longer) else points), order


def _trials(experiment: Experiment, points: Sequence[Point], order: Order) -> tuple[PlannedTrial, ...]:
    design = experiment.design
    return tuple(
        PlannedTrial(
            id=f"t{index + 1:03d}",
            index=index,
            block=block,
            point_id=point.id,
            seed=trial_seed(design.seed, block),
        )
        for index, (block, point) in enumerate(_visited(experiment, points, order))
    )


def _visited(experiment: Experiment, points: Sequence[Point], order: Order) -> Iterator[tuple[int, Point]]:
    """(block, point) of each trial."""
    design, keyed = experiment.design, order_keys(points)
    for block in range(1, design.blocks + 1):
        shuffled = points if order.name == "sequential" else blocked(keyed, design.seed, block)
        yield from ((block, point) for point in _together(shuffled, order.sliced))


def _together(points: Sequence[Point], groups: Sequence[Sequence[Point]]) -> Iterator[Point]:
    """`points` in their order, but the points of a group follow its first one, in the order of the file."""
    group_of = {point.id: group for group in groups for point in group}
    visited: set[str] = set()
    for point in points:
        if point.id not in visited:
            together = group_of.get(point.id, (point,))
            visited |= {each.id for each in together}
            yield from together


def _cost(
    experiment: Experiment,
    points: Sequence[Point],
    order: Order,
    facts: HostFacts,
    past: Sequence[TrialTime] = (),
) -> Estimate:
    """Of a sequential design all that it may take, the rests between blocks included."""
    visited = (point for _, point in _visited(experiment, points, order))
    rests = experiment.design.rest * (experiment.design.blocks - 1)
    return estimate(
        points, visited, facts.shares_blocks, rests, past, clones=max(map(len, order.sliced), default=1)
    )


def _check_memory(
    described: Sequence[tuple[Point, Variant]], facts: HostFacts, problems: list[Problem]
) -> list[str]:
    """Warnings for points that nearly fill the memory; those that cannot fit go to `problems`."""
    warnings: list[str] = []
    for point, variant in described:
        memory = memory_bytes(point.setup, facts)
        needs = memory_sum(point)
        if memory is None or needs.largest is None:
            continue
        where = f" at {point.title}" if point.levels else ""
        host = point.setup.host
        here = "the smallest host" if host.is_fleet else "this machine"
        who = host.name or ("the guest" if host.is_guest else here)
        has = f"{who} has {format_bytes(memory)}"
        if needs.total > memory:
            location = ("setup", "server", "config", needs.largest)
            message = f"the server may need more memory than there is{where}: {needs.arithmetic()}, and {has}"
            problems.append(variant.problem(location, message, f"a sum of at most {format_bytes(memory)}"))
        elif needs.total > TIGHT * memory:
            warnings.append(f"memory is tight{where}: {needs.arithmetic()}, and {has}")
    return warnings


def _warnings(experiment: Experiment, points: Sequence[Point], cost: Estimate, facts: HostFacts) -> list[str]:
    warnings: list[str] = []
    most = max(max(point.workload.connections) for point in points)
    guests = [point.setup.host.guest_memory_bytes or 0 for point in points]
    if facts.memory_bytes is not None and max(guests) > facts.memory_bytes:
        has = f"this machine has {format_bytes(facts.memory_bytes)}"
        warnings.append(f"a guest is to have {format_bytes(max(guests))} of memory, and {has}")
    unlimited = [
        point
        for point in points
        # An external server is asked.
        if point.starts_server and "max_connections" not in point.setup.server.config
    ]
    if unlimited and most > DEFAULT_MAX_CONNECTIONS:
        warnings.append(
            f"the load reaches {most} connections and max_connections is not set: most servers stop at "
            f"{DEFAULT_MAX_CONNECTIONS}"
        )
    warnings += _equal_points(points)
    if facts.free_disk_bytes is not None and cost.disk_bytes > facts.free_disk_bytes:
        free = format_bytes(facts.free_disk_bytes)
        warnings.append(f"about {format_bytes(cost.disk_bytes)} of disk is needed and {free} is free")
    if experiment.design.blocks < FEWEST_BLOCKS and len(points) > 1:
        repeats = experiment.design.blocks
        warnings.append(f"{repeats} repetition{'s'[: repeats != 1]} cannot show a difference: use 5 or more")
    if experiment.design.order == "sequential" and len(points) > 1:
        warnings.append(
            "in sequential order a slow drift of the machine looks like a difference between points"
        )
    return warnings


def _equal_points(points: Sequence[Point]) -> list[str]:
    """Points that differ in their levels only: 40% and 80% of little data are both 6M."""
    seen: dict[str, Point] = {}
    warnings: list[str] = []
    for point in points:
        if point.control_of is not None:
            continue
        meaning = point.setup.model_dump_json() + point.workload.model_dump_json()
        first = seen.setdefault(meaning, point)
        if first is not point:
            warnings.append(f"{point.id} ({point.title}) has the same conditions as {first.id}")
    return warnings


def _fingerprint(
    experiment: Experiment,
    points: Sequence[Point],
    trials: Sequence[PlannedTrial],
    planned: PlannedDesign,
) -> str:
    design = experiment.design
    content = {
        "points": [point.model_dump(mode="json", exclude={"notes", "control_of"}) for point in points],
        "trials": [trial.model_dump(mode="json") for trial in trials],
        "sampling": experiment.sampling.model_dump(mode="json"),
        "seed": design.seed,
        # What a plan of before these keys did not have must not change its fingerprint.
        **({"until": design.until, "at_least": design.at_least} if design.until is not None else {}),
        **({"rest": design.rest} if design.rest else {}),
        **({"data_seed": design.data_seed} if design.data_seed is not None else {}),
        **({"load": experiment.load.hosts} if experiment.load else {}),
        **({"sliced": planned.sliced, "slice_s": planned.slice_s} if planned.sliced else {}),
    }
    return sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
