"""Variables of the running server: SET GLOBAL, read back."""

from collections.abc import Mapping
from typing import Literal

from mydyno.apply.acts.server_values import GlobalsAct, listed, server_session, setting_session
from mydyno.apply.apply_context import ApplyContext
from mydyno.core.errors import ApplyError
from mydyno.server.access import dbapi
from mydyno.server.variables import global_variables
from mydyno.server.variables.global_variables import resize_status, wait_for_resizing

_PASSES = 2
"""Some variables bound others (innodb_io_capacity and its maximum): what was lowered first is taken then."""

_POOL = "innodb_buffer_pool_size"


class SetGlobals(GlobalsAct):
    """They last until the server's next start."""

    kind: Literal["global variables"] = "global variables"

    def do(self, context: ApplyContext) -> None:
        """Raises ApplyError when the server refuses one, or keeps another value than one that it rounds."""
        with setting_session(context, f"SET GLOBAL {', '.join(self.after)}", self.lock) as cursor:
            for _ in range(_PASSES):
                self._write(cursor)
            look = self.compare(cursor)
            if look.state != "after":
                wanted = f"{listed(self.after)} was requested"
                raise ApplyError(f"the server keeps another value: {look.says}, and {wanted}")

    def sentence(self) -> str:
        return f"SET GLOBAL {self.assignments}"

    def _write(self, cursor: dbapi.Cursor) -> None:
        now = global_variables.read(cursor, self.after)
        resized = resize_status(cursor)
        for name, value in self.after.items():
            if now[name] != value:
                global_variables.write(cursor, name, value)
        if _POOL in self.after and now[_POOL] != self.after[_POOL]:
            wait_for_resizing(cursor, resized)


def setting_globals(context: ApplyContext, wanted: Mapping[str, str]) -> SetGlobals:
    """The act that brings these (as option files have them) to the running server. Raises ApplyError."""
    with server_session(context, f"reading {', '.join(wanted)}") as cursor:
        before = global_variables.read(cursor, wanted)
    after = {name: global_variables.as_value(value, before[name]) for name, value in wanted.items()}
    return SetGlobals(before=before, after=after)
