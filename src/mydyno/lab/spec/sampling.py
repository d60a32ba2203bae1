"""sampling: how often the server's and the machine's counters are read."""

from typing import Annotated

from pydantic import Field

from mydyno.core.document.base import Section
from mydyno.core.document.quantities import DurationRule


class Sampling(Section):
    """Readings of server status and /proc during the load."""

    every: Annotated[float, DurationRule(at_least=0.05, at_most=3_600.0)] = Field(
        default=1.0, description="Time between two readings."
    )
