"""Values that the server keeps for its next start: SET PERSIST_ONLY, for option files out of reach.

MySQL from 8.0 on keeps them in mysqld-auto.cnf of its data directory, which it reads after all option
files (MySQL Reference Manual, Persisted System Variables). MariaDB has no such thing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Literal, Self

from pydantic import Field

from mydyno.apply.act import Act, Look
from mydyno.apply.acts.names import LockName, VariableName
from mydyno.apply.acts.server_values import server_session, setting_session
from mydyno.apply.means import Means
from mydyno.server.access import dbapi
from mydyno.server.variables import global_variables
from mydyno.server.variables.setting_lock import new_lock

_ASKED = "SELECT variable_name, variable_value FROM performance_schema.persisted_variables"


class PersistVariables(Act):
    """What is kept; None: nothing. The running server goes on with the values that it has."""

    kind: Literal["persisted variables"] = "persisted variables"
    needs_server: ClassVar[bool] = True
    lock: LockName = Field(default_factory=new_lock)
    """Of the sessions that set these, one at a time (setting_lock.py)."""
    before: dict[VariableName, str | None]
    after: dict[VariableName, str | None]

    def do(self, means: Means) -> None:
        """Raises ApplyError when the server refuses one: the account needs SYSTEM_VARIABLES_ADMIN and
        PERSIST_RO_VARIABLES_ADMIN."""
        with setting_session(means, f"SET PERSIST_ONLY {', '.join(self.after)}", self.lock) as cursor:
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

    def look(self, means: Means) -> Look:
        with server_session(means, "performance_schema.persisted_variables") as cursor:
            kept = _persisted(cursor, self.after)
        foreign = [name for name, value in kept.items() if value not in (self.before[name], self.after[name])]
        says = ", ".join(f"{name} is kept as {kept[name] or 'nothing'}" for name in foreign or kept)
        return Look("elsewhere" if foreign else "after" if kept == self.after else "before", says)

    def reversed(self) -> Self:
        return self.model_copy(update={"before": self.after, "after": self.before})

    def sentence(self) -> str:
        sets = [f"{name} = {value}" for name, value in self.after.items() if value is not None]
        gone = [name for name, value in self.after.items() if value is None]
        said = ["SET PERSIST_ONLY " + ", ".join(sets)] if sets else []
        return "; ".join([*said, *(["RESET PERSIST " + ", ".join(gone)] if gone else [])])


def persisting(means: Means, wanted: Mapping[str, str]) -> PersistVariables:
    """The act that keeps these (as option files have them) for the next start. Raises ApplyError."""
    with server_session(means, f"reading {', '.join(wanted)}") as cursor:
        before = _persisted(cursor, wanted)
        now = global_variables.read(cursor, wanted)
    after = {name: str(global_variables.as_value(value, now[name])) for name, value in wanted.items()}
    return PersistVariables(before=before, after=dict(after))


def _persisted(cursor: dbapi.Cursor, names: Iterable[str]) -> dict[str, str | None]:
    cursor.execute(_ASKED)
    kept = {str(name): str(value) for name, value in cursor.fetchall()}
    return {name: kept.get(name) for name in names}
