"""workload.sql-bench: the test programs of sql-bench 2.15, which the engine has as code."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Field

from mydyno.core.document.base import Fault, Section, clash
from mydyno.core.document.quantities import CountRule
from mydyno.lab.workload.options import plain_text

Group = Literal[
    "alter-table", "ATIS", "big-tables", "connect", "create", "insert", "select", "transactions", "wisconsin"
]
GROUPS: tuple[Group, ...] = get_args(Group)
"""In the order in which the original's run-all starts them."""


SECONDS: dict[Group, float] = {
    "alter-table": 4,
    "ATIS": 6,
    "big-tables": 4,
    "connect": 24,
    "create": 66,
    "insert": 176,
    "select": 83,
    "transactions": 2,
    "wisconsin": 4,
}
"""Of the original on MyISAM, MariaDB 10.11, 2 shared cores: to estimate the length of a plan."""


_ORIGINAL = {"small": "small-test", "time_limit_s": "time-limit"}
"""Options that the original spells otherwise."""


_Loops = Annotated[int, CountRule(at_least=1)]


def _names_transactions(create_options: str) -> bool:
    """Whether the text names an engine with transactions, by the original's rule: a word in any case."""
    return any(engine in create_options.lower() for engine in ("innodb", "bdb", "gemini", "ndb"))


class SqlBench(Section):
    """One connection that runs the test programs one after another: a phase for each."""

    groups: Annotated[list[Group], Field(min_length=1)] | None = Field(
        default=None,
        description="The test programs, in this order; all of them without it, `transactions` only with an "
        "engine that has them.",
        examples=[["insert", "select"]],
    )
    small: bool = Field(default=False, description="The original's --small-test: far fewer loops.")
    fast: bool = Field(
        default=False, description="The original's --fast: non-standard SQL, locks, rows in bulk."
    )
    create_options: Annotated[str, AfterValidator(plain_text)] = Field(
        default="",
        description="Appended to every CREATE TABLE, as `ENGINE=InnoDB`. It also shows the programs that the "
        "engine has transactions, without which `transactions` cannot run.",
    )
    small_tables: bool = Field(default=False, description="The original's --small-tables.")
    small_key_tables: bool = Field(default=False, description="The original's --small-key-tables.")
    skip_create: bool = Field(default=False, description="The original's --skip-create.")
    skip_delete: bool = Field(default=False, description="The original's --skip-delete.")
    lock_tables: bool = Field(default=False, description="The original's --lock-tables.")
    fast_insert: bool = Field(default=False, description="The original's --fast-insert.")
    loop_count: _Loops | None = Field(default=None, description="The original's --loop-count.")
    row_count: _Loops | None = Field(default=None, description="The original's --row-count.")
    field_count: _Loops | None = Field(default=None, description="The original's --field-count.")
    time_limit_s: float = Field(
        default=600.0,
        gt=0,
        description="The original's --time-limit: loops that support it stop then, and are extrapolated.",
    )
    alter_algorithm: Literal["copy"] | None = Field(
        default=None, description="`copy`: ALTER TABLE rebuilds the table, as the servers of the time did."
    )

    @classmethod
    def faults(cls, raw: Mapping[str, Any]) -> Iterable[Fault]:
        groups = raw.get("groups")
        with_transactions = isinstance(groups, list) and "transactions" in groups
        if with_transactions and not _names_transactions(str(raw.get("create_options", ""))):
            allowed = "create_options: ENGINE=InnoDB with it"
            yield clash("groups", "transactions needs an engine that has them", allowed)

    @property
    def programs(self) -> tuple[Group, ...]:
        """The test programs that run."""
        if self.groups is not None:
            return tuple(self.groups)
        transactional = _names_transactions(self.create_options)
        return tuple(group for group in GROUPS if group != "transactions" or transactional)

    @property
    def job(self) -> dict[str, Any]:
        """The engine's `sql_bench` object."""
        return {**self.model_dump(mode="json", exclude_none=True), "groups": list(self.programs)}

    @property
    def arguments(self) -> str:
        """What the original's run-all-tests would be given, and the names of chosen programs."""
        given = self.model_dump(mode="json", exclude_defaults=True, exclude={"groups"})
        words = [
            f"--{_ORIGINAL.get(name, name.replace('_', '-'))}" + ("" if value is True else f"={value}")
            for name, value in given.items()
        ]
        return " ".join([*words, *(self.groups or ())])

    @property
    def seconds(self) -> float:
        """About how long the test programs take."""
        return sum(SECONDS[group] for group in self.programs) / (20 if self.small else 1)

    @property
    def most_bytes(self) -> int:
        """About what the tables take at their largest: those of `insert`, 600,000 rows in the end."""
        return (8 if self.small else 150) * 1024**2
