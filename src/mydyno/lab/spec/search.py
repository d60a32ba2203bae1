"""search: what `mydyno tune` may change, what is better, and what every candidate has to keep."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field

from mydyno.core.document.base import Fault, Section, clash, refuse
from mydyno.core.document.quantities import DurationRule
from mydyno.core.document.sizes import SizeRule
from mydyno.core.nearest import nearest
from mydyno.core.server_variables import CONTROLLED, IN_DATA_DIRECTORY, possible_names
from mydyno.core.units import bytes_or_none, format_bytes
from mydyno.lab.spec.paths import CONFIG_PATH, location_of, nearest_path
from mydyno.server.variables import catalogue
from mydyno.server.variables.durability import Level, lowered_to

Scalar = str | int | float | bool
PRESETS = ("innodb-write", "innodb-read", "connections")
Objective = Literal["throughput", "p99", "cpu-per-transaction", "cost"]
OBJECTIVES: tuple[Objective, ...] = get_args(Objective)
SamplerName = Literal["gp", "tpe", "random", "one-at-a-time"]
SAMPLERS: tuple[SamplerName, ...] = get_args(SamplerName)
FLOORS: Mapping[str, Level] = {
    "durable": Level.DURABLE,
    "os-crash": Level.LOSES_ON_OS_CRASH,
    "server-crash": Level.LOSES_ON_SERVER_CRASH,
    "none": Level.UNSAFE,
}
Floor = Literal["durable", "os-crash", "server-crash", "none"]
_ROOTS = ("server.config.", "storage.", "limits.")
_PATHS = "a path below server.config, storage or limits"
_RECOVERY = "innodb_force_recovery"
_POOL = f"{CONFIG_PATH}innodb_buffer_pool_size"


class Parameter(Section):
    """One path of a space: values, or a range."""

    values: tuple[Scalar, ...] | None = Field(
        default=None,
        strict=False,
        description="The values that are tried: `[fsync, O_DIRECT]`. Numbers and sizes count in their order.",
    )
    range: tuple[Scalar, ...] | None = Field(
        default=None,
        strict=False,
        description="Instead of values: the least and the largest number or size, `[64M, 2G]`.",
        json_schema_extra={"minItems": 2, "maxItems": 2},
    )
    log: bool = Field(
        default=False,
        description="Of a range: equal ratios count as equal steps, as is right for sizes and capacities.",
    )
    when: dict[str, Scalar | list[Scalar]] = Field(
        default_factory=dict,
        description="Paths of the same space with the values under which this one is varied; elsewhere it is "
        "left as in the setup.",
    )

    @classmethod
    def faults(cls, raw: Mapping[str, Any]) -> Iterable[Fault]:
        if ("values" in raw) == ("range" in raw):
            yield Fault("has to have either values or a range", "[A, B], or {range: [LOW, HIGH]}")
        if "values" in raw:
            yield from _value_faults(raw["values"], "values")
            if raw.get("log"):
                yield clash("log", "log belongs to a range", "range: [LOW, HIGH]")
        if "range" in raw:
            yield from _range_faults(raw["range"], bool(raw.get("log")))

    @classmethod
    def from_written(cls, raw: Any) -> Any:
        """A list of values stands for `values`."""
        if isinstance(raw, list | tuple):
            faults = list(_value_faults(raw, None))
            if faults:
                raise refuse(*faults)
            return {"values": list(raw)}
        if isinstance(raw, dict | Parameter):
            return raw
        raise refuse(Fault("is one value, which is nothing to search", "[A, B], or {range: [LOW, HIGH]}"))

    @property
    def numbers(self) -> tuple[float, float] | None:
        """The ends of the range as numbers, sizes in bytes."""
        if self.range is None:
            return None
        low, high = (number_of(each) for each in self.range)
        assert low is not None, "checked when it is read"
        assert high is not None
        return low, high

    def conditions(self) -> dict[str, tuple[Scalar, ...]]:
        return {path: tuple(each) if isinstance(each, list) else (each,) for path, each in self.when.items()}


def number_of(value: Any) -> float | None:
    """What a number or a size means; None for a word or a switch."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, int | float):
        return float(value) if math.isfinite(value) else None
    if re.fullmatch(r"-?\d+(\.\d+)?", value.strip()):
        return float(value)
    size = bytes_or_none(value)
    return None if size is None else float(size)


def _value_faults(raw: Any, key: str | None) -> Iterator[Fault]:
    at = () if key is None else (key,)
    if not isinstance(raw, list | tuple) or any(
        not isinstance(each, str | int | float | bool) for each in raw
    ):
        yield Fault("is not a list of values", "[A, B]", at=at)
        return
    meanings = [number_of(each) if number_of(each) is not None else str(each).casefold() for each in raw]
    if len(set(meanings)) < len(meanings):
        yield Fault("has a value twice", "each value once", at=at)
    elif len(raw) < 2:
        yield Fault(
            f"has {len(raw) or 'no'} {'value' if len(raw) == 1 else 'values'}, and nothing to search",
            "two values or more; one that does not vary belongs in the setup",
            at=at,
        )


