"""Acts on the server's variables: their sessions, and the values in force between `before` and `after`."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar

from pydantic import Field

from mydyno.apply.act import Act, LockName, Look, State, VariableName
from mydyno.apply.apply_context import ApplyContext
from mydyno.core.errors import ApplyError, ServerError
from mydyno.server.access import dbapi
from mydyno.server.access.login import ANSWER_SECONDS
from mydyno.server.access.session import session, show_global
from mydyno.server.variables.global_variables import Value, wait_until_resized
from mydyno.server.variables.setting_lock import SETTING_SECONDS, new_lock, take_lock
from mydyno.server.variables.settings import settings_difference


class ServerAct(Act):
    """An act that sets variables in a session of the server."""

    needs_server: ClassVar[bool] = True
    lock: LockName = Field(default_factory=new_lock)
    """Of the sessions that set these, one at a time (setting_lock.py)."""


class GlobalsAct(ServerAct):
    """SET GLOBAL of all of them, in one session."""

    before: dict[VariableName, Value]
    after: dict[VariableName, Value]

    def look(self, context: ApplyContext) -> Look:
        with server_session(context, "SHOW GLOBAL VARIABLES") as cursor:
            return self.compare(cursor)

    def compare(self, cursor: dbapi.Cursor) -> Look:
        return state_between(self.before, self.after, show_global(cursor, "VARIABLES"))

    @property
    def assignments(self) -> str:
        return ", ".join(f"{name} = {value} (was {self.before[name]})" for name, value in self.after.items())


@contextmanager
def server_session(
    context: ApplyContext, what: str, answer_seconds: int = ANSWER_SECONDS
) -> Iterator[dbapi.Cursor]:
    """A cursor. Raises ApplyError for whatever the server refuses inside, and when there is no login."""
    if context.login is None:
        raise ApplyError(f"{what}: no login to the server was given", "use --server or --defaults-file")
    try:
        with session(context.login, what, answer_seconds) as cursor:
            yield cursor
            # A server sends a result before it logs its statement, and both before it reads the next command:
            # a slow log that is read from now on has none of this session's.
            cursor.connection.ping(reconnect=False)
    except ServerError as error:
        raise ApplyError(error.message, error.hint) from error


@contextmanager
def setting_session(context: ApplyContext, what: str, lock: str) -> Iterator[dbapi.Cursor]:
    """The same for a session that sets variables: an earlier one with this lock has ended, whatever it was
    doing, and no resizing goes on."""
    with server_session(context, what, SETTING_SECONDS) as cursor:
        take_lock(cursor, lock)
        wait_until_resized(cursor)
        yield cursor


def state_between(
    before: Mapping[str, Value], after: Mapping[str, Value], in_force: Mapping[str, str]
) -> Look:
    """Whether `before` or `after` is in force. A value that the server rounds by a known rule counts as set.

    Between the two, as a kill leaves it, counts as `before`: no other session has changed anything.
    """
    missing, roundings = _missing(after, in_force)
    old, _ = _missing(before, in_force)
    foreign = missing.keys() & old.keys()
    state: State = "elsewhere" if foreign else "before" if missing else "after"
    differing = [f"{name} is {in_force.get(name)}" for name in (foreign or missing)]
    return Look(state, "; ".join(differing or roundings or ["the server has " + listed(after)]))


def listed(values: Mapping[str, Value]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def _missing(
    wanted: Mapping[str, Value], in_force: Mapping[str, str]
) -> tuple[dict[str, str | None], list[str]]:
    """Name -> what is in force instead, and a sentence for each value that was merely rounded."""
    texts = {name: "" if value is None else value for name, value in wanted.items()}
    differences = settings_difference(texts, in_force)
    return (
        {each.name: each.in_force for each in differences if each.why is None or each.in_force is None},
        [str(each) for each in differences if each.why is not None and each.in_force is not None],
    )
