"""design: how often each point is measured, and in which order."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from mydyno.document.base import Section


class Design(Section):
    """Repetition and order of the trials."""

    repeats: int = Field(default=5, ge=1, le=1_000, description="Trials of each point.")
    order: Literal["blocked", "sequential"] = Field(
        default="blocked",
        description="`blocked`: each block holds each point once, shuffled anew, so that a slow drift of the "
        "machine meets all points alike; points that share expensive layers stay together. "
        "`sequential`: as written.",
    )
    seed: int = Field(
        default=1,
        ge=0,
        le=2**32 - 1,
        description="Everything random follows from it: the order, the load, the data.",
    )
