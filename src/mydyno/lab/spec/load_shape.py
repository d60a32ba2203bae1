"""How a workload is driven: how transactions arrive and how long each phase goes on."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    JsonValue,
    SerializerFunctionWrapHandler,
    model_serializer,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from mydyno.core.document.base import Fault, Section, clash, refuse
from mydyno.core.document.quantities import CountRule, Duration, DurationRule, Rate, RateRule
from mydyno.core.nearest import nearest

_COUNTS = ("rounds", "events", "split")
_TIMES = ("warmup", "measure")
_ARRIVAL_ALLOWED = "closed, {fixed: RATE} or {poisson: RATE}"


class Arrival(Section):
    """When a transaction starts: when the one before is done (closed), or when its time has come (open)."""

    fixed: Rate | None = Field(
        default=None, description="Transactions a second over all connections, evenly spaced."
    )
    poisson: Rate | None = Field(
        default=None, description="Transactions a second on average, at random instants."
    )

    @property
    def kind(self) -> Literal["closed", "fixed", "poisson"]:
        return "fixed" if self.fixed is not None else "poisson" if self.poisson is not None else "closed"

    @property
    def rate(self) -> float | None:
        """Transactions a second over all connections; None for a closed loop."""
        return self.fixed if self.fixed is not None else self.poisson

    @classmethod
    def from_written(cls, raw: Any) -> Any:
        """`closed` or `{KIND: RATE}` as keys of this section."""
        if raw == "closed":
            return {}
        if isinstance(raw, cls):
            return raw
        if isinstance(raw, dict) and "closed" in raw:
            raise refuse(
                Fault("a closed arrival has no rate", _ARRIVAL_ALLOWED, "closed", at=("closed",), whole=True)
            )
        if isinstance(raw, dict) and raw:
            return raw
        if raw in ("fixed", "poisson"):
            nearest_rate = f"{{{raw}: 1000/s}}"
            raise refuse(Fault(f"a {raw} arrival needs a rate", _ARRIVAL_ALLOWED, nearest_rate, whole=True))
        close = nearest(raw, ("closed", "fixed", "poisson")) if isinstance(raw, str) else None
        raise refuse(Fault("unknown kind of arrival", allowed=_ARRIVAL_ALLOWED, nearest=close))

    @classmethod
    def faults(cls, raw: Mapping[str, Any]) -> Iterable[Fault]:
        if raw.get("fixed") is not None and raw.get("poisson") is not None:
            yield Fault(
                "fixed and poisson are both given", allowed=_ARRIVAL_ALLOWED, show_value=False, whole=True
            )

    @model_serializer(mode="wrap", when_used="json")
    def _as_written(self, handler: SerializerFunctionWrapHandler) -> Any:
        rate = {kind: value for kind, value in handler(self).items() if value is not None}
        return rate or "closed"

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        def open_loop(kind: str) -> JsonSchemaValue:
            rate = {kind: dict(RateRule.schema)}
            return {"type": "object", "properties": rate, "required": [kind], "additionalProperties": False}

        return {"anyOf": [{"const": "closed"}, open_loop("fixed"), open_loop("poisson")]}


class Think(Section):
    """How long a connection rests between two transactions. Seconds."""

    constant: Duration | None = Field(default=None, description="Always this long.")
    exponential: Duration | None = Field(default=None, description="At random, this long on average.")
    uniform: Duration | None = Field(default=None, description="From 0 to twice this long.")

    @property
    def kind(self) -> Literal["constant", "exponential", "uniform"]:
        if self.exponential is not None:
            return "exponential"
        return "uniform" if self.uniform is not None else "constant"

    @property
    def mean(self) -> float:
        """Seconds."""
        return next(time for time in (self.constant, self.exponential, self.uniform) if time is not None)

    @classmethod
    def from_written(cls, raw: Any) -> Any:
        """A time alone is a constant one."""
        return raw if isinstance(raw, dict | cls) or raw is None else {"constant": raw}

    @classmethod
    def faults(cls, raw: Mapping[str, Any]) -> Iterable[Fault]:
        given = [key for key in cls.model_fields if raw.get(key) is not None]
        if len(given) != 1 and not set(raw) - set(cls.model_fields):
            yield Fault(
                "is not one kind of think time", "TIME, {exponential: TIME} or {uniform: TIME}", whole=False
            )

    @model_serializer(mode="wrap", when_used="json")
    def _as_written(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {kind: time for kind, time in handler(self).items() if time is not None}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        kinds = [
            {
                "type": "object",
                "properties": {kind: dict(DurationRule.schema)},
                "required": [kind],
                "additionalProperties": False,
            }
            for kind in cls.model_fields
        ]
        return {"anyOf": [dict(DurationRule.schema), *kinds]}


def _one_measure() -> list[JsonValue]:
    """For the JSON Schema: which keys exclude each other."""
    counted: list[JsonValue] = [
        {"required": [key], "properties": {other: False for other in (*_COUNTS, *_TIMES) if other != key}}
        for key in _COUNTS
    ]
    return [*counted, {"required": ["measure"], "properties": dict.fromkeys(_COUNTS, False)}]


class Each(Section):
    """How long each phase goes on: a number of transactions, or a time."""

    model_config = ConfigDict(json_schema_extra={"oneOf": _one_measure()})

    rounds: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = Field(
        default=None, description="Transactions (for smack: rounds of the barrel) that each connection does."
    )
    events: Annotated[int, CountRule(at_least=1)] | None = Field(
        default=None, description="Transactions in all: whichever connection is free takes the next one."
    )
    split: Annotated[int, CountRule(at_least=1)] | None = Field(
        default=None,
        description="Transactions in all, split evenly; a remainder is not run (mysqlslap's way).",
    )
    warmup: Duration | None = Field(default=None, description="Load before the measured time; default 0.")
    measure: Annotated[float, DurationRule(at_least=0.1)] | None = Field(
        default=None, description="The measured time."
    )

    def transactions(self, connections: int) -> int | None:
        """How many in a phase with so many connections; None where the clock decides."""
        if self.rounds is not None:
            return self.rounds * connections
        if self.split is not None:
            return self.split // connections * connections
        return self.events

    @classmethod
    def faults(cls, raw: Mapping[str, Any]) -> Iterable[Fault]:
        allowed = "{rounds: N}, {events: N}, {split: N} or {warmup: TIME, measure: TIME}"
        given = [key for key in (*_COUNTS, *_TIMES) if raw.get(key) is not None]
        if given and given[0] in _COUNTS and len(given) > 1:
            yield clash(given[1], f"{given[0]} and {given[1]} are both given", allowed)
        elif "warmup" in given and "measure" not in given:
            yield clash("warmup", "warmup is given without measure", allowed)
        elif not given:
            message = "it is given neither in transactions nor in time"
            yield Fault(message, allowed, show_value=False, whole=True)
