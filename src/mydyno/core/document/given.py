"""Plain values (of a command line, of a program) checked as a section, with the messages of a file's."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import ValidationError

from mydyno.core.document.base import Section
from mydyno.core.document.problems import Position, Problem, SpecErrors
from mydyno.core.document.translate import translate
from mydyno.core.document.tree import Entry, Node, Scalar, Sequence
from mydyno.core.document.tree import Mapping as Tree

_Section = TypeVar("_Section", bound=Section)
_NOWHERE = Position(1, 1)


def validated(
    section: type[_Section],
    given: Mapping[str, Any],
    name: str,
    reword: Callable[[str], str] = lambda message: message,
) -> _Section:
    """The section with these values. Raises SpecErrors, calling the values' source `name`."""
    try:
        return section.model_validate(dict(given))
    except ValidationError as error:
        problems = translate(error, section, (), _tree(given), name)
        raise SpecErrors(_nowhere(problem, reword) for problem in problems) from None


def _nowhere(problem: Problem, reword: Callable[[str], str]) -> Problem:
    message = problem.message.removeprefix("the file: ")
    return replace(problem, position=None, message=reword(message))


def _tree(given: Mapping[str, Any]) -> Tree:
    """Plain values as a tree without places, so that messages show what was given."""
    return Tree({name: Entry(_NOWHERE, _node(value)) for name, value in given.items()}, _NOWHERE)


def _node(value: Any) -> Node:
    if isinstance(value, Mapping):
        return _tree(value)
    if isinstance(value, list | tuple):
        return Sequence(tuple(_node(item) for item in value), _NOWHERE)
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return Scalar(value if isinstance(value, str | int | float | bool) else text, text, _NOWHERE)
