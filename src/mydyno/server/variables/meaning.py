"""Whether two spellings of a value mean the same."""

from mydyno.core.units import bytes_or_none
from mydyno.server.variables.row import same_value


def same_meaning(one: str, other: str) -> bool:
    """Sizes, numbers and words for on and off are compared by what they mean: 1G is 1073741824."""
    return same_value(one, other) or _number(one) == _number(other) is not None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return bytes_or_none(text)
