"""A setting in the names of the release at hand, as the changes that bring it."""

from collections.abc import Mapping

from mydyno.apply.change import SetVariable
from mydyno.core.server_variables import Setting
from mydyno.server.variables import catalogue
from mydyno.server.variables.convert import text_of
from mydyno.server.variables.row import same_meaning
from mydyno.server.variables.translate import translate
from mydyno.survey.facts import Server


def settings(server: Server, wanted: Mapping[str, Setting]) -> tuple[SetVariable, ...]:
    """The changes by which `wanted` (any release's names) comes about on this server; those that are
    in force already are left out. Empty too where the release has no such setting."""
    known = {name: variable.value for name, variable in server.variables.items()}
    translated = translate(wanted, known, server.release, catalogue())
    refused = {problem.name for problem in translated.problems}
    made = ((name, text_of(value)) for name, value in translated.settings.items() if name not in refused)
    return tuple(
        SetVariable(
            name=name, value=value, was=server.text(name), restart=server.variables[name].dynamic is False
        )
        for name, value in made
        if name in known and not in_force(server, name, value)
    )


def in_force(server: Server, name: str, value: str) -> bool:
    """Whether the variable has this value, sizes and words for on and off compared by meaning."""
    now = server.text(name)
    return now is not None and same_meaning(now, value)
