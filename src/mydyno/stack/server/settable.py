"""Which settings can be given to a server while it runs, asked of that very server; nothing is changed."""

from __future__ import annotations

from collections.abc import Mapping

from mydyno.catalogue import Note
from mydyno.core.server_variables import Setting
from mydyno.stack.server import global_variables
from mydyno.stack.server.external import ExternalFacts, session
from mydyno.stack.server.names import SettingProblem, Understood, understand


def understand_running(facts: ExternalFacts, config: Mapping[str, Setting]) -> Understood:
    """What this server makes of a configuration, with every setting as a problem that this account cannot
    give to it without a restart.

    Raises ServerError when the server cannot be asked.
    """
    understood = understand(facts, config)
    if not understood.settings:
        return understood
    with session(facts.login, "it could not be asked what may be set") as cursor:
        refused = {name: global_variables.refusal(cursor, name) for name in understood.settings}
    problems = tuple(
        SettingProblem(_written(name, understood), why) for name, why in refused.items() if why is not None
    )
    return Understood(understood.settings, understood.notes, (*understood.problems, *problems))


def _written(name: str, understood: Understood) -> str:
    """The setting of the experiment that became `name` on this server."""
    made = (note for note in understood.notes if isinstance(note, Note) and name in note.became)
    return next((note.name for note in made), name)
