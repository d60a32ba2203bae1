"""How long a plan takes and how much disk it needs, from stated assumptions.

Assumptions are rough on purpose and said aloud: the first trial of a run gives better numbers.
"""

from collections.abc import Iterable, Sequence

from mydyno.core.grounds import GROUNDS, GUESTS
from mydyno.core.plurals import counted
from mydyno.core.record import Record
from mydyno.core.units import format_bytes, format_duration
from mydyno.lab.plan.data_size import EMPTY_DATADIR_BYTES, dataset_rows, redo_bytes, tables_bytes
from mydyno.lab.plan.layers import base_key, digest, layer_keys
from mydyno.lab.plan.point import Point
from mydyno.lab.plan.room import file_bytes
from mydyno.lab.plan.statements import writes
from mydyno.lab.plan.trial_times import Basis, TrialCost, TrialTime, trial_cost
from mydyno.lab.spec import Setup, Workload
from mydyno.lab.spec.setup import READING
from mydyno.lab.workload.external_program import FioOptions

QUERIES_PER_SECOND = 30_000
LOADED_ROWS_PER_SECOND = 50_000
COPIED_BYTES_PER_SECOND = 500 * 1024**2
NEW_DATASET_SECONDS = 4.0
"""Making the system tables, starting, slow shutdown, freezing."""
REFLINK_SECONDS = 0.2
"""A clone that shares its blocks, whatever its size."""
TRIAL_SECONDS = 2.0
"""Starting the server on a clone, reading the settings back, stopping it, saving."""
EXTERNAL_TRIAL_SECONDS = 0.5
"""Setting the variables of a server that runs already, putting them back, saving."""
BASE_SECONDS = 45.0
"""Booting a guest that builds the storage and clones the dataset; freezing its disks."""
FROM_BASE_SECONDS = 20.0
"""Booting a guest on overlays of a base, and assembling what is there."""
SELF_CHECK_SECONDS = 5.0
"""A short fio that holds the disks of a volume against theory."""
WARMED_BYTES_PER_SECOND = 150 * 1024**2
"""Reading tables into the buffer pool for `cache: scan` or `dump`."""
PHASE_SECONDS = 0.2
"""Opening and closing the connections of a phase."""
FILLED_BYTES_PER_SECOND = 200 * 1024**2

_BASES: dict[Basis, str] = {
    "same point": "trials take as long as the last ones of the same points on this machine",
    "same program": "trials differ from the assumptions below as the last ones of the same "
    "workload and environment did on this machine",
    "assumptions": "no similar trial was run on this machine yet: the range is wide until the first trials",
}
_ON_EXTERNAL = (
    f"an external server loads {LOADED_ROWS_PER_SECOND:,} rows/s, for each trial whose load writes, else "
    "once; its disk is not counted"
)


class Estimate(Record):
    """What a plan costs. Seconds of wall-clock time and bytes of disk at the worst moment."""

    seconds: float
    low_seconds: float
    high_seconds: float
    """The range in which `seconds` is expected to end up."""
    trials: dict[str, TrialCost]
    """Point id -> what one trial of it takes."""
    disk_bytes: int
    assumptions: tuple[str, ...]


def estimate(
    points: Sequence[Point],
    order: Iterable[Point],
    shares_blocks: bool | None = None,
    rest_seconds: float = 0.0,
    past: Sequence[TrialTime] = (),
    clones: int = 1,
) -> Estimate:
    """The cost of visiting `points` in `order`, one trial at each step.

    `shares_blocks`: whether a clone in the lab shares the dataset's blocks instead of copying them.
    `rest_seconds`: all pauses between blocks. `past`: the last trials of this machine, oldest first.
    `clones`: how many data directories there are at the same time.
    """
    by_dataset = {_dataset_key(point): point for point in points}
    bases = [point for key, point in {base_key(point): point for point in points}.items() if key is not None]
    build = sum(
        (NEW_DATASET_SECONDS if point.starts_server else 0.0) + _loading_seconds(point)
        for point in by_dataset.values()
    )
    load = {point.id: load_seconds(point.workload) for point in points}
    costs = {point.id: _trial_cost(point, bool(shares_blocks), load[point.id], past) for point in points}
    visited = [point.id for point in order]
    cloned = [
        file_bytes(point.setup, point.workload) or dataset_bytes(point) for point in points if _is_here(point)
    ]
    frozen = [dataset_bytes(point) for point in by_dataset.values() if _is_here(point)]
    frozen += [file_bytes(point.setup, point.workload) for point in bases]
    build += sum(BASE_SECONDS + _copying_seconds(point) for point in bases)
    return Estimate(
        seconds=build + rest_seconds + sum(costs[point_id].middle for point_id in visited),
        low_seconds=build + rest_seconds + sum(costs[point_id].low for point_id in visited),
        high_seconds=build + rest_seconds + sum(costs[point_id].high for point_id in visited),
        trials=costs,
        disk_bytes=sum(frozen) + clones * max(cloned, default=0),
        assumptions=(*_basis(costs.values()), *_assumptions(points, bool(shares_blocks), clones)),
    )


