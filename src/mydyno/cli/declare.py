"""How commands declare their options and arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from typing import Any, get_args, get_type_hints

import typer


def option(flags: str, text: str, **more: Any) -> Any:
    """An option with its help text. `flags`: its names, then its metavar, as `--jobs -j N`."""
    names = [word for word in flags.split() if word.startswith("-")]
    metavar = " ".join(flags.split()[len(names) :]) or None
    return typer.Option(*names, help=text, **{"metavar": metavar, **more})


def argument(metavar: str, text: str, **more: Any) -> Any:
    return typer.Argument(metavar=metavar, help=text, **{"show_default": False, **more})


def parameters_of(group: type) -> Iterator[inspect.Parameter]:
    """A parameter for each field of a dataclass of options, under the heading `group.panel` of the help."""
    panel = getattr(group, "panel", None)
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        _, declared, *_ = get_args(hints[field.name])
        declared.rich_help_panel = declared.rich_help_panel or panel
        yield inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )


def with_parameters(
    function: Callable[..., None], parameters: Iterable[inspect.Parameter]
) -> Callable[..., None]:
    """The function, which takes anything by keyword, with these parameters for typer to read."""
    signature = inspect.Signature(list(parameters))
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__annotations__ = {one.name: one.annotation for one in signature.parameters.values()}
    return function
