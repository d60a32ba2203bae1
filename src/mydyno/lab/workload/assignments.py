"""Options of a workload as the command line gives them: NAME=VALUE."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, get_args

from pydantic.fields import FieldInfo

from mydyno.core.errors import UsageError
from mydyno.core.nearest import nearest
from mydyno.lab.workload.file import WorkloadFile

_SWITCHES = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def options_from(workload: WorkloadFile, assignments: Iterable[str]) -> dict[str, Any]:
    """The options as `WorkloadFile.resolve` takes them; the values are checked there.

    Raises UsageError for something that is not an assignment to an option of this workload.
    """
    return assigned(workload.name, workload.options.model_fields, assignments)


def assigned(workload: str, fields: Mapping[str, FieldInfo], assignments: Iterable[str]) -> dict[str, Any]:
    """The same for a workload with these options."""
    chosen: dict[str, Any] = {}
    for assignment in assignments:
        written, equals, value = assignment.partition("=")
        name = written.strip().replace("-", "_")
        if not equals:
            raise UsageError(f"{assignment} is no option with a value", "write NAME=VALUE, as table_size=20k")
        if name not in fields:
            close = nearest(name, fields)
            known = f"{workload} has {', '.join(fields) or 'no options'}"
            hint = f"did you mean {close}? {known}" if close else known
            raise UsageError(f"{workload} has no option {written.strip()}", hint)
        if name in chosen:
            raise UsageError(f"{name} is given twice", "give each option once")
        chosen[name] = _value(value.strip(), fields[name])
    return chosen


def _value(text: str, field: FieldInfo) -> Any:
    """The value that the option's type has a place for; the text itself when it does not look like one."""
    if field.annotation is str or text in get_args(field.annotation):
        return text
    if field.annotation is bool:
        return _SWITCHES.get(text.lower(), text)
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
