"""workload.sysbench: the real sysbench 1.0, with its own or a given script."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from mydyno.core.document.base import Fault, Section
from mydyno.core.document.quantities import CountRule
from mydyno.core.nearest import nearest
from mydyno.lab.workload.external_program.passed import Kind, Plain, faults_of

SCRIPTS = (
    *("oltp_read_only", "oltp_read_write", "oltp_write_only", "oltp_point_select", "oltp_update_index"),
    *("oltp_update_non_index", "oltp_delete", "oltp_insert", "select_random_points", "select_random_ranges"),
)
"""The database scripts of sysbench 1.0.20 that make tables sbtest1, sbtest2, ... of `table_size` rows. Its
bulk_insert is not among them: it makes one empty table for each thread and so needs other tables at each
number of connections."""

GENERAL: dict[str, Kind] = {
    **dict.fromkeys(("rand-spec-iter", "rand-spec-pct", "rand-spec-res", "rand-pareto-h"), "number"),
    **dict.fromkeys(("validate", "mysql-ssl", "mysql-compression"), "switch"),
    **dict.fromkeys(("forced-shutdown", "thread-stack-size", "mysql-ssl-cipher"), "text"),
    "mysql-ignore-errors": "text",
}
"""Options of every script, from `sysbench --help` of 1.0.20."""

OF_SCRIPTS: dict[str, Kind] = {
    **dict.fromkeys(("delete-inserts", "distinct-ranges", "index-updates", "non-index-updates"), "number"),
    **dict.fromkeys(("order-ranges", "point-selects", "range-size", "simple-ranges", "sum-ranges"), "number"),
    **dict.fromkeys(("auto-inc", "create-secondary", "range-selects", "secondary", "skip-trx"), "switch"),
    "mysql-storage-engine": "text",
}
"""Options that all scripts share, from `sysbench oltp_read_write help` of 1.0.20."""

_MORE_OF_SCRIPT: dict[str, dict[str, Kind]] = {
    "select_random_points": {"random-points": "number"},
    "select_random_ranges": {"number-of-ranges": "number", "delta": "number"},
}

_SERVER = "the server under test is known to mydyno"
TAKEN: dict[str, str] = {
    "tables": "use the key `tables` next to `script`",
    "table-size": "use the key `table_size` next to `script`",
    "rand-type": "use the key `distribution` next to `script`",
    "db-ps-mode": "use the key `prepared` next to `script`",
    "percentile": "use the key `percentile` next to `script`",
    "histogram": "percentiles are always read from the histogram",
    **dict.fromkeys(("threads", "num-threads"), "use workload.connections"),
    **dict.fromkeys(("time", "max-time", "events", "max-requests"), "use workload.each"),
    "report-checkpoints": "use workload.each: {warmup: TIME, ...}",
    **dict.fromkeys(("rate", "tx-rate"), "use workload.arrival: {poisson: RATE}"),
    "report-interval": "use sampling.every",
    "rand-seed": "use design.seed",
    "verbosity": "its output is read by mydyno",
    "config-file": "use the keys of this section",
    "db-driver": _SERVER,
    **{f"mysql-{name}": _SERVER for name in ("host", "port", "socket", "user", "password", "db")},
}
"""What mydyno sets itself -> why, or what to write instead."""


class ExternalSysbench(Section):
    """The real sysbench, run as it is installed."""

    script: str = Field(
        description="A script that comes with sysbench, by its name: " + ", ".join(SCRIPTS) + ".",
        examples=["oltp_read_only"],
    )
    tables: int = Field(default=1, ge=1, le=1_000, description="Number of tables.")
    table_size: Annotated[int, CountRule(at_least=1)] = Field(
        default=10_000, description="Rows of each table."
    )
    distribution: Literal["special", "uniform", "gaussian", "pareto"] = Field(
        default="special", description="How row ids are drawn: sysbench's --rand-type."
    )
    prepared: bool = Field(
        default=True,
        description="Server-side prepared statements, as sysbench does by default; `false`: text "
        "(--db-ps-mode=disable).",
    )
    percentile: Literal[50, 95, 99] = Field(
        default=95, description="The percentile of each second; that of a whole phase are all known."
    )
    options: dict[str, Plain] = Field(
        default_factory=dict,
        description="Further options of the script or of sysbench, by their names without the dashes.",
        examples=[{"skip_trx": True, "range_size": 50}],
    )

    @classmethod
    def faults(cls, raw: Mapping[str, Any]) -> Iterable[Fault]:
        script = raw.get("script")
        if isinstance(script, str) and script not in SCRIPTS:
            likely = nearest(script.removesuffix(".lua").replace("-", "_"), SCRIPTS)
            yield Fault("unknown script", ", ".join(SCRIPTS), likely, at=("script",))
        options = raw.get("options")
        if isinstance(options, Mapping):
            known = GENERAL | OF_SCRIPTS | _MORE_OF_SCRIPT.get(str(script), {})
            yield from faults_of(options, known, TAKEN)

    @property
    def table_names(self) -> tuple[str, ...]:
        return tuple(f"sbtest{number}" for number in range(1, self.tables + 1))

    @property
    def rows(self) -> int:
        """Rows of each table after `prepare`: oltp_insert without auto_inc begins with empty ones."""
        inserts_ids = any(
            name.replace("_", "-") == "auto-inc" and value is False for name, value in self.options.items()
        )
        return 0 if self.script == "oltp_insert" and inserts_ids else self.table_size