def _trial_cost(point: Point, shares_blocks: bool, load: float, past: Sequence[TrialTime]) -> TrialCost:
    clocked = min(load, clocked_seconds(point.workload))
    return trial_cost(point, clocked, load - clocked + _trial_overhead(point, shares_blocks), past)


def _basis(costs: Iterable[TrialCost]) -> list[str]:
    """On what the range is based, the best known first."""
    bases = {cost.basis for cost in costs}
    return [sentence for basis, sentence in _BASES.items() if basis in bases]


def clocked_seconds(workload: Workload) -> float:
    """The part of what `load_seconds` gives that a clock ends, whatever the server or the disks do."""
    if workload.sql_bench is not None:
        return 0.0
    if workload.trace_options is not None:
        return 0.0 if workload.trace_options.speed == "max" else workload.trace_options.seconds
    if workload.fio_options is not None:
        return workload.fio_options.seconds
    pauses = workload.pause * (len(workload.connections) - 1)
    each = workload.each
    if each is None or each.measure is None:
        return pauses
    return pauses + len(workload.connections) * (workload.ramp + (each.warmup or 0.0) + each.measure)


def _is_own(point: Point) -> bool:
    """Whether mydyno makes its data directory; an external server has one."""
    return point.setup.server.external is None


def _is_here(point: Point) -> bool:
    """Whether mydyno makes its data directory on a disk of this machine."""
    return _is_own(point) and point.setup.host.kind != "ssh"


def _loading_seconds(point: Point) -> float:
    return dataset_rows(point.workload) / LOADED_ROWS_PER_SECOND


def load_seconds(workload: Workload) -> float:
    """Seconds that the phases of one trial take, with the pauses between them."""
    if workload.sql_bench is not None:
        return workload.sql_bench.seconds
    if workload.trace_options is not None:
        return PHASE_SECONDS + workload.trace_options.seconds
    if workload.fio_options is not None:
        return _fio_seconds(workload.fio_options)
    pauses = workload.pause * (len(workload.connections) - 1)
    return pauses + sum(PHASE_SECONDS + _phase_seconds(workload, count) for count in workload.connections)


def _fio_seconds(fio: FioOptions) -> float:
    """Its phases, with the filling of the files and at least one try at steadiness before each."""
    filling = fio.file_bytes / FILLED_BYTES_PER_SECOND if fio.prefill else 0.0
    steady = fio.steady_state.seconds * len(fio.stretches) if fio.steady_state else 0.0
    return filling + steady + fio.seconds


def dataset_bytes(point: Point) -> int:
    """Bytes of a data directory with the workload's tables, freshly loaded or at their largest."""
    config = point.setup.server.config
    own = 0 if point.setup.data is None else point.setup.data.size_bytes
    return EMPTY_DATADIR_BYTES + redo_bytes(config) + tables_bytes(point.workload) + own


def tablespace_mib(point: Point) -> int:
    """Whole MiB of a system tablespace that holds all tables of the workload and may grow by half."""
    return 128 + int(1.5 * (dataset_bytes(point) - EMPTY_DATADIR_BYTES)) // 1024**2


def queries_per_transaction(workload: Workload) -> float:
    """Statements of one transaction, or of one round of a barrel."""
    return 1.0 if workload.resolved is None else workload.resolved.statements_per_event


def _phase_seconds(workload: Workload, connections: int) -> float:
    each = workload.each
    assert each is not None, "only sql-bench and fio go without"
    transactions = each.transactions(connections)
    if transactions is None:
        return workload.ramp + (each.warmup or 0.0) + (each.measure or 0.0)
    closed = transactions * queries_per_transaction(workload) / QUERIES_PER_SECOND
    if workload.think is not None:
        closed += transactions / (workload.active or connections) * workload.think.mean
    rate = workload.arrival.rate
    return workload.ramp + (closed if rate is None else max(closed, transactions / rate))


