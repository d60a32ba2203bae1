"""Which layers two points share, so that the plan keeps those together that need no rebuilding.

The layers are in the order of their price: what is hard to change stays together longest. A key is a
digest, equal exactly when the layer is. A dataset is made once, on this machine, and kept: it depends on
neither host nor storage, which only say where its clones are; but for undo tablespaces, which an undo volume
needs and a dataset has or not. A base is a set of disks on which storage was built and a dataset cloned once.
"""

import hashlib
import json
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from mydyno.lab.plan.point import Point
from mydyno.lab.spec import Setup, Storage, Workload
from mydyno.lab.spec.setup import AS_CLONED
from mydyno.lab.workload.external_program import ExternalSysbench
from mydyno.server.variables import catalogue

LAYERS = ("host", "storage", "release", "dataset", "config", "workload")

_REBUILT_WITH: dict[str, tuple[str, ...]] = {
    "host": ("host",),
    "storage": ("host", "storage"),
    "release": ("release",),
    "dataset": ("release", "dataset"),
    "config": LAYERS[:5],
    "workload": LAYERS,
}
"""Layer -> the layers that a change of it rebuilds, itself among them."""


def layer_keys(point: Point) -> tuple[tuple[str, str], ...]:
    """(layer name, key) from the most to the least expensive layer to rebuild."""
    server = point.setup.server
    storage, limits = point.setup.storage, point.setup.limits
    config = {name: value.meaning for name, value in server.config.items()}
    contents = {
        "host": point.setup.host.model_dump(mode="json"),
        "storage": storage.model_dump(mode="json") if storage else None,
        "release": server.external.model_dump(mode="json")
        if server.external
        else server.binary or server.release,
        "dataset": {
            "rows": dataset_of(point.workload),
            **({} if point.setup.data is None else {"data": point.setup.data.model_dump(mode="json")}),
            "shape": {name: value for name, value in config.items() if name in catalogue().shaping},
            # Releases without undo tablespaces of their own get them when the dataset is made.
            **({"undo": True} if storage is not None and storage.undo is not None else {}),
        },
        "config": {
            "variables": config,
            "network": server.network.model_dump(mode="json"),
            "limits": limits.model_dump(mode="json") if limits else None,
            **({} if point.setup.cache == AS_CLONED else {"cache": point.setup.cache}),
        },
        "workload": point.workload.model_dump(mode="json"),
    }
    return tuple((layer, digest(contents[layer])) for layer in LAYERS)


def dataset_of(workload: Workload) -> dict[str, str | int]:
    """What the tables of a workload hold before it runs: equal for two workloads that can share them."""
    resolved, external = workload.resolved, workload.external
    if resolved is not None:
        return {"rows": resolved.rows, "contents": digest(resolved.dataset)}
    if isinstance(external, ExternalSysbench):
        return {"rows": external.tables * external.rows, "contents": digest(external.model_dump(mode="json"))}
    # sql-bench and mysqlslap make their tables while they are measured.
    return {}


def rebuilds(points: Iterable[Point]) -> dict[str, int]:
    """How often each layer is built when the points are visited in this order, the first time included.

    Storage is fresh for each trial, and so is a guest: a trial must not find what another one has left.
    """
    visited = list(points)
    keys = {point.id: layer_keys(point) for point in {point.id: point for point in visited}.values()}
    counts = dict.fromkeys(LAYERS, 1 if visited else 0)
    for before, after in pairwise(visited):
        differ = {one[0] for one, other in zip(keys[before.id], keys[after.id], strict=True) if one != other}
        if after.setup.storage is not None:
            differ |= {"storage", *(("host",) if after.setup.host.is_guest else ())}
        for layer in LAYERS:
            counts[layer] += not differ.isdisjoint(_REBUILT_WITH[layer])
    return counts


def first_difference(one: tuple[tuple[str, str], ...], other: tuple[tuple[str, str], ...]) -> int:
    """The index of the lowest layer that differs; the number of layers when none does."""
    return next(
        (index for index, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1]), len(one)
    )


def digest(content: Any) -> str:
    """A short text that is equal for equal JSON content."""
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def starts_from_base(setup: Setup, workload: Workload) -> bool:
    """Whether the guest gets overlays of frozen disks.

    fio creates its files on blank disks. A raw volume is overwritten by the self-check, so nothing can
    be on it before.
    """
    storage = setup.storage
    return (
        setup.host.kind == "vm"
        and storage is not None
        and workload.fio_options is None
        and all(volume.filesystem != "raw" for volume in storage.volumes.values())
    )


def base_key(point: Point) -> str | None:
    """Equal for points that share a base; None for one that starts from blank disks or none."""
    storage = point.setup.storage
    if storage is None or not starts_from_base(point.setup, point.workload):
        return None
    host, server = point.setup.host, [pair for pair in layer_keys(point) if pair[0] in ("release", "dataset")]
    return digest([as_built(storage).model_dump(mode="json"), host.kernel, host.cpus, *server])


_LIMITS = {"iops": None, "bandwidth": None}
_SET_LATER = {"scheduler": None, "queue_depth": None, "readahead": None, "fail": 0, "rebuild": False}
"""Keys of a volume's disks and of a volume that are set when a trial is built, with the values of none."""


def as_built(storage: Storage) -> Storage:
    """What of it shapes the bytes on the disks: points that differ only in what is set later share a base."""
    return storage.model_copy(
        update={
            name: volume.model_copy(update={"disks": volume.disks.model_copy(update=_LIMITS), **_SET_LATER})
            for name, volume in storage.volumes.items()
        }
    )


def changes_disks(path: str) -> bool:
    """Whether points that differ at this path of the setup have no base in common."""
    root, _, key = path.partition(".")
    return root == "storage" and key.rpartition(".")[2] not in {*_LIMITS, *_SET_LATER}
