"""Makes the datasets of a plan before its first trial, for what has to be known of them before a load."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from mydyno.core.errors import LabError
from mydyno.core.units import format_bytes
from mydyno.lab.plan import Point
from mydyno.lab.stack import BuiltLayers, FrozenDataset, Server, Site
from mydyno.lab.stack.datasets.manifest import read_manifest
from mydyno.lab.trial.drivers import load_tables
from mydyno.lab.trial.events import Listener, Step
from mydyno.lab.trial.own_data import Identified
from mydyno.lab.trial.preflight import Prepared
from mydyno.lab.trial.running import dataset_layers

_UNPACKED = {"plain": 2.0, "packed": 10.0}
"""Times a dump that its tables may take: indexes; and text that a packed dump has packed."""


def make_datasets(prepared: Prepared, site: Site, emit: Listener) -> Mapping[str, frozenset[str]]:
    """Point id -> its tables, as `schema.table`, in small letters. Those that are in the cache are not made
    again. Raises LabError with numbers when they would not fit, ServerError."""
    _refuse_full_disk(prepared, site)
    tables = {}
    for point in prepared.plan.points:
        if not point.starts_server:
            continue
        layers = dataset_layers(prepared, point, partial(_loaded, point, prepared.plan.dataset_seed, emit))
        emit(Step(f"loading the data for {point.title or prepared.binary(point).version}"))
        for layer in layers:
            frozen: FrozenDataset = layer.build(site, BuiltLayers())
            listed = read_manifest(frozen.data.parent).tables or {}
            tables[point.id] = frozenset(name.lower() for name in listed)
    return tables


def _loaded(point: Point, seed: int, emit: Listener, server: Server) -> Mapping[str, Any]:
    return load_tables(server, point, seed, emit)


def _refuse_full_disk(prepared: Prepared, site: Site) -> None:
    """Room for each dataset that is not there yet, and for the clone of one trial."""
    sizes = {
        (prepared.makers[point].build, str(sorted(own.contents.items()))): _size(own)
        for point, own in prepared.own_data.items()
    }
    facts = site.host.facts(site.lab)
    clone = 0 if facts.shares_blocks else max(sizes.values(), default=0)
    needed, free = sum(sizes.values()) + clone, facts.free_disk_bytes
    if (site.lab / "cache" / "datasets").is_dir():
        needed = clone  # What is loaded is not loaded again; loading itself finds a full disk, too.
    if free is not None and free < needed:
        raise LabError(
            f"{len(sizes)} loaded copies of the data and a clone take about {format_bytes(needed)}, and"
            f" {site.lab} has {format_bytes(free)} free",
            "free some space, or --lab on a larger disk; xfs and btrfs share the blocks of clones",
        )


def _size(own: Identified) -> int:
    if own.data.is_files:
        return own.described.size_bytes
    packed = own.data.path.suffix in (".gz", ".bz2", ".xz", ".zst")
    return int(own.described.size_bytes * _UNPACKED["packed" if packed else "plain"])
