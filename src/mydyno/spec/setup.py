"""setup: the system under test, layer by layer."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from mydyno.document.base import Section
from mydyno.spec.server import Server


class Setup(Section):
    """The system under test."""

    host: Literal["local"] = Field(
        default="local", description="Where the setup stands: `local` is this machine."
    )
    server: Server = Field(default_factory=Server, description="Which server runs, and its settings.")
