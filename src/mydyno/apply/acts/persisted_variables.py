"""Values that the server keeps for its next start: SET PERSIST_ONLY, for option files out of reach.

MySQL from 8.0 on keeps them in mysqld-auto.cnf of its data directory, which it reads after all option
files (MySQL Reference Manual, Persisted System Variables). MariaDB has no such file.
"""

from collections.abc import Iterable, Mapping
from typing import Literal

from mydyno.apply.act import Look, VariableName
from mydyno.apply.acts.server_values import ServerAct, server_session, setting_session
from mydyno.apply.apply_context import ApplyContext
from mydyno.server.access import dbapi
from mydyno.server.variables import global_variables


class PersistVariables(ServerAct):
    """What is kept; None: nothing. The running server goes on with the values that it has."""

    kind: Literal["persisted variables"] = "persisted variables"
    before: dict[VariableName, str | None]
    after: dict[VariableName, str | None]

    def do(self, context: ApplyContext) -> None:
        """Raises ApplyError when the server refuses one: the account needs SYSTEM_VARIABLES_ADMIN and
        PERSIST_RO_VARIABLES_ADMIN."""
        with setting_session(context, f"SET PERSIST_ONLY {', '.join(self.after)}", self.lock) as cursor:
            kept = _persisted(cursor, self.after)
            now = global_variables.read(cursor, self.after)
            for name, value in self.after.items():
                if value == kept[name]:
                    continue
                if value is None:
                    cursor.execute(f"RESET PERSIST IF EXISTS {name}")
                else:
                    typed = global_variables.as_value(value, now[name])
                    cursor.execute(f"SET PERSIST_ONLY {name} = %s", (typed,))

    def look(self, context: ApplyContext) -> Look:
        with server_session(context, "performance_schema.persisted_variables") as cursor:
            kept = _persisted(cursor, self.after)
        foreign = [name for name, value in kept.items() if value not in (self.before[name], self.after[name])]
        says = ", ".join(f"{name} is kept as {kept[name] or 'nothing'}" for name in foreign or kept)
        return Look("elsewhere" if foreign else "after" if kept == self.after else "before", says)

    def sentence(self) -> str:
        sets = [f"{name} = {value}" for name, value in self.after.items() if value is not None]
        gone = [name for name, value in self.after.items() if value is None]
        parts = (("SET PERSIST_ONLY", sets), ("RESET PERSIST", gone))
        return "; ".join(f"{verb} {', '.join(names)}" for verb, names in parts if names)


def persisting(context: ApplyContext, wanted: Mapping[str, str]) -> PersistVariables:
    """The act that keeps these (as option files have them) for the next start. Raises ApplyError."""
    with server_session(context, f"reading {', '.join(wanted)}") as cursor:
        before = _persisted(cursor, wanted)
        now = global_variables.read(cursor, wanted)
    after = {name: str(global_variables.as_value(value, now[name])) for name, value in wanted.items()}
    return PersistVariables(before=before, after=dict(after))


def _persisted(cursor: dbapi.Cursor, names: Iterable[str]) -> dict[str, str | None]:
    cursor.execute("SELECT variable_name, variable_value FROM performance_schema.persisted_variables")
    kept = {str(name): str(value) for name, value in cursor.fetchall()}
    return {name: kept.get(name) for name in names}
