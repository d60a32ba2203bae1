"""A typer application whose commands share their options and spellings; its help has panels."""

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints

import typer

from mydyno.cli.declare import parameter_of, parameters_of, with_parameters
from mydyno.cli.spellings import Command, Group


class Application(typer.Typer):
    """Commands are written as functions; a parameter that is a dataclass stands for an option per field."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"cls": Group, "no_args_is_help": True, "rich_markup_mode": "markdown", **options})

    def add(self, command: Callable[..., None] | typer.Typer, panel: str) -> None:
        """A function or a group, under its name (`import_` is `import`), listed below `panel`."""
        if isinstance(command, typer.Typer):
            self.add_typer(command, rich_help_panel=panel)
        else:
            name = command.__name__.strip("_").replace("_", "-")
            self.command(name, rich_help_panel=panel)(command)

    def command(self, name: str | None = None, **options: Any) -> Callable[..., Any]:
        decorate = super().command(name, **{"cls": Command, **options})

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            decorate(_flat(function))
            return function

        return register


def _flat(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function with the fields of its option groups as parameters."""
    hints = get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters.values()
    groups = {one.name: hints[one.name] for one in parameters if is_dataclass(hints[one.name])}

    def run(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        function(**values)

    flat: list[inspect.Parameter] = []
    for one in parameters:
        if one.name in groups:
            flat += parameters_of(groups[one.name])
        else:
            flat.append(parameter_of(one.name, hints[one.name], one.default))
    run.__name__, run.__doc__, run.__module__ = function.__name__, function.__doc__, function.__module__
    return with_parameters(run, flat)
