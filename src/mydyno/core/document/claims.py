"""claims: what an author has concluded or promised of the levels of a factor, next to what the numbers show.

An import file has those of its source; an experiment those of the advice or the guide that it puts to the
test.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import Field

from mydyno.core.document.base import Fault, Section
from mydyno.core.nearest import nearest


class Claim(Section):
    """An order of levels that an author claims, to be compared with what mydyno finds."""

    factor: str = Field(description="What it is about.")
    order: tuple[str, ...] = Field(min_length=2, strict=False, description="Its levels, the best first.")
    where: dict[str, str] = Field(default={}, description="Factor -> level to which it is limited.")
    said: str = Field(description="In the source's words.")


def claim_faults(claims: Any, factors: Iterable[str]) -> Iterable[Fault]:
    """Claims about factors that are not there."""
    known = tuple(factors)
    for place, claim in enumerate(claims if isinstance(claims, list | tuple) else ()):
        if not isinstance(claim, Mapping):
            continue
        where = claim.get("where")
        named = [claim.get("factor"), *(where if isinstance(where, Mapping) else ())]
        for factor in named:
            if isinstance(factor, str) and factor not in known:
                message = f"unknown factor '{factor}'"
                likely = nearest(factor, known)
                yield Fault(message, ", ".join(known), likely, ("claims", place), False, False, True)
