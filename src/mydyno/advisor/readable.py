"""Changes as people read them: sizes with a suffix, where servers show bytes."""

from mydyno.apply.change import Change, SetVariable
from mydyno.server.variables import catalogue
from mydyno.server.variables.convert import size_text


def sentence(change: Change) -> str:
    """What is set to what, and what it is now: `sort_buffer_size = 2M (now 64M)`."""
    if not isinstance(change, SetVariable):
        return change.sentence()
    was = None if change.was is None else value_text(change.name, change.was)
    return change.model_copy(update={"value": value_text(change.name, change.value), "was": was}).sentence()


def value_text(name: str, value: str) -> str:
    """A server variable's value; one of bytes with the largest suffix that leaves it whole."""
    row = catalogue().get(name)
    return str(size_text(int(value))) if row and row.unit == "bytes" and value.isdecimal() else value
