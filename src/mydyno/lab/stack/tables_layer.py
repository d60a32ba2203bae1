"""The tables of a workload on a server that is not mydyno's, where no data directory can be frozen or cloned.

Each table says in its comment that mydyno has made it, and, as long as nothing writes to it, what is in it.
A load that writes takes that away before it begins, so that tables which it has changed, or which a kill has
left halfway, are never taken for fresh ones.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from mydyno.core.errors import ServerError
from mydyno.core.server_variables import Setting
from mydyno.core.sql_names import quote
from mydyno.lab.stack.dataset import Facts
from mydyno.lab.stack.layer import BuiltLayers, fingerprint_of
from mydyno.lab.stack.server.server import Server
from mydyno.lab.stack.site import Site
from mydyno.server.access import dbapi
from mydyno.server.access.session import session
from mydyno.server.variables import catalogue

MARK = "made by mydyno"
"""How the comment of every table begins that mydyno makes: what it may drop again without asking."""

_FORMAT = 1
_COUNTING_SECONDS = 600
_CONTENTS = re.compile(
    rf"{MARK}: (?P<rows>\d+) rows of (?P<contents>[0-9a-f]{{16}}), one of (?P<of>\d+) tables"
)


@dataclass(frozen=True)
class LoadedTables:
    """Tables that hold what they should, and the facts that `prepare` gave, or would give."""

    facts: Facts


@dataclass(frozen=True)
class TablesLayer:
    """Tables `names` in `database`, filled by `prepare` unless they hold `contents` already.

    `writes`: the load changes them. `trial` distinguishes one trial's tables from the next one's.
    """

    database: str
    names: Sequence[str]
    contents: Mapping[str, object]
    writes: bool
    trial: str
    prepare: Callable[[Server], Facts] = field(compare=False)
    cost_seconds: float = 10.0
    name: str = field(default="tables", init=False)

    def fingerprint(self) -> str:
        return fingerprint_of(
            {"trial": self.trial, "database": self.database, "contents": dict(self.contents)}
        )

    def side_effects(self) -> tuple[str, ...]:
        return (f"creates tables in the schema {self.database}, and keeps them",)

    def build(self, site: Site, below: BuiltLayers) -> LoadedTables:
        """Raises ServerError when a table in the way was not made by mydyno."""
        server = below.of(Server)  # type: ignore[type-abstract]
        with session(server.login, "the tables could not be read", _COUNTING_SECONDS) as cursor:
            if foreign := foreign_tables(cursor, self.database, self.names):
                raise ServerError(f"{server.login.address}: {refusal(self.database, foreign)}", WAY_OUT)
            digest = self._digest(server.settings)
            rows = self._fresh(cursor, digest)
        facts: Facts = {"tables": rows} if rows is not None else self.prepare(server)
        # The comment of a new table only says that mydyno made it.
        if self.writes == (rows is not None):
            with session(server.login, "a table could not be commented", _COUNTING_SECONDS) as cursor:
                self._mark(cursor, facts["tables"], digest)
        return LoadedTables(facts)

    def remove(self, site: Site, product: LoadedTables) -> None:
        """They stay: the next trial, or the next run, may find them as they should be."""

    def _digest(self, settings: Mapping[str, Setting]) -> str:
        """What distinguishes two contents: what is loaded, and the settings that shape how it is stored."""
        shaping = {name: settings[name] for name in sorted(catalogue().shaping & settings.keys())}
        return fingerprint_of({"format": _FORMAT, "settings": shaping, "contents": dict(self.contents)})

    def _fresh(self, cursor: dbapi.Cursor, digest: str) -> dict[str, int] | None:
        """Rows of each table when all of them are there with these contents; else None."""
        rows_of: dict[str, int] = {}
        of = 0
        for table, comment in comments(cursor, self.database).items():
            match = _CONTENTS.fullmatch(comment)
            if match is not None and match["contents"] == digest:
                rows_of[table], of = int(match["rows"]), int(match["of"])
        if not rows_of or len(rows_of) != of:
            return None
        for table, rows in rows_of.items():
            cursor.execute(f"SELECT COUNT(*) FROM {quote(self.database, table)}")
            (count,) = cursor.fetchone() or (None,)
            if count != rows:
                return None
        return rows_of

    def _mark(self, cursor: dbapi.Cursor, tables: Mapping[str, int], digest: str) -> None:
        for table, rows in tables.items():
            contents = f": {rows} rows of {digest}, one of {len(tables)} tables"
            comment = MARK + ("" if self.writes else contents)
            cursor.execute(f"ALTER TABLE {quote(self.database, table)} COMMENT = '{comment}'")


WAY_OUT = "use another schema in setup.server.external.database; it drops no table that it did not create"


def comments(cursor: dbapi.Cursor, database: str) -> dict[str, str]:
    """Every table and view of the schema with its comment; nothing without such a schema."""
    cursor.execute(
        "SELECT table_name, table_comment FROM information_schema.tables WHERE table_schema = %s", (database,)
    )
    return {str(table): str(comment) for table, comment in cursor.fetchall()}


def foreign_tables(cursor: dbapi.Cursor, database: str, names: Sequence[str]) -> list[str]:
    """Those of `names` that are there and that mydyno has not made."""
    wanted = {name.lower() for name in names}
    return [
        table
        for table, comment in comments(cursor, database).items()
        if table.lower() in wanted and not comment.startswith(MARK)
    ]


def refusal(database: str, foreign: Sequence[str]) -> str:
    """The sentence about tables in the way."""
    more = f" and {len(foreign) - 1} more" if len(foreign) > 1 else ""
    return f"the table {database}.{foreign[0]}{more} already exists, and mydyno did not create it"