def _range_faults(raw: Any, log: bool) -> Iterator[Fault]:
    ends = [number_of(each) for each in raw] if isinstance(raw, list | tuple) else []
    if len(ends) != 2 or None in ends:
        yield Fault("is not a range", "[LOW, HIGH] of numbers or sizes, as [64M, 2G]", at=("range",))
        return
    low, high = ends
    assert low is not None
    assert high is not None
    if low >= high:
        likely = f"[{raw[1]}, {raw[0]}]" if low > high else None
        yield Fault("has nothing between its ends", "the smaller one first", likely, at=("range",))
    elif log and low <= 0:
        yield Fault(
            "cannot be logarithmic from 0 or below", "a low end above 0, or log: false", at=("range",)
        )


class Constraints(Section):
    """What every candidate has to keep; what does not is measured, but is never the best."""

    durability: Floor = Field(
        default="durable",
        description="What a crash may cost: `durable` (nothing: doublewrite, flush at commit and sync of the "
        "binary log), `os-crash`, `server-crash` (each up to a second of commits), `none`. Checked on every "
        "running server.",
    )
    memory: Annotated[int, SizeRule(at_least=1 << 20, example="4G")] | None = Field(
        default=None,
        description="What the server may take: caches of all, and buffers of each connection of the load.",
    )
    disk: Annotated[int, SizeRule(at_least=1 << 20, example="20G")] | None = Field(
        default=None, description="What the files of data and redo log may take."
    )
    p99: Annotated[float, DurationRule(at_least=1e-6)] | None = Field(
        default=None, description="The largest p99 latency of statements."
    )
    recovery: Annotated[float, DurationRule(at_least=0.1)] | None = Field(
        default=None,
        description="How long the server may take to answer after `kill -9` under load. Measured of what is "
        "to be confirmed.",
    )


class Prices(Section):
    """What a server costs, in any currency and for any length of time."""

    memory: float = Field(
        default=0.0,
        ge=0,
        description="Of 1 GiB that the server may take: caches of all, and buffers of each connection of the "
        "load.",
    )
    disk: float = Field(default=0.0, ge=0, description="Of 1 GiB of the files of data and redo log.")
    cpu: float = Field(default=0.0, ge=0, description="Of one CPU, as far as the server keeps it busy.")
    server: float = Field(
        default=0.0, ge=0, description="Of the server itself, which costs the same with all settings."
    )

    @classmethod
    def faults(cls, raw: Mapping[str, Any]) -> Iterable[Fault]:
        if not any(raw.values()):
            yield Fault("has no price", "one of memory, disk, cpu, server above 0")


class Search(Section):
    """What `mydyno tune` searches."""

    preset: Literal["innodb-write", "innodb-read", "connections"] | None = Field(
        default=None,
        description="A space for the release of the server, from the catalogue of variables; its ranges come "
        "from the server's binary and the machine. Paths of `space` replace those of the preset.",
    )
    space: dict[str, Annotated[Parameter, BeforeValidator(Parameter.from_written)]] = Field(
        default_factory=dict,
        description="Paths into the setup with what is tried there: a list of values, or the keys below.",
        examples=[{"server.config.innodb_io_capacity": {"range": [100, 10000], "log": True}}],
    )
    objectives: tuple[Objective, ...] = Field(
        default=("throughput",),
        strict=False,
        description="What is better: `throughput` (more), `p99`, `cpu-per-transaction`, `cost` (less). The "
        "first one decides which candidate leads; several give a Pareto front.",
    )
    prices: Prices | None = Field(
        default=None, description="What `cost` is made of: prices over transactions per second."
    )
    constraints: Constraints = Field(default_factory=Constraints, description="What must be kept.")
    sampler: SamplerName = Field(
        default="gp",
        description="Which candidates are tried next: `gp` (Gaussian process, expected improvement), `tpe` "
        "(tree-structured Parzen estimator with constraints), `random`, `one-at-a-time`.",
    )
    candidates: int = Field(default=3, ge=1, le=16, description="Candidates of a heat, besides the leader.")
    repeats: int = Field(default=3, ge=1, le=20, description="Rounds of a heat at most.")
    confirm: int = Field(
        default=5, ge=3, le=50, description="Trials of each point of the confirming experiment."
    )

    @classmethod
    def faults(cls, raw: Mapping[str, Any]) -> Iterable[Fault]:
        space = raw.get("space")
        if not space and raw.get("preset") is None:
            yield clash("space", "there is nothing to search", f"paths, or preset: {' or '.join(PRESETS)}")
        if not isinstance(space, Mapping):
            return
        constraints = raw.get("constraints")
        floor = constraints.get("durability", "durable") if isinstance(constraints, Mapping) else "durable"
        for path, written in space.items():
            yield from _path_faults(path)
            yield from _when_faults(path, written, space)
            if isinstance(floor, str) and floor in FLOORS:
                yield from _durability_faults(path, written, floor)
        memory = constraints.get("memory") if isinstance(constraints, Mapping) else None
        yield from _memory_faults(space, memory)
        objectives = raw.get("objectives")
        if objectives == []:
            yield Fault("is empty", ", ".join(OBJECTIVES), at=("objectives",))
        if isinstance(objectives, list) and len(set(map(str, objectives))) < len(objectives):
            yield Fault("names one twice", "each objective once", at=("objectives",))
        by_cost = isinstance(objectives, list | tuple) and "cost" in objectives
        if by_cost and raw.get("prices") is None:
            yield clash("objectives", "cost needs prices", "prices: {memory: PRICE, ...}")
        if raw.get("prices") is not None and not by_cost:
            yield clash("prices", "prices belong to the objective cost", "objectives: [throughput, cost]")


