"""Checks of the arguments before any command reads them."""

from collections.abc import Iterable

from mydyno.core.errors import UsageError

_DASHES = "‐‑‒–—―−"


def refuse_typographic_dashes(arguments: Iterable[str]) -> None:
    """Raises UsageError for an argument that begins with a dash as word processors make them.

    Commands copied from a page have them. mysqlslap ignores such an option, and then measures something else.
    """
    for argument in arguments:
        if argument[:1] in tuple(_DASHES):
            plain = "--" + argument.lstrip(_DASHES + "-")
            raise UsageError(
                f"{argument!r} begins with a typographic dash, so it is not an option",
                f"did you mean {plain}?",
            )
