"""Variables of the running server that are set for a while: told from what others have set meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, Self

from pydantic import Field

from mydyno.apply.act import Act, Look
from mydyno.apply.acts.names import LockName, VariableName
from mydyno.apply.acts.server_values import listed, server_session, setting_session, shown, stands_between
from mydyno.apply.means import Means
from mydyno.core.errors import ApplyError
from mydyno.core.server_variables import Setting
from mydyno.server.access import dbapi
from mydyno.server.variables import global_variables
from mydyno.server.variables.global_variables import Value
from mydyno.server.variables.setting_lock import new_lock
from mydyno.server.variables.settings import settings_difference

_SAME_START_SECONDS = 1
"""The server's clock and its uptime are read one after the other, in whole seconds."""


class HoldVariables(Act):
    """SET GLOBAL of all of them in this order, and back in the opposite one.

    On the way back a value that is neither the old one nor ours is somebody else's and stays, and so do all
    when the server has been started since: SET GLOBAL ends with the server.
    """

    kind: Literal["held variables"] = "held variables"
    needs_server: ClassVar[bool] = True
    lock: LockName = Field(default_factory=new_lock)
    """Of the sessions that set these, one at a time (setting_lock.py)."""
    before: dict[VariableName, Value]
    after: dict[VariableName, Value]
    server: str
    """Which server it is, in its own words: host, port and data directory."""
    started_at: int
    """When that server was started, in seconds since 1970 by its own clock."""

    def do(self, means: Means) -> None:
        """Raises ApplyError when the server refuses one, or makes another value of it."""
        with setting_session(means, f"SET GLOBAL {', '.join(self.after)}", self.lock) as cursor:
            self._must_be_the_server(cursor)
            for name, value in self.after.items():
                global_variables.write(cursor, name, value)
            look = stands_between(self.before, self.after, shown(cursor))
            if look.stands != "after":
                raise ApplyError(f"the server keeps another value: {look.says}")

    def look(self, means: Means) -> Look:
        with server_session(means, "SHOW GLOBAL VARIABLES") as cursor:
            return stands_between(self.before, self.after, shown(cursor))

    def reversed(self) -> Self:
        back = {name: self.before[name] for name in reversed(self.after)}
        return self.model_copy(update={"before": self.after, "after": back})

    def take_back(self, means: Means) -> str | None:
        with setting_session(means, f"putting back {', '.join(self.after)}", self.lock) as cursor:
            self._must_be_the_server(cursor)
            if abs(_started_at(cursor) - self.started_at) > _SAME_START_SECONDS:
                return (
                    "the server has been restarted since, and SET GLOBAL ended with it: nothing to put back"
                )
            now = shown(cursor)
            ours = [name for name in reversed(self.after) if _is(name, self.after[name], now)]
            for name in ours:
                global_variables.write(cursor, name, self.before[name])
            look = stands_between({}, {name: self.before[name] for name in ours}, shown(cursor))
        if look.stands != "after":
            raise ApplyError(f"the server keeps another value than the old one: {look.says}")
        theirs = [name for name in self.after if name not in ours and not _is(name, self.before[name], now)]
        if theirs:
            values = ", ".join(f"{name} = {now.get(name)}" for name in theirs)
            return f"{values} has been set by somebody else since: left as it is"
        return None

    def sentence(self) -> str:
        sets = (f"{name} = {value} (was {self.before[name]})" for name, value in self.after.items())
        return "SET GLOBAL for a while: " + ", ".join(sets)

    def _must_be_the_server(self, cursor: dbapi.Cursor) -> None:
        found = _server(cursor)
        if found != self.server:
            raise ApplyError(
                f"this is the server {found}, and {listed(self.after)} was set on {self.server}",
                "give the way into that one (--server); if it is gone for good, remove the application's"
                " folder below mydyno's own (docs/how-to/apply.md)",
            )


def holding(means: Means, wanted: Mapping[str, Setting]) -> HoldVariables:
    """The act that sets these for a while, in this order. Raises ApplyError."""
    with server_session(means, f"reading {', '.join(wanted)}") as cursor:
        before = global_variables.read(cursor, wanted)
        server, started_at = _server(cursor), _started_at(cursor)
    after = {name: global_variables.as_value(value, before[name]) for name, value in wanted.items()}
    return HoldVariables(before=before, after=after, server=server, started_at=started_at)


def _is(name: str, value: Value, in_force: Mapping[str, str]) -> bool:
    return not settings_difference({name: "" if value is None else value}, in_force)


def _server(cursor: dbapi.Cursor) -> str:
    cursor.execute("SELECT @@GLOBAL.hostname, @@GLOBAL.port, @@GLOBAL.datadir")
    row = cursor.fetchone()
    assert row is not None
    return f"{row[0]}:{row[1]}{row[2]}"


def _started_at(cursor: dbapi.Cursor) -> int:
    """The uptime is the server's clock less the time of its start, so the difference does not drift."""
    cursor.execute("SHOW GLOBAL STATUS LIKE 'Uptime'")
    uptime = cursor.fetchone()
    cursor.execute("SELECT UNIX_TIMESTAMP()")
    now = cursor.fetchone()
    assert uptime is not None
    assert now is not None
    return int(now[0]) - int(uptime[1])
