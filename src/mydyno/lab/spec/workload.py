"""workload: what the server is driven with, by how many connections, for how long."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Annotated, Any, ClassVar

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from mydyno.core.document.base import Fault, Section, clash
from mydyno.core.document.quantities import Connections, Duration, DurationRule
from mydyno.core.nearest import nearest
from mydyno.lab.spec.generators import EXTERNAL, GENERATORS, OWN_ORDER, PROGRAMS, Generators, OwnFile
from mydyno.lab.spec.load_shape import Arrival, Each, Think
from mydyno.lab.workload import Options, Resolved, read, slap
from mydyno.lab.workload.external_program import ExternalSlap, ExternalSysbench, FioOptions
from mydyno.lab.workload.sql_bench import SqlBench
from mydyno.lab.workload.trace import TraceOptions

_SHAPE = ("connections", "each", "arrival", "pause", "active", "think", "ramp")
"""What sql-bench, fio and a trace decide for themselves."""
_NOT_EXTERNAL = ("active", "think", "ramp")
_OF_SLAP_ALONE = {"queries", "execute_number"}
"""Options with which `mydyno load slap` counts its own events."""
_EXAMPLES: dict[str, Any] = {
    "connections": "10..400 step 10",
    "each": {"warmup": "1s", "measure": "5s"},
}


def _one_generator() -> list[JsonValue]:
    """For the JSON Schema: the keys that go with each generator."""
    return [
        {"required": [name], "properties": dict.fromkeys(_SHAPE, False)}
        if name in OWN_ORDER
        else {"required": [name, *_EXAMPLES]}
        for name in GENERATORS
    ]


class Workload(Generators):
    """The load. Exactly one generator says what it is made of, the other keys how much of it there is."""

    model_config = ConfigDict(json_schema_extra={"oneOf": _one_generator()})

    connections: Connections = Field(
        default=(1,),
        description="The numbers of connections to step through, one phase each: a number, a range "
        "`10..400 step 10` (both ends included), or a list of both. Every generator but sql-bench, fio and "
        "trace needs it.",
        examples=[_EXAMPLES["connections"], [1, 8, 64]],
    )
    each: Each | None = Field(
        default=None,
        description="How long each phase goes on: `{warmup: TIME, measure: TIME}`, `{rounds: N}`, "
        "`{events: N}` or `{split: N}`. Every generator but sql-bench, fio and trace needs it.",
        examples=[_EXAMPLES["each"], {"rounds": 100}],
    )
    arrival: Annotated[Arrival, BeforeValidator(Arrival.from_written)] = Field(
        default_factory=Arrival,
        description="`closed`: a connection starts its next transaction when the last one is done. "
        "`{fixed: 1000/s}` and `{poisson: 1000/s}`: at its own time, and latency counts from then.",
    )
    active: Annotated[int, Field(ge=1, le=100_000)] | None = Field(
        default=None, description="Only so many of the open connections do something; the others stay idle."
    )
    think: Annotated[Think, BeforeValidator(Think.from_written)] | None = Field(
        default=None,
        description="Rest of a connection between two transactions of a closed loop: a time, or "
        "`{exponential: TIME}`, `{uniform: TIME}` with that mean. No latency counts it.",
    )
    ramp: Duration = Field(
        default=0.0,
        description="The connections open and start one after the other over this time, before the warm-up.",
    )
    pause: Duration = Field(default=0.0, description="Rest between two phases.")
    answer_within: Annotated[float, DurationRule(at_least=0.1)] = Field(
        default=60.0, description="Query timeout: a statement without an answer for this long is abandoned."
    )

    synonyms: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("threads", "num_threads", "clients", "concurrency", "users"), "connections"),
        **dict.fromkeys(("time", "max_time", "duration", "run_time", "measure"), "each: {measure: 60s}"),
        **dict.fromkeys(("warmup", "warmup_time"), "each: {warmup: 10s, measure: 60s}"),
        **dict.fromkeys(("events", "requests", "max_requests"), "each: {events: 10000}"),
        "rate": "arrival: {fixed: 1000/s}",
        "report_interval": "sampling.every",
        **{key: f"oltp-read-write: {{{key}: ...}}" for key in ("table_size", "tables")},
        **dict.fromkeys(("mysql_host", "mysql_port", "mysql_socket", "mysql_user"), "setup.server.external"),
        "oltp": "oltp-read-write",
    }

    @model_serializer(mode="wrap", when_used="json")
    def _given(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written = {key: value for key, value in handler(self).items() if value is not None}
        if not self.ramp:
            del written["ramp"]
        if self.generator in OWN_ORDER:
            written = {key: value for key, value in written.items() if key not in _SHAPE}
        options = written[self.generator]
        written[self.generator] = {key: value for key, value in options.items() if value is not None}
        return written

    @property
    def generator(self) -> str:
        """The key that says what the load is made of."""
        return next(name for name in GENERATORS if getattr(self, name) is not None)

    @property
    def options(self) -> Section:
        """The section below that key."""
        found: Section = getattr(self, self.generator)
        return found

    @property
    def sql_bench(self) -> SqlBench | None:
        return self.options if isinstance(self.options, SqlBench) else None

    @property
    def trace_options(self) -> TraceOptions | None:
        return self.options if isinstance(self.options, TraceOptions) else None

    @property
    def fio_options(self) -> FioOptions | None:
        return self.options if isinstance(self.options, FioOptions) else None

    @property
    def external(self) -> ExternalSysbench | ExternalSlap | None:
        """The options of a real program that makes the load in the engine's place."""
        options = self.options
        return options if isinstance(options, ExternalSysbench | ExternalSlap) else None

    @cached_property
    def resolved(self) -> Resolved | None:
        """The program that the engine runs; None for sql-bench, fio and external programs."""
        options = self.options
        if isinstance(options, OwnFile):
            return options.resolve()
        if isinstance(options, slap.Options):
            return slap.resolve(options)
        return read(self.generator).resolve(options) if isinstance(options, Options) else None

    @property
    def makes_its_tables(self) -> bool:
        """Whether there is no table before the load begins: sql-bench, mysqlslap."""
        return self.resolved is None and not isinstance(self.options, ExternalSysbench | TraceOptions)

    @property
    def phases(self) -> int:
        """Stretches of load in a trial."""
        if self.fio_options is not None:
            return len(self.fio_options.stretches)
        return len(self.connections) if self.sql_bench is None else len(self.sql_bench.programs)

    @classmethod
    def faults(cls, raw: Mapping[str, Any]) -> Iterable[Fault]:
        given = [name for name in raw if name in GENERATORS and raw[name] is not None]
        if len(given) > 1:
            both = f"{' and '.join(given)} are both given"
            yield clash(given[1], both, "one workload type")
        elif not given and not any(nearest(key, GENERATORS) for key in raw if key not in cls.model_fields):
            # One that is written wrong is an unknown key, which says what was meant.
            allowed = ", ".join(GENERATORS[:-1]) + f" or {GENERATORS[-1]}"
            yield Fault("no workload type specified", allowed=allowed, at_key=True, show_value=False)
        if given and given[0] in OWN_ORDER:
            for key in _SHAPE:
                if raw.get(key) is not None:
                    yield clash(key, f"{key} is given, but {given[0]} decides that itself", "leave it out")
            return
        for key, example in _EXAMPLES.items():
            if raw.get(key) is None:
                shown = example if isinstance(example, str) else "{warmup: 1s, measure: 5s}"
                yield Fault(
                    f"{key} is missing",
                    f"for example {key}: {shown}",
                    at_key=True,
                    show_value=False,
                    whole=True,
                )
        if given == ["slap"] and isinstance(raw["slap"], Mapping):
            for key in _OF_SLAP_ALONE & raw["slap"].keys():
                yield Fault(
                    f"{key} is set by workload.each here",
                    "each: {rounds: N}, {split: N} or {warmup: TIME, measure: TIME}",
                    at=("slap", key),
                    at_key=True,
                    show_value=False,
                    whole=True,
                )
        if given and given[0] in EXTERNAL:
            for key in _NOT_EXTERNAL:
                if raw.get(key):
                    yield clash(key, f"{key} is given, but {given[0]} cannot do that", "leave it out")
        if raw.get("think") is not None and raw.get("arrival") not in (None, "closed"):
            yield clash("think", "think is given, but an open loop has no think time", "one of them")


__all__ = ["GENERATORS", "PROGRAMS", "Workload"]
