"""Variables of the running server: SET GLOBAL, read back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, Self

from pydantic import Field

from mydyno.apply.act import Act, Look
from mydyno.apply.acts.names import LockName, VariableName
from mydyno.apply.acts.server_values import listed, server_session, setting_session, shown, stands_between
from mydyno.apply.means import Means
from mydyno.core.errors import ApplyError
from mydyno.server.access import dbapi
from mydyno.server.variables import global_variables
from mydyno.server.variables.global_variables import Value
from mydyno.server.variables.resizing import resize_status, wait_for_resizing
from mydyno.server.variables.setting_lock import new_lock

_PASSES = 2
"""Some variables bound others (innodb_io_capacity and its maximum): what was lowered first is taken then."""

_POOL = "innodb_buffer_pool_size"


class SetGlobals(Act):
    """SET GLOBAL of all of them, in one session. They last until the server's next start."""

    kind: Literal["global variables"] = "global variables"
    needs_server: ClassVar[bool] = True
    lock: LockName = Field(default_factory=new_lock)
    """Of the sessions that set these, one at a time (setting_lock.py)."""
    before: dict[VariableName, Value]
    after: dict[VariableName, Value]

    def do(self, means: Means) -> None:
        """Raises ApplyError when the server refuses one, or keeps another value than one that it rounds."""
        with setting_session(means, f"SET GLOBAL {', '.join(self.after)}", self.lock) as cursor:
            for _ in range(_PASSES):
                self._write(cursor)
            look = stands_between(self.before, self.after, shown(cursor))
            if look.stands != "after":
                asked = f"{listed(self.after)} was asked for"
                raise ApplyError(f"the server keeps another value: {look.says}, and {asked}")

    def look(self, means: Means) -> Look:
        with server_session(means, "SHOW GLOBAL VARIABLES") as cursor:
            return stands_between(self.before, self.after, shown(cursor))

    def reversed(self) -> Self:
        return self.model_copy(update={"before": self.after, "after": self.before})

    def sentence(self) -> str:
        sets = (f"{name} = {value} (was {self.before[name]})" for name, value in self.after.items())
        return "SET GLOBAL " + ", ".join(sets)

    def _write(self, cursor: dbapi.Cursor) -> None:
        now = global_variables.read(cursor, self.after)
        resized = resize_status(cursor)
        for name, value in self.after.items():
            if now[name] != value:
                global_variables.write(cursor, name, value)
        if _POOL in self.after and now[_POOL] != self.after[_POOL]:
            wait_for_resizing(cursor, resized)


def setting_globals(means: Means, wanted: Mapping[str, str]) -> SetGlobals:
    """The act that brings these (as option files have them) to the running server. Raises ApplyError."""
    with server_session(means, f"reading {', '.join(wanted)}") as cursor:
        before = global_variables.read(cursor, wanted)
    after = {name: global_variables.as_value(value, before[name]) for name, value in wanted.items()}
    return SetGlobals(before=before, after=after)
