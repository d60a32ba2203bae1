"""How commands declare their options and arguments.

As the default of a parameter, or of a field of an `option_group`:
`limit: int | None = option("--limit N", "Show N.")`.
As a type that several commands share: `Lab = Annotated[Path, option("--lab", "...")]`.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, TypeVar, dataclass_transform, get_args, get_type_hints

import typer
from typer.models import ParameterInfo

_NO_DEFAULT: Any = ...
_Group = TypeVar("_Group")


def option(flags: str, text: str, default: Any = _NO_DEFAULT, **more: Any) -> Any:
    """An option with its help text. `flags`: its names, then its metavar, as `--jobs -j N`."""
    names = [word for word in flags.split() if word.startswith("-")]
    metavar = " ".join(flags.split()[len(names) :]) or None
    return typer.Option(default, *names, help=text, **{"metavar": metavar, **more})


def argument(metavar: str, text: str, **more: Any) -> Any:
    return typer.Argument(metavar=metavar, help=text, **{"show_default": False, **more})


@dataclass_transform(frozen_default=True)
def option_group(group: type[_Group]) -> type[_Group]:
    """A frozen dataclass of options: a command takes them as one parameter of this type."""
    for name, value in list(vars(group).items()):
        if isinstance(value, ParameterInfo):
            declared, default = _divided(value)
            setattr(group, name, field(default=default, metadata={"declared": declared}))
    return dataclass(frozen=True)(group)


def parameter_of(name: str, kind: Any, default: Any) -> inspect.Parameter:
    """A parameter for typer to read; `default` may be an option, whose own default is None unless given."""
    if isinstance(default, ParameterInfo):
        declared, default = _divided(default)
        kind = Annotated[kind, declared]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def parameters_of(group: type) -> Iterator[inspect.Parameter]:
    """A parameter for each field of an option group, under the heading `group.panel` of the help."""
    panel = getattr(group, "panel", None)
    hints = get_type_hints(group, include_extras=True)
    for one in fields(group):
        kind = hints[one.name]
        if "declared" in one.metadata:
            kind = Annotated[kind, one.metadata["declared"]]
        declared = get_args(kind)[1]
        declared.rich_help_panel = declared.rich_help_panel or panel
        yield parameter_of(one.name, kind, one.default)


def given_options(group: Any) -> dict[str, Any]:
    """The options of a group that were given, by their fields; lists as tuples."""
    values = {name: value for name, value in vars(group).items() if value not in (None, [])}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


def with_parameters(
    function: Callable[..., None], parameters: Iterable[inspect.Parameter]
) -> Callable[..., None]:
    """The function, which takes anything by keyword, with these parameters for typer to read."""
    signature = inspect.Signature(list(parameters))
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__annotations__ = {one.name: one.annotation for one in signature.parameters.values()}
    return function


def _divided(declared: ParameterInfo) -> tuple[ParameterInfo, Any]:
    """Typer takes the default apart from an annotation."""
    default = None if declared.default is _NO_DEFAULT else declared.default
    declared.default = _NO_DEFAULT
    return declared, default
