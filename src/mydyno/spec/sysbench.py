"""workload.sysbench: the modern OLTP scripts, with sysbench's own options and defaults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from mydyno.document.base import Fault, Section, clash, refuse
from mydyno.document.quantities import CountRule

_RANGES = ("range_size", "simple_ranges", "sum_ranges", "order_ranges", "distinct_ranges", "range_selects")
_READS = ("point_selects", *_RANGES)
_WRITES = ("index_updates", "non_index_updates", "delete_inserts")
_OPTIONS_OF_SCRIPT = {
    "oltp_point_select": (),
    "oltp_read_only": (*_READS, "skip_trx"),
    "oltp_read_write": (*_READS, *_WRITES, "skip_trx"),
    "oltp_write_only": (*_WRITES, "skip_trx"),
}
"""The options that each script reads beside those of the tables; another one would change nothing."""
_OF_SOME_SCRIPTS = {option for options in _OPTIONS_OF_SCRIPT.values() for option in options}

_Times = Annotated[int, Field(ge=0, le=10_000)]


class Sysbench(Section):
    """One transaction of a sysbench OLTP script, again and again."""

    script: Literal["oltp_point_select", "oltp_read_only", "oltp_read_write", "oltp_write_only"] = Field(
        description="The script: 1, 16, 20 and 6 statements a transaction with the default options.",
        examples=["oltp_read_only"],
    )
    tables: int = Field(default=1, ge=1, le=1_000, description="Number of tables.")
    table_size: Annotated[int, CountRule(at_least=1)] = Field(
        default=10_000, description="Rows of each table."
    )
    range_size: int = Field(default=100, ge=1, le=1_000_000, description="Rows of a range select.")
    point_selects: _Times = Field(default=10, description="Selects by primary key in a transaction.")
    simple_ranges: _Times = Field(default=1, description="Range selects in a transaction.")
    sum_ranges: _Times = Field(default=1, description="SELECT SUM() over a range in a transaction.")
    order_ranges: _Times = Field(default=1, description="Range selects with ORDER BY in a transaction.")
    distinct_ranges: _Times = Field(default=1, description="SELECT DISTINCT over a range in a transaction.")
    index_updates: _Times = Field(default=1, description="Updates of an indexed column in a transaction.")
    non_index_updates: _Times = Field(default=1, description="Updates of a plain column in a transaction.")
    delete_inserts: _Times = Field(default=1, description="Pairs of DELETE and INSERT in a transaction.")
    range_selects: bool = Field(default=True, description="`false` leaves all range selects out.")
    skip_trx: bool = Field(default=False, description="`true` leaves BEGIN and COMMIT out.")
    prepared: bool = Field(
        default=False, description="`true`: server-side prepared statements. `false`: text."
    )
    storage_engine: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,63}$")] = Field(
        default="innodb", description="Storage engine of the tables."
    )
    distribution: Literal["special", "uniform", "gaussian", "pareto"] = Field(
        default="special",
        description="How row ids are drawn. `special`, sysbench 1.0's own: most hits on few rows.",
    )

    @classmethod
    def faults(cls, raw: Mapping[str, Any]) -> Iterable[Fault]:
        script = raw.get("script")
        used = _OPTIONS_OF_SCRIPT.get(script) if isinstance(script, str) else None
        if used is None:
            return
        for option in raw:
            if option in _OF_SOME_SCRIPTS and option not in used:
                usable = ", ".join(
                    name for name in cls.model_fields if name in used or name not in _OF_SOME_SCRIPTS
                )
                yield clash(option, f"{script} does not use {option}", usable)

    @property
    def statements(self) -> int:
        """Statements of one transaction, BEGIN and COMMIT included."""
        if self.script == "oltp_point_select":
            return 1
        ranges = self.simple_ranges + self.sum_ranges + self.order_ranges + self.distinct_ranges
        count = 0 if self.skip_trx else 2
        if self.script != "oltp_write_only":
            count += self.point_selects + (ranges if self.range_selects else 0)
        if self.script != "oltp_read_only":
            count += self.index_updates + self.non_index_updates + 2 * self.delete_inserts
        return count

    @model_validator(mode="after")
    def _does_something(self) -> Self:
        if self.statements == 0:
            raise refuse(
                clash("script", f"a transaction of {self.script} has no statement left", "at least one")
            )
        return self

    @model_serializer(mode="wrap", when_used="json")
    def _used_options(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        used = _OPTIONS_OF_SCRIPT[self.script]
        return {
            name: value
            for name, value in handler(self).items()
            if name in used or name not in _OF_SOME_SCRIPTS
        }
