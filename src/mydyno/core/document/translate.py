"""From pydantic's errors to problems that name the line, the value, what is allowed and what was meant."""

import re
from collections.abc import Iterable
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from mydyno.core.document.base import FAULTS, Fault, Section, section_of
from mydyno.core.document.problems import Problem
from mydyno.core.document.tree import Location, Mapping, Scalar, locate
from mydyno.core.nearest import nearest

_WANTED = {
    "int_type": ("is not a whole number", "a whole number"),
    "int_from_float": ("is not a whole number", "a whole number"),
    "float_type": ("is not a number", "a number"),
    "string_type": ("is not a text", "a text"),
    "bool_type": ("is neither true nor false", "true or false"),
    "dict_type": ("is not a mapping", "NAME: VALUE pairs"),
    "model_type": ("is not a mapping", None),
    "list_type": ("is not a list", "a list, as [ONE, TWO]"),
    "tuple_type": ("is not a list", "a list, as [ONE, TWO]"),
    "too_short": ("is empty", "one or more"),
    "string_too_short": ("is empty", "a text"),
    "greater_than": ("is too small", "more than 0"),
}


def translate(
    error: ValidationError, section: type[BaseModel], at: Location, tree: Mapping, file: str
) -> list[Problem]:
    """The problems behind `error`, which came from validating the part of `tree` at `at` as `section`."""
    problems: list[Problem] = []
    for line in error.errors():
        location = (*at, *line["loc"])
        context: dict[str, Any] = line.get("ctx", {})
        if line["type"] == FAULTS:
            problems += [_of_fault(fault, location, tree, file) for fault in context[FAULTS]]
        else:
            problems.append(_of_pydantic(line["type"], context, location, section, line["loc"], tree, file))
    return problems


def _of_fault(fault: Fault, location: Location, tree: Mapping, file: str) -> Problem:
    exact = (*location, *fault.at)
    spot = locate(tree, exact)
    value = spot.node.describe() if fault.show_value else None
    position = spot.key if fault.at_key else spot.node.position
    separator = ": " if fault.message.startswith(("unknown ", "no ")) else " "
    message = f"{_dotted(location)}{separator}{fault.message}"
    if fault.whole:
        message = f"{_dotted(exact[:-1] if fault.at else exact)}: {fault.message}"
    return Problem(file, position, message, value, fault.allowed, fault.nearest)


def _of_pydantic(
    kind: str,
    context: dict[str, Any],
    location: Location,
    section: type[BaseModel],
    steps: Location,
    tree: Mapping,
    file: str,
) -> Problem:
    path = _dotted(location)
    spot = locate(tree, location)
    if kind == "extra_forbidden":
        keys = _keys(section, steps[:-1])
        parent = _dotted(location[:-1]) if len(location) > 1 else "the file"
        key = str(location[-1])
        likely = _synonym(section, steps, location) or nearest(key, keys)
        if likely is None and location[:-1] == ("setup", "server"):
            likely = f"config: {{{key}: ...}}"
        return Problem(file, spot.key, f"{parent}: unknown key", key, ", ".join(keys), likely)
    if kind == "missing":
        return Problem(file, spot.key, f"{path} is missing", None, f"for example {_example(section, steps)}")
    value = spot.node.describe()
    if kind == "literal_error":
        choices = re.findall(r"'([^']*)'", str(context["expected"]))
        close = nearest(value, choices) if isinstance(spot.node, Scalar) else None
        return Problem(file, spot.node.position, f"{path}: unknown value", value, ", ".join(choices), close)
    if kind in ("greater_than_equal", "less_than_equal"):
        bound = context["ge"] if kind == "greater_than_equal" else context["le"]
        small = kind == "greater_than_equal"
        negative = small and isinstance(spot.node, Scalar) and str(spot.node.text).startswith("-")
        message = "must not be negative" if negative else "is too small" if small else "is too large"
        allowed = f"{bound:,} or more" if small else f"{bound:,} or less"
        return Problem(file, spot.node.position, f"{path} {message}", value, allowed)
    if kind == "string_pattern_mismatch":
        return Problem(file, spot.node.position, f"{path} is not a name", value, "letters, digits and _")
    message, allowed_kind = _WANTED[kind]
    if kind == "model_type":
        allowed_kind = "the keys " + ", ".join(_keys(section, steps))
    return Problem(file, spot.node.position, f"{path} {message}", value, allowed_kind)


def _synonym(section: type[BaseModel], steps: Location, location: Location) -> str | None:
    """What stands for a key of another program, in its own section or in one around it."""
    key = str(steps[-1]).lower().replace("-", "_")
    for depth in range(len(steps) - 1, -1, -1):
        place = _section_at(section, steps[:depth])
        if issubclass(place, Section) and key in place.synonyms:
            above = location[: len(location) - len(steps) + depth]
            around = "" if depth == len(steps) - 1 else f"{_dotted(above)}."
            return f"{around}{place.synonyms[key]}"
    return None


def _keys(section: type[BaseModel], steps: Iterable[str | int]) -> list[str]:
    """The keys that a mapping `steps` below `section` may have."""
    return list(_section_at(section, steps).model_fields)


def _section_at(section: type[BaseModel], steps: Iterable[str | int]) -> type[BaseModel]:
    """The section `steps` below `section`; a place in a list or a mapping of sections is a step, too."""
    annotation: Any = section
    for step in steps:
        if get_origin(annotation) is dict:
            _, annotation = get_args(annotation)
        elif isinstance(step, str):
            annotation = _section_in(annotation).model_fields[step].annotation
    return _section_in(annotation)


def _section_in(annotation: Any) -> type[BaseModel]:
    section = section_of(annotation)
    assert section is not None
    return section


def _example(section: type[BaseModel], steps: Location) -> str:
    """How a key that is missing may look; every required key has an example."""
    section = _section_at(section, steps[:-1])
    examples = section.model_fields[str(steps[-1])].examples
    assert examples, f"{section.__name__}.{steps[-1]} is required and has no example"
    return f"{steps[-1]}: {_flow(examples[0])}"


def _flow(value: Any) -> str:
    """A plain value as YAML on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(each)}" for key, each in value.items()) + "}"
    return str(value)


def _dotted(location: Location) -> str:
    path = ""
    for step in location:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
    return path or "the file"
