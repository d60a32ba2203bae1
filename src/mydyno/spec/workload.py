"""workload: what the server is driven with, by how many connections, for how long."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from mydyno.document.base import Fault, Section, clash
from mydyno.document.quantities import Connections, Duration
from mydyno.spec.load_shape import Arrival, Each
from mydyno.spec.smack import Smack
from mydyno.spec.sysbench import Sysbench

KINDS: tuple[Literal["smack", "sysbench"], ...] = ("smack", "sysbench")


class Workload(Section):
    """The load. Exactly one of `smack` and `sysbench` says what it is made of."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": [kind]} for kind in KINDS]})

    smack: Smack | None = Field(default=None, description="The stock scenarios of super-smack.")
    sysbench: Sysbench | None = Field(default=None, description="The OLTP scripts of sysbench.")
    connections: Connections = Field(
        description="The numbers of connections to step through, one phase each: a number, a range "
        "`10..400 step 10` (both ends included), or a list of both.",
        examples=["10..400 step 10", [1, 8, 64]],
    )
    each: Each = Field(
        description="How long each phase goes on: `{rounds: N}` or `{warmup: TIME, measure: TIME}`.",
        examples=[{"warmup": "1s", "measure": "5s"}, {"rounds": 100}],
    )
    arrival: Annotated[Arrival, BeforeValidator(Arrival.from_written)] = Field(
        default_factory=Arrival,
        description="`closed`: a connection starts its next transaction when the last one is done. "
        "`{fixed: 1000/s}` and `{poisson: 1000/s}`: at its own time, and latency counts from then.",
    )
    pause: Duration = Field(default=0.0, description="Rest between two phases.")

    @property
    def kind(self) -> Literal["smack", "sysbench"]:
        return "smack" if self.smack is not None else "sysbench"

    @classmethod
    def faults(cls, raw: Mapping[str, Any]) -> Iterable[Fault]:
        given = [kind for kind in raw if kind in KINDS and raw[kind] is not None]
        if len(given) > 1:
            both = f"{' and '.join(given)} are both given"
            yield clash(given[1], both, "one workload")
        elif not given:
            yield Fault("has no workload in it", allowed=" or ".join(KINDS), at_key=True, show_value=False)
