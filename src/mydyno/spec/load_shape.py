"""How a workload is driven: how transactions arrive and how long each phase goes on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, GetJsonSchemaHandler, SerializerFunctionWrapHandler, model_serializer
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from mydyno.document.base import Fault, Section, clash, refuse
from mydyno.document.problems import nearest
from mydyno.document.quantities import Duration, DurationRule, Rate, RateRule

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
        raise refuse(Fault("is no kind of arrival", allowed=_ARRIVAL_ALLOWED, nearest=close))

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


class Each(Section):
    """How long each phase goes on: a number of rounds, or a time."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [
                {"required": ["rounds"], "properties": {"warmup": False, "measure": False}},
                {"required": ["measure"], "properties": {"rounds": False}},
            ]
        }
    )

    rounds: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = Field(
        default=None, description="Transactions (for smack: rounds of the barrel) that each connection does."
    )
    warmup: Duration | None = Field(default=None, description="Load before the measured time; default 0.")
    measure: Annotated[float, DurationRule(at_least=0.1)] | None = Field(
        default=None, description="The measured time."
    )

    @classmethod
    def faults(cls, raw: Mapping[str, Any]) -> Iterable[Fault]:
        allowed = "{rounds: N} or {warmup: TIME, measure: TIME}"
        given = [key for key in ("rounds", "warmup", "measure") if raw.get(key) is not None]
        if "rounds" in given and len(given) > 1:
            yield clash(given[1], f"rounds and {given[1]} are both given", allowed)
        elif "warmup" in given and "measure" not in given:
            yield clash("warmup", "warmup is given without measure", allowed)
        elif not given:
            yield Fault("neither rounds nor measure is given", allowed, show_value=False, whole=True)
