"""A typer application whose commands share their options and spellings; its help has panels."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints

import typer

from mydyno.cli.spellings import Command


class Application(typer.Typer):
    """Commands are written as functions; a parameter that is a dataclass stands for an option per field."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"no_args_is_help": True, "rich_markup_mode": "markdown", **options})
        self._panel: str | None = None

    @contextmanager
    def panel(self, title: str) -> Iterator[None]:
        """Commands that are added meanwhile are listed under `title`."""
        self._panel = title
        yield
        self._panel = None

    def command(self, name: str | None = None, **options: Any) -> Callable[..., Any]:
        decorate = super().command(name, **{"cls": Command, "rich_help_panel": self._panel, **options})

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            decorate(_flat(function))
            return function

        return register

    def add_typer(self, group: typer.Typer, **options: Any) -> None:
        super().add_typer(group, **{"rich_help_panel": self._panel, **options})


def _flat(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function with the fields of its dataclasses as parameters."""
    hints = get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters.values()
    groups = {one.name: hints[one.name] for one in parameters if is_dataclass(hints[one.name])}
    if not groups:
        return function

    def run(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        function(**values)

    flat = [each for one in parameters for each in _parameters(one, hints[one.name])]
    run.__name__, run.__doc__, run.__module__ = function.__name__, function.__doc__, function.__module__
    run.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in flat}
    return run


def _parameters(one: inspect.Parameter, kind: Any) -> Iterator[inspect.Parameter]:
    if not is_dataclass(kind):
        yield one.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=kind)
        return
    hints = get_type_hints(kind, include_extras=True)
    for field in fields(kind):
        yield inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
