"""What the layers of a volume share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mydyno.lab.spec.storage import Volume
from mydyno.lab.stack.layer import fingerprint_of
from mydyno.lab.stack.site import Site


@dataclass(frozen=True)
class VolumeLayer:
    """One layer of a volume. A subclass builds it, and overrides what it has of side effects and removal."""

    volume: str
    wanted: Volume
    part: ClassVar[str]
    """Its name after that of the volume: `scheduler`."""
    shaping: ClassVar[tuple[str, ...]]
    """Fields of the volume that distinguish two such layers."""
    cost_seconds: ClassVar[float] = 0.1

    @property
    def name(self) -> str:
        return f"{self.volume} {self.part}"

    def fingerprint(self) -> str:
        return fingerprint_of({field: getattr(self.wanted, field) for field in self.shaping})

    def side_effects(self) -> tuple[str, ...]:
        return ()

    def remove(self, site: Site, product: Any) -> None:
        """It goes with the layers below."""
