"""Variables of the running server that are set for a while, apart from what others have set meanwhile."""

from collections.abc import Mapping
from typing import Literal, Self

from mydyno.apply.acts.server_values import GlobalsAct, listed, server_session, setting_session, state_between
from mydyno.apply.apply_context import ApplyContext
from mydyno.core.errors import ApplyError
from mydyno.core.server_variables import Setting
from mydyno.server.access import dbapi
from mydyno.server.access.session import show_global
from mydyno.server.variables import global_variables
from mydyno.server.variables.global_variables import Value
from mydyno.server.variables.settings import settings_difference

_SAME_START_SECONDS = 1
"""The server's clock and its uptime are read one after the other, in whole seconds."""


class HoldVariables(GlobalsAct):
    """SET GLOBAL of all of them in this order, and back in the opposite one.

    On the way back a value that is neither the old one nor ours was set by another session and stays, and so
    do all when the server has been started since: SET GLOBAL ends with the server.
    """

    kind: Literal["held variables"] = "held variables"
    server: str
    """Which server it is, in its own words: host, port and data directory."""
    started_at: int
    """When that server was started, in seconds since 1970 by its own clock."""

    def do(self, context: ApplyContext) -> None:
        """Raises ApplyError when the server refuses one, or makes another value of it."""
        with setting_session(context, f"SET GLOBAL {', '.join(self.after)}", self.lock) as cursor:
            self._must_be_the_server(cursor)
            for name, value in self.after.items():
                global_variables.write(cursor, name, value)
            look = self.compare(cursor)
            if look.state != "after":
                raise ApplyError(f"the server keeps another value: {look.says}")

    def reversed(self) -> Self:
        back = {name: self.before[name] for name in reversed(self.after)}
        return self.model_copy(update={"before": self.after, "after": back})

    def take_back(self, context: ApplyContext) -> str | None:
        with setting_session(context, f"restoring {', '.join(self.after)}", self.lock) as cursor:
            self._must_be_the_server(cursor)
            if abs(_started_at(cursor) - self.started_at) > _SAME_START_SECONDS:
                return "the server has been restarted since, and SET GLOBAL ended with it: nothing to restore"
            now = show_global(cursor, "VARIABLES")
            ours = [name for name in reversed(self.after) if _is(name, self.after[name], now)]
            for name in ours:
                global_variables.write(cursor, name, self.before[name])
            old = {name: self.before[name] for name in ours}
            look = state_between({}, old, show_global(cursor, "VARIABLES"))
        if look.state != "after":
            raise ApplyError(f"the server keeps another value than the old one: {look.says}")
        theirs = [name for name in self.after if name not in ours and not _is(name, self.before[name], now)]
        if theirs:
            values = ", ".join(f"{name} = {now.get(name)}" for name in theirs)
            return f"{values} has been set by another session since: left as it is"
        return None

    def sentence(self) -> str:
        return f"SET GLOBAL for a while: {self.assignments}"

    def _must_be_the_server(self, cursor: dbapi.Cursor) -> None:
        server = _server(cursor)
        if server != self.server:
            raise ApplyError(
                f"this is the server {server}, and {listed(self.after)} was set on {self.server}",
                "log in to that one (--server); if it is gone for good, remove the application's folder"
                " below mydyno's own (docs/how-to/apply.md)",
            )


def holding(context: ApplyContext, wanted: Mapping[str, Setting]) -> HoldVariables:
    """The act that sets these for a while, in this order. Raises ApplyError."""
    with server_session(context, f"reading {', '.join(wanted)}") as cursor:
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
    uptime = show_global(cursor, "STATUS LIKE 'Uptime'")["Uptime"]
    cursor.execute("SELECT UNIX_TIMESTAMP()")
    now = cursor.fetchone()
    assert now is not None
    return int(now[0]) - int(uptime)
