"""Restarting the server by its systemd unit, and waiting until it answers with the new values."""

import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field

from mydyno.apply.act import Act, Look, PathFromRoot, UnitName, VariableName
from mydyno.apply.acts.server_values import listed, server_session, state_between
from mydyno.apply.acts.systemd import properties, systemctl, unit_of_process
from mydyno.apply.apply_context import ApplyContext
from mydyno.core.errors import ApplyError
from mydyno.machine.local import LocalHost
from mydyno.server.access.session import process_of, show_global
from mydyno.server.variables import global_variables
from mydyno.server.variables.global_variables import Value

_PATIENCE_SECONDS = 3600.0
"""A server of a large buffer pool writes for long when it stops, and the unit has separate limits."""

_ANSWERS_WITHIN_SECONDS = 300.0
"""Counted from where systemd reports it as started, which for an older unit is when its process is there."""

_POLL_SECONDS = 0.2
_LOG_LINES = 12


class RestartServer(Act):
    """`before` and `after`: the variables that nothing but a restart brings; none for limits of the unit."""

    kind: Literal["restart"] = "restart"
    needs_server: ClassVar[bool] = True
    unit: UnitName
    first_run: Annotated[str, Field(pattern=r"^[0-9a-f]*$")]
    """systemd's name (InvocationID) for the run of the unit that was there before the application."""
    back: bool = False
    """Whether this is the way back, for which nothing is to be done as long as the first run goes on."""
    log: PathFromRoot | None
    """The server's error log; None: it writes to systemd's journal."""
    before: dict[VariableName, Value]
    after: dict[VariableName, Value]

    def do(self, context: ApplyContext) -> None:
        """Raises ApplyError with the end of the error log when the server does not come."""
        if self._is_there(context):
            return
        # A unit that has failed too often in a short time is not started again without this.
        systemctl("reset-failed", self.unit)
        done = systemctl("restart", self.unit, timeout_seconds=_PATIENCE_SECONDS)
        if done.returncode != 0:
            raise self._failed("did not start")
        if context.login is not None:
            self._wait_for_answer(context)

    def look(self, context: ApplyContext) -> Look:
        state, run = self._state()
        if state != "active":
            return Look("elsewhere", f"{self.unit} is {state}")
        if run == self.first_run:
            return Look("after" if self.back else "before", f"{self.unit} has not been restarted")
        if not self.after or context.login is None:
            return Look("unseen", f"{self.unit} has been restarted")
        with server_session(context, f"reading {', '.join(self.after)}") as cursor:
            return state_between(self.before, self.after, show_global(cursor, "VARIABLES"))

    def reversed(self) -> Self:
        return super().reversed().model_copy(update={"back": not self.back})

    def sentence(self) -> str:
        brings = f" for {listed(self.after)}" if self.after else ""
        return f"systemctl restart {self.unit}{brings}"

    def _is_there(self, context: ApplyContext) -> bool:
        try:
            return self.look(context).state == "after"
        except ApplyError:
            return False  # It does not answer: whatever it is doing, it is not what is wanted.

    def _state(self) -> tuple[str, str]:
        shown = properties(self.unit, ("ActiveState", "InvocationID"))
        return shown.get("ActiveState", "unknown"), shown.get("InvocationID", "")

    def _wait_for_answer(self, context: ApplyContext) -> None:
        deadline = time.monotonic() + _ANSWERS_WITHIN_SECONDS
        while True:
            try:
                with server_session(context, "waiting for its answer"):
                    return
            except ApplyError as error:
                if self._state()[0] != "active":
                    raise self._failed("started and ended again") from error
                if time.monotonic() > deadline:
                    raise self._failed(f"does not answer: {error.message}") from error
                time.sleep(_POLL_SECONDS)

    def _failed(self, what: str) -> ApplyError:
        log = "".join(f"\n  | {line}" for line in self._last_lines())
        return ApplyError(f"{self.unit} {what}{' with the old settings' if self.back else ''}{log}")

    def _last_lines(self) -> list[str]:
        """The server's own last messages; systemd's lines report only that it ended."""
        if self.log is not None:
            with suppress(OSError):
                return Path(self.log).read_text(errors="replace").splitlines()[-_LOG_LINES:]
        words = f"journalctl --no-pager -o cat -n {_LOG_LINES}".split()
        return LocalHost().run([*words, f"_SYSTEMD_UNIT={self.unit}"]).stdout.splitlines()


def restarting(context: ApplyContext, unit: str | None, wanted: Mapping[str, str]) -> RestartServer | None:
    """The act that brings these (as option files have them) by a restart of `unit`, by default the one that
    the server's process is of. None: there is none, so it must be restarted by hand. Raises ApplyError."""
    log: str | None = None
    before: dict[str, Value] = {}
    if context.login is not None:
        with server_session(context, f"reading {', '.join(wanted) or 'its variables'}") as cursor:
            in_force = show_global(cursor, "VARIABLES")
            pid = process_of(cursor, context.login, in_force)
            before = global_variables.read(cursor, wanted)
        log = _log_file(in_force)
        unit = unit or (unit_of_process(pid) if pid is not None else None)
    if unit is None:
        return None
    after = {name: global_variables.as_value(wanted[name], value) for name, value in before.items()}
    run = properties(unit, ("InvocationID",)).get("InvocationID", "")
    return RestartServer(unit=unit, first_run=run, log=log, before=before, after=after)


def _log_file(variables: Mapping[str, str]) -> str | None:
    """`log_error` is relative to the data directory; `stderr` or nothing goes to the journal."""
    named = variables.get("log_error", "")
    return None if named in ("", "stderr") else str(Path(variables.get("datadir", "/"), named))
