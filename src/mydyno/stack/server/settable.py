"""Which settings can be given to a server while it runs, asked of that very server; nothing is changed."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from mydyno.stack.server import global_variables
from mydyno.stack.server.config import Setting, refusal
from mydyno.stack.server.external import ExternalFacts, session
from mydyno.stack.server.names import SettingProblem

if TYPE_CHECKING:
    from pymysql.cursors import Cursor


def find_unsettable(facts: ExternalFacts, settings: Mapping[str, Setting]) -> tuple[SettingProblem, ...]:
    """Every setting that this account cannot give to this server without a restart.

    Raises ServerError when the server cannot be asked.
    """
    if not settings:
        return ()
    with session(facts.login, "it could not be asked what may be set") as cursor:
        found = [_problem(cursor, facts, name, value) for name, value in settings.items()]
    return tuple(problem for problem in found if problem is not None)


def _problem(cursor: Cursor, facts: ExternalFacts, name: str, value: Setting) -> SettingProblem | None:
    if why := refusal(name, value):
        return SettingProblem(name, why)
    refused = global_variables.refusal(cursor, name)
    if refused is None:
        return None
    code, why = refused
    if global_variables.unknown(code):
        nearest = tuple(difflib.get_close_matches(name, facts.variables, n=3, cutoff=0.75))
        return SettingProblem(name, "this server has no such variable", nearest)
    return SettingProblem(name, why)
