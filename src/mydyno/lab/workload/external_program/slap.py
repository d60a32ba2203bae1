"""workload.mysqlslap: the real mysqlslap or mariadb-slap."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from mydyno.core.document.base import Fault, Section, clash
from mydyno.lab.workload.external_program.passed import Kind, Plain, dashed, faults_of

KNOWN: dict[str, Kind] = {
    **{
        f"auto-generate-sql-{name}": "number"
        for name in ("secondary-indexes", "unique-query-number", "unique-write-number", "write-number")
    },
    **dict.fromkeys(("auto-generate-sql-add-autoincrement", "auto-generate-sql-guid-primary"), "switch"),
    **dict.fromkeys(("commit", "detach"), "number"),
    "compress": "switch",
    **dict.fromkeys(("create", "delimiter", "init-command", "number-char-cols", "number-int-cols"), "text"),
    **dict.fromkeys(("post-query", "pre-query", "query"), "text"),
}
"""Options of both programs, from `--help` of mariadb-slap 10.11."""

SQL_OPTIONS = ("create", "init-command", "post-query", "pre-query", "query")
"""Those of them that are SQL, or the path of a file with SQL."""

_CONNECTIONS = "use workload.connections"
_EACH = "use workload.each"
_OUTPUT = "its output is read by mydyno"
_SERVER = "the server under test is known to mydyno"
_SHELL = "mydyno runs no shell commands of a workload"
TAKEN: dict[str, str] = {
    "auto-generate-sql": "use the key `load_type` next to `options`",
    "auto-generate-sql-load-type": "use the key `load_type` next to `options`",
    "auto-generate-sql-execute-number": _EACH,
    "number-of-queries": _EACH,
    "concurrency": _CONNECTIONS,
    "iterations": "use the key `iterations` next to `options`",
    "engine": "use the key `storage_engine` next to `options`",
    "create-schema": "use the key `database` next to `options`",
    "no-drop": "mydyno drops what mysqlslap made",
    **dict.fromkeys(("csv", "only-print", "silent", "verbose", "debug-info"), _OUTPUT),
    **dict.fromkeys(("pre-system", "post-system"), _SHELL),
    **dict.fromkeys(("host", "port", "socket", "user", "password", "protocol"), _SERVER),
}
"""What mydyno sets itself -> why, or what to write instead."""

_Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,63}$")]


class ExternalSlap(Section):
    """The real mysqlslap, run as it is installed: one run for each number of connections."""

    load_type: Literal["mixed", "write", "read", "update", "key"] | None = Field(
        default=None,
        description="What it makes up (--auto-generate-sql-load-type); default `mixed`, unless there is a "
        "`query` of your own among the options.",
        examples=["write"],
    )
    iterations: int = Field(
        default=1, ge=1, le=1_000, description="Runs of each number of connections, each on a new table."
    )
    storage_engine: _Name | None = Field(
        default=None, description="Storage engine of its table; default: that of the server."
    )
    database: _Name = Field(
        default="mydyno_slap", description="The schema that it makes, and DROPS before and after a run."
    )
    options: dict[str, Plain] = Field(
        default_factory=dict,
        description="Further options of mysqlslap, by their names without the dashes.",
        examples=[{"auto-generate-sql-guid-primary": True, "number-int-cols": "10"}],
    )

    @classmethod
    def faults(cls, raw: Mapping[str, Any]) -> Iterable[Fault]:
        options = raw.get("options", {})
        if not isinstance(options, Mapping):
            return
        yield from faults_of(options, KNOWN, TAKEN)
        names = {dashed(name) for name in options}
        if "query" in names and raw.get("load_type") is not None:
            yield clash("load_type", "a query of your own and a load type are both given", "one of them")
        keys = {"auto-generate-sql-guid-primary", "auto-generate-sql-add-autoincrement"}
        if raw.get("load_type") == "key" and not names & keys:
            yield clash("load_type", "load type key needs a primary key", " or ".join(sorted(keys)))

    @property
    def own_query(self) -> bool:
        return any(dashed(name) == "query" for name in self.options)
