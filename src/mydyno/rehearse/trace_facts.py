"""What a trace holds, as the engine's survey of it says (docs/reference/engine-protocol.md)."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from mydyno.core.errors import EngineError, UsageError
from mydyno.core.record import Record
from mydyno.core.sql_names import SYSTEM_SCHEMAS
from mydyno.machine.programs import find_program
from mydyno.page.format import count, duration

_MOST_SECONDS = 3600


class Table(Record):
    """`schema` None: the statement named none, and ran in none that is known."""

    schema_name: str | None = None
    table: str


class TraceFacts(Record):
    """Of the whole trace."""

    path: str
    server: str | None
    source: str
    statements: int
    connections: int
    length_us: int
    replayed: int
    skipped: Mapping[str, int]
    """Reason -> statements that are never, or not now, replayed."""
    tables: tuple[Table, ...]

    @property
    def is_synthetic(self) -> bool:
        return self.source == "synthetic"

    def table_names(self, database: str | None) -> frozenset[str]:
        """`schema.table` in small letters; those without a schema are looked for in `database`."""
        named = ((each.schema_name or database, each.table) for each in self.tables)
        return frozenset(
            f"{schema}.{table}".lower()
            for schema, table in named
            if schema is not None and schema.lower() not in SYSTEM_SCHEMAS
        )

    def lines(self) -> Iterator[str]:
        """For a terminal."""
        kind = "synthetic trace" if self.is_synthetic else "trace"
        of = f" of {self.server}" if self.server else ""
        yield (
            f"{kind} {self.path}{of}: {count(self.statements)} statements on {count(self.connections)}"
            f" connections in {duration(self.length_us / 1e6)}"
        )
        for reason, number in sorted(self.skipped.items()):
            yield f"  {count(number)} statements are left out: {reason}"


def read_trace(path: Path) -> TraceFacts:
    """Reads it once. Raises UsageError for a file that is no whole trace, MissingToolError, EngineError."""
    if not path.is_file():
        raise UsageError(f"there is no trace {path}", "`mydyno capture` records one")
    program = find_program("mydyno-engine")
    job = {"trace": str(path.resolve()), "reads_only": False}
    done = subprocess.run(
        [program, "survey"],
        input=json.dumps(job),
        capture_output=True,
        text=True,
        check=False,
        timeout=_MOST_SECONDS,
    )
    try:
        answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        if done.returncode:
            raise UsageError(f"{path}: {answer['message']}", answer.get("hint"))
        tables = tuple(_table(each) for each in answer["tables"])
        known = {name: answer[name] for name in TraceFacts.model_fields.keys() - {"path", "tables"}}
        return TraceFacts(**known, path=path.name, tables=tables)
    except (ValueError, LookupError, ValidationError) as error:
        raise EngineError(
            f"unexpected output of {program} survey: {done.stderr.strip()[-300:] or error}",
            "mydyno and mydyno-engine come from different releases: install them together",
        ) from error


def _table(entry: Mapping[str, Any]) -> Table:
    return Table(schema_name=entry.get("schema"), table=entry["name"])
