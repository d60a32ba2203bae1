"""What is looked at in the arguments before any command reads them."""

from __future__ import annotations

from collections.abc import Iterable

from mydyno.core.errors import UsageError

_DASHES = "‐‑‒–—―−"


def refuse_typographic_dashes(arguments: Iterable[str]) -> None:
    """Raises UsageError for an argument that begins with a dash as word processors make them.

    Commands copied from a page have them. mysqlslap takes such an option for a stray word and runs without
    it, so that something else is measured than was meant.
    """
    for argument in arguments:
        if argument[:1] in tuple(_DASHES):
            plain = "--" + argument.lstrip(_DASHES + "-")
            raise UsageError(
                f"{argument!r} begins with a typographic dash, so it is no option", f"did you mean {plain}?"
            )
