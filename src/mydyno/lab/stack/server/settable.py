"""Which settings can be given to a server while it runs, as that very server reports; nothing is changed."""

from __future__ import annotations

from collections.abc import Mapping

from mydyno.core.server_variables import Setting
from mydyno.lab.stack.server.external import ExternalFacts
from mydyno.server.access import dbapi
from mydyno.server.access.session import session
from mydyno.server.variables import Note, global_variables
from mydyno.server.variables.names import SettingProblem, Understood, understand


def understand_running(facts: ExternalFacts, config: Mapping[str, Setting]) -> Understood:
    """What this server makes of a configuration, with every setting as a problem that this account cannot
    give to it without a restart.

    Raises ServerError when the server does not answer.
    """
    understood = understand(facts, config)
    if not config:
        return understood
    with session(facts.login, "the settings that it accepts could not be read") as cursor:
        problems = [_of_a_session(cursor, problem) or problem for problem in understood.problems]
        refused = {name: global_variables.refusal(cursor, name) for name in understood.settings}
    problems += [
        SettingProblem(_written(name, understood), why) for name, why in refused.items() if why is not None
    ]
    return Understood(understood.settings, understood.notes, tuple(problems), understood.written_as)


def _of_a_session(cursor: dbapi.Cursor, problem: SettingProblem) -> SettingProblem | None:
    """The same setting, if it is unknown only because it has no global value."""
    why = global_variables.refusal(cursor, problem.name)
    return SettingProblem(problem.name, why) if why == global_variables.OF_A_SESSION else None


def _written(name: str, understood: Understood) -> str:
    """The setting of the experiment that became `name` on this server."""
    made = (note for note in understood.notes if isinstance(note, Note) and name in note.became)
    return next((note.name for note in made), name)
