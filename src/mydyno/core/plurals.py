"""Nouns after a number, in the one place that knows their plurals, and lists of names."""

from collections.abc import Sequence

_VERBS = {"is": "are", "has": "have", "was": "were", "does": "do"}


def plural(number: int, noun: str) -> str:
    """`trial` after 1, else `trials`; `index` and `indexes`, `entry` and `entries`."""
    if number == 1:
        return noun
    if noun.endswith(("s", "x", "ch", "sh")):
        return f"{noun}es"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}s"


def counted(number: int, noun: str, verb: str = "") -> str:
    """`1 table`, `3 tables`, `2 indexes`; with `is` as the verb `1 table is`, `3 tables are`."""
    return f"{number} {plural(number, noun)}" + (f" {agreeing(number, verb)}" if verb else "")


def listed(names: Sequence[str], most: int) -> str:
    """`a, b and 3 more`: at most so many names."""
    left = len(names) - most
    return ", ".join(names[:most]) + (f" and {left} more" if left > 0 else "")


def agreeing(number: int, verb: str) -> str:
    """The form of `is`, `has`, `was` or `does` that a number takes."""
    return verb if number == 1 else _VERBS[verb]