def clones_share_blocks(setup: Setup, shares_blocks: bool) -> bool:
    """Only where the clone lies where the dataset lies: a volume has a separate file system."""
    return shares_blocks and setup.storage is None


def _trial_overhead(point: Point, shares_blocks: bool) -> float:
    if not _is_own(point):
        return EXTERNAL_TRIAL_SECONDS + (_loading_seconds(point) if writes(point.workload) else 0.0)
    storage = point.setup.storage
    overhead = TRIAL_SECONDS
    if point.setup.cache in READING:
        overhead += tables_bytes(point.workload) / WARMED_BYTES_PER_SECOND
    if storage is not None:
        overhead += SELF_CHECK_SECONDS * len(storage.volumes)
    if base_key(point) is not None:
        return overhead + FROM_BASE_SECONDS
    shared = clones_share_blocks(point.setup, shares_blocks)
    overhead += REFLINK_SECONDS if shared else _copying_seconds(point)
    if storage is not None:
        overhead += GROUNDS[point.setup.host.kind].storage_seconds
    return overhead


def _copying_seconds(point: Point) -> float:
    return dataset_bytes(point) / COPIED_BYTES_PER_SECOND


def made_once(point: Point) -> frozenset[str]:
    """Keys of the dataset and of the frozen disks that the first trial of such a point has to make."""
    dataset = digest(_dataset_key(point)) if point.starts_server else None
    return frozenset(key for key in (dataset, base_key(point)) if key is not None)


def _dataset_key(point: Point) -> tuple[str, ...]:
    return tuple(key for layer, key in layer_keys(point) if layer in ("release", "dataset"))


def _assumptions(points: Sequence[Point], shares_blocks: bool, clones: int) -> tuple[str, ...]:
    said = [_ON_EXTERNAL] if not all(map(_is_own, points)) else []
    if own := [point for point in points if _is_own(point)]:
        said += _of_own_data(own, shares_blocks)
    if any(map(_is_here, points)):
        said.append(f"disk holds each dataset frozen once, and {counted(clones, 'clone')} of the largest")
    if any(base_key(point) is not None for point in points):
        base, trial = format_duration(BASE_SECONDS), format_duration(FROM_BASE_SECONDS)
        said.append(
            f"each storage with a dataset is frozen once for vm guests ({base}, and the disk that it takes); "
            f"booting a guest on an overlay of it takes a trial {trial}"
        )
    built = [point for point in points if point.setup.storage is not None and base_key(point) is None]
    for kind in sorted({point.setup.host.kind for point in built}):
        what = f"booting its {kind} guest with the storage" if kind in GUESTS else "building its storage"
        build, check = format_duration(GROUNDS[kind].storage_seconds), format_duration(SELF_CHECK_SECONDS)
        said.append(f"{what} takes a trial {build}, and the self-check of each volume {check}")
    if any(file_bytes(point.setup, point.workload) for point in points):
        said.append(
            "the files of the disks are sparse: they hold a clone, and the copies that the array makes"
        )
    if any(point.setup.cache in READING for point in points):
        said.append(f"tables are read into the buffer pool at {format_bytes(WARMED_BYTES_PER_SECOND)}/s")
    if any(_is_counted(point.workload) for point in points):
        said.insert(0, f"phases counted in transactions run at {QUERIES_PER_SECOND:,} queries/s")
    if any(point.workload.sql_bench is not None for point in points):
        said.insert(0, "the test programs of sql-bench take as long as with MyISAM on 2 cores")
    if any(point.workload.fio_options is not None for point in points):
        said.insert(
            0, f"fio fills its files at {format_bytes(FILLED_BYTES_PER_SECOND)}/s, and runs for its runtime"
        )
    return tuple(said)


def _of_own_data(points: Sequence[Point], shares_blocks: bool) -> list[str]:
    shared = {clones_share_blocks(point.setup, shares_blocks) for point in points}
    ways = [
        *(
            ["copies its data directory at " + format_bytes(COPIED_BYTES_PER_SECOND) + "/s"]
            * (False in shared)
        ),
        *(["clones its data directory by sharing blocks (reflink)"] * (True in shared)),
    ]
    return [
        f"a trial spends {format_duration(TRIAL_SECONDS)} on starting and stopping the server, "
        f"and {', or without storage '.join(ways)}",
        f"a new dataset takes {format_duration(NEW_DATASET_SECONDS)} and loads "
        f"{LOADED_ROWS_PER_SECOND:,} rows/s; one that the lab already has costs nothing",
    ]


def _is_counted(workload: Workload) -> bool:
    return workload.each is not None and workload.each.measure is None
