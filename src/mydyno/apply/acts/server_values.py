"""How the server's variables stand between two sets of values, and sessions for acts; changes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from mydyno.apply.act import Look, Stands
from mydyno.apply.means import Means
from mydyno.core.errors import ApplyError, ServerError
from mydyno.server.access import dbapi
from mydyno.server.access.login import ANSWER_SECONDS
from mydyno.server.access.session import session
from mydyno.server.variables.global_variables import Value
from mydyno.server.variables.resizing import wait_until_resized
from mydyno.server.variables.setting_lock import SETTING_SECONDS, take_lock
from mydyno.server.variables.settings import settings_difference


@contextmanager
def server_session(means: Means, what: str) -> Iterator[dbapi.Cursor]:
    """A cursor. Raises ApplyError for whatever the server refuses inside, and when there is no login."""
    with _session(means, what) as cursor:
        yield cursor


@contextmanager
def setting_session(means: Means, what: str, lock: str) -> Iterator[dbapi.Cursor]:
    """The same for a session that sets variables: an earlier one with this lock has ended, whatever it was
    doing, and no resizing goes on."""
    with _session(means, what, SETTING_SECONDS) as cursor:
        take_lock(cursor, lock)
        wait_until_resized(cursor)
        yield cursor


@contextmanager
def _session(means: Means, what: str, answer_seconds: int = ANSWER_SECONDS) -> Iterator[dbapi.Cursor]:
    if means.login is None:
        raise ApplyError(
            f"{what}: no way into the server was given", "say it with --server or --defaults-file"
        )
    try:
        with session(means.login, what, answer_seconds) as cursor:
            yield cursor
    except ServerError as error:
        raise ApplyError(error.message, error.hint) from error


def shown(cursor: dbapi.Cursor) -> dict[str, str]:
    """SHOW GLOBAL VARIABLES."""
    cursor.execute("SHOW GLOBAL VARIABLES")
    return {str(name): str(value) for name, value in cursor.fetchall()}


def stands_between(
    before: Mapping[str, Value], after: Mapping[str, Value], in_force: Mapping[str, str]
) -> Look:
    """Where `in_force` stands. What the server has rounded, by a rule that is known, is as it was asked.

    Between the two, as a kill leaves it, counts as `before`: nobody else has changed anything.
    """
    missing, roundings = _missing(after, in_force)
    old, _ = _missing(before, in_force)
    foreign = missing.keys() & old.keys()
    stands: Stands = "elsewhere" if foreign else "before" if missing else "after"
    told = [f"{name} is {in_force.get(name)}" for name in (foreign or missing)]
    return Look(stands, "; ".join(told or roundings or ["the server has " + listed(after)]))


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
