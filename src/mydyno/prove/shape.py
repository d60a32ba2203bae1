"""How much data the load has, and what of the settings is scaled with it.

A buffer pool is worth what its share of the data is worth. So where this host cannot hold as much data as
the advised server, the variables that hold data in memory are made smaller by the same factor, and the
proportion stays.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from mydyno.core.errors import UsageError
from mydyno.core.facts import HostFacts
from mydyno.core.units import bytes_or_none, format_bytes
from mydyno.lab.workload import WorkloadFile
from mydyno.prove.provable import CONFIG, Step, Tried, Value
from mydyno.server.variables.convert import size_text

SIZED_BY = ("table_size", "rows", "warehouses")
"""Options by which workloads are made larger, in the order in which they are looked for."""
HOLD_DATA = ("innodb_buffer_pool_size", "key_buffer_size", "aria_pagecache_buffer_size")
_MEMORY_PART = 0.5
"""Of this host's memory at most for the largest of them: the load and the page cache need some."""
_ROOM_PART = 0.15
"""Of the free disk at most for the data: it is frozen once and cloned for each trial."""
_LEAST = 6 << 20
_MEBIBYTE = 1 << 20
_CHUNK = 128 << 20
"""Of a buffer pool by default: a server rounds up to a multiple of it."""
_SAME = 0.95
"""Above it nothing is scaled: it would change less than the estimate of the rows is sure of."""


@dataclass(frozen=True)
class Shape:
    """The load's data, and the factor for what holds it in memory."""

    options: Mapping[str, Any]
    """Of the workload, its size among them."""
    data_bytes: int
    """Of its tables, freshly loaded: an estimate."""
    scale: float
    notes: tuple[str, ...]
    """What one should know of it, a sentence each."""


def shape_of(
    workload: WorkloadFile,
    options: Mapping[str, Any],
    wanted: int | None,
    real: int | None,
    largest: int | None,
    here: HostFacts,
    most: int | None = None,
) -> Shape:
    """The data of `workload` in the shape of `real` bytes of the advised server (None: not known).

    `options` are those that were given, `wanted` a size of the data in their place; without either it
    is the real one, as far as this host can hold it and `most` allows. `largest` is the most that a level
    gives to what holds data in memory. Raises UsageError when the size is given twice, or the workload
    has no option for it.
    """
    given = [name for name in SIZED_BY if name in options]
    if given and wanted is not None:
        raise UsageError(f"{given[0]} and --data both set the size", "use one of them")
    if wanted is None and not given and real:  # A server without tables has no size to follow.
        wanted = int(real * _fits(real, largest, here))
        wanted = wanted if most is None else min(wanted, most)
    if wanted is None:
        return _with_notes(workload, options, real)
    name = sized_by(workload)
    return _with_notes(workload, {**options, name: _rows_for(workload, options, name, wanted)}, real)


def scaled(findings: Iterable[Tried], scale: float) -> tuple[Tried, ...]:
    """The same with what holds data made smaller by `scale`."""
    if scale >= _SAME:
        return tuple(findings)
    return tuple(
        replace(finding, steps=tuple(_scaled_step(step, scale) for step in finding.steps))
        for finding in findings
    )


def largest(findings: Iterable[Tried]) -> int | None:
    """The most bytes that a level gives to one variable that holds data; None where none is changed."""
    sizes = [
        size
        for finding in findings
        for step in finding.steps
        for value in (step.value, step.was)
        if step.path.removeprefix(CONFIG) in HOLD_DATA
        and isinstance(value, str)
        and (size := bytes_or_none(value)) is not None
    ]
    return max(sizes, default=None)


def scaled_value(name: str, value: str, scale: float) -> str:
    """The value of a variable at that scale; only what holds data changes."""
    size = bytes_or_none(value)
    if scale >= _SAME or name not in HOLD_DATA or size is None or size < _LEAST:
        return value
    wanted = int(size * scale)
    step = _CHUNK if wanted >= _CHUNK else _MEBIBYTE
    return str(size_text(max(wanted // step * step, _LEAST)))


def _scaled_step(step: Step, scale: float) -> Step:
    name = step.path.removeprefix(CONFIG)

    def smaller(value: Value | None) -> Value | None:
        return scaled_value(name, value, scale) if isinstance(value, str) else value

    value = smaller(step.value)
    assert value is not None
    return replace(step, value=value, was=smaller(step.was))


def _fits(real: int, largest: int | None, here: HostFacts) -> float:
    """How much of the real size this host can hold, at most 1."""
    parts = [1.0]
    if largest and here.memory_bytes:
        parts.append(_MEMORY_PART * here.memory_bytes / largest)
    if here.free_disk_bytes:
        parts.append(_ROOM_PART * here.free_disk_bytes / real)
    return min(parts)


def sized_by(workload: WorkloadFile) -> str:
    """The option by which it is made larger. Raises UsageError when it has none."""
    for name in SIZED_BY:
        if name in workload.options.model_fields:
            return name
    raise UsageError(
        f"the workload {workload.name} has none of the options {', '.join(SIZED_BY)} to size it by",
        "use another workload, or set the size with --set NAME=VALUE",
    )


def _rows_for(workload: WorkloadFile, options: Mapping[str, Any], name: str, wanted: int) -> int:
    """The value of the size option at which the tables take about `wanted` bytes."""
    few, many = (workload.resolve({**options, name: rows}).data_bytes for rows in (1, 1001))
    row_bytes = (many - few) / 1000
    return max(round((wanted - few) / row_bytes), 1) if row_bytes > 0 else 1


def _with_notes(workload: WorkloadFile, options: Mapping[str, Any], real: int | None) -> Shape:
    tables = workload.resolve(options)
    size = format_bytes(tables.data_bytes)
    if not real:
        note = f"the workload's tables take about {size}; the size of the advised server's data is unknown"
        return Shape(options, tables.data_bytes, 1.0, (note,))
    scale = min(tables.data_bytes / real, 1.0)
    notes = [f"the workload's tables take about {size}, those of the advised server {format_bytes(real)}"]
    if scale < _SAME:
        notes.append(
            f"what holds data in memory ({', '.join(HOLD_DATA)}) is scaled by {scale:.3g}, like the data"
        )
    return Shape(options, tables.data_bytes, scale, tuple(notes))