def _path_faults(path: str) -> Iterator[Fault]:
    at = ("space", path)
    if not isinstance(path, str) or location_of(path) is None:
        likely = nearest_path(path) if isinstance(path, str) else None
        yield Fault(f"unknown path {path}", _PATHS, likely, at, at_key=True, show_value=False, whole=True)
    elif why := forbidden(path):
        yield Fault(
            f"{path} is never searched: {why}", None, None, at, at_key=True, show_value=False, whole=True
        )
    elif not path.startswith(_ROOTS):
        yield Fault(f"{path} is not searched", _PATHS, None, at, at_key=True, show_value=False, whole=True)


def forbidden(path: str) -> str | None:
    """Why this path is in no space: with another value the data could be lost, or would be another's."""
    if path.startswith("storage.") and "devices" in path.split("."):
        return "another disk has other data on it"
    if not path.startswith(CONFIG_PATH):
        return None
    names = possible_names(path.removeprefix(CONFIG_PATH))
    for name in names:
        row = catalogue().get(name)
        if name == _RECOVERY:
            return "it can damage data for good"
        if name in CONTROLLED:
            return CONTROLLED[name]
        if name in IN_DATA_DIRECTORY:
            return "it says where files are, and with another value a server does not find its data"
        if row is not None and (row.shapes_files or row.fixed):
            return "it is settled when the data directory is made, and changing it can destroy the data"
    return None


def _when_faults(path: str, written: Any, space: Mapping[str, Any]) -> Iterator[Fault]:
    when = written.get("when") if isinstance(written, Mapping) else None
    if not isinstance(when, Mapping):
        return
    before = list(space)[: list(space).index(path)]
    for other, wanted in when.items():
        at = ("space", path, "when", other)
        if other not in before:
            likely = nearest(other, before)
            yield Fault(
                f"{path} depends on {other}, which is not a path above it in the space",
                ", ".join(before) or "a path above it",
                likely,
                at,
                at_key=True,
                show_value=False,
                whole=True,
            )
            continue
        values = _values_of(space[other])
        for value in wanted if isinstance(wanted, list) else [wanted]:
            if values is not None and str(value).casefold() not in [str(each).casefold() for each in values]:
                yield Fault(f"is not a value of {other}", ", ".join(map(str, values)), at=at)


def _values_of(written: Any) -> list[Any] | None:
    values = written.get("values") if isinstance(written, Mapping) else written
    return list(values) if isinstance(values, list | tuple) else None


def _durability_faults(path: str, written: Any, floor: str) -> Iterator[Fault]:
    if not path.startswith(CONFIG_PATH):
        return
    ends = written.get("range") if isinstance(written, Mapping) else None
    tried = _values_of(written) or (list(ends) if isinstance(ends, list | tuple) else [])
    for value in tried:
        text = ("OFF", "ON")[value] if isinstance(value, bool) else str(value)
        level = lowered_to(path.removeprefix(CONFIG_PATH), text)
        if level is not None and level < FLOORS[floor]:
            yield Fault(
                f"{path} = {text} contradicts durability: {floor} ({level.label})",
                "values that keep it, or a lower floor in constraints.durability",
                None,
                ("space", path),
                at_key=True,
                show_value=False,
                whole=True,
            )
            return


def _memory_faults(space: Mapping[str, Any], memory: Any) -> Iterator[Fault]:
    budget = bytes_or_none(memory) if isinstance(memory, str) else None
    written = space.get(_POOL)
    if budget is None or written is None:
        return
    ends = written.get("range") if isinstance(written, Mapping) else None
    sizes = [number_of(each) for each in (_values_of(written) or ends or [])]
    known = [size for size in sizes if size is not None]
    if known and min(known) >= budget:
        yield Fault(
            f"every buffer pool of the space is larger than the memory of {format_bytes(budget)}",
            f"{_POOL} below it, or more memory",
            None,
            ("constraints", "memory"),
            show_value=False,
            whole=True,
        )
