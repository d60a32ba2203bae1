"""Options that are passed on to a program as they are: only names that it has, only values that they take."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import PlainValidator, WithJsonSchema

from mydyno.core.document.base import Fault
from mydyno.core.nearest import nearest

Kind = Literal["number", "switch", "text"]
Plain = Annotated[
    Any, PlainValidator(lambda value: value), WithJsonSchema({"type": ["string", "number", "boolean"]})
]
"""A text, a number or a switch. `faults_of` checks it, which knows the kind that its option wants."""

_WANTED: dict[Kind, str] = {"number": "a number", "switch": "true or false", "text": "a text"}


def dashed(name: str) -> str:
    """An option's name as programs print it: both write - and _ for the same option."""
    return name.replace("_", "-")


def faults_of(
    options: Mapping[str, Any], known: Mapping[str, Kind], taken: Mapping[str, str]
) -> Iterator[Fault]:
    """What is wrong with `options`. `known` are the program's own; `taken` says of options that mydyno
    sets itself why, or what to write instead."""
    for name, value in options.items():
        dash = dashed(name)
        at = ("options", name)
        if dash in taken:
            message = f"{name} is not passed on: {taken[dash]}"
            yield Fault(message, at=at, at_key=True, show_value=False, whole=True)
        elif dash not in known:
            allowed = ", ".join(sorted(known))
            likely = nearest(dash, [*known, *taken])
            yield Fault(
                f"{name} is not an option of the program", allowed, likely, at=at, at_key=True, whole=True
            )
        elif not _fits(known[dash], value):
            yield Fault(f"{name} has a wrong value", _WANTED[known[dash]], at=at, whole=True)


def _fits(kind: Kind, value: Any) -> bool:
    if kind == "switch":
        return isinstance(value, bool)
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
    # A text may look like a number in YAML: `mysql-ignore-errors: 1213`.
    return isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).isprintable()
