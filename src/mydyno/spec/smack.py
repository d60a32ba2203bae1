"""workload.smack: the two stock scenarios of super-smack 1.3."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from mydyno.document.base import Section
from mydyno.document.quantities import CountRule


class Smack(Section):
    """A barrel of two statements on a table of users, repeated by each connection for its rounds."""

    scenario: Literal["select-key", "update-select"] = Field(
        description="`select-key`: two selects by primary key a round. "
        "`update-select`: one select and one update.",
        examples=["select-key"],
    )
    rows: Annotated[int, CountRule(at_least=1)] = Field(
        default=90_000, description="Rows of the table; 90,000 in the original."
    )
