"""The limits of a volume's disks, set when all is built and about to be measured, and lifted after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mydyno.core.units import format_bytes
from mydyno.lab.stack.ground import DiskLimits, Ground
from mydyno.lab.stack.layer import BuiltLayers, fingerprint_of
from mydyno.lab.stack.site import Site
from mydyno.lab.stack.storage.built import Built
from mydyno.lab.stack.storage.volume_layer import VolumeLayer


@dataclass(frozen=True)
class Throttled(Built):
    """Disks that do no more than they may."""

    ground: Ground


@dataclass(frozen=True)
class ThrottleLayer(VolumeLayer):
    """Limits every disk of a volume. The environment is left alone when nothing is limited."""

    part: ClassVar[str] = "throttle"

    @property
    def limits(self) -> DiskLimits:
        return DiskLimits(self.wanted.disks.iops, self.wanted.disks.bandwidth)

    def fingerprint(self) -> str:
        return fingerprint_of({"iops": self.limits.iops, "bytes": self.limits.bytes_per_second})

    def side_effects(self) -> tuple[str, ...]:
        return () if self.limits == DiskLimits() else (f"limits the disks of {self.volume}",)

    def build(self, site: Site, below: BuiltLayers) -> Throttled:
        ground = below.of(Ground)  # type: ignore[type-abstract]
        if self.limits != DiskLimits():
            ground.throttle(dict.fromkeys(ground.disks[self.volume], self.limits))
        return Throttled(self.volume, {"limits of a disk": shown(self.limits, ground.budget)}, ground)

    def remove(self, site: Site, product: Throttled) -> None:
        if self.limits != DiskLimits():
            product.ground.throttle(dict.fromkeys(product.ground.disks[self.volume], DiskLimits()))


def shown(limits: DiskLimits, budget: str) -> str:
    """`200 IOPS, 50M/s, reads and writes together`."""
    parts = [f"{limits.iops} IOPS"] if limits.iops is not None else []
    parts += [f"{format_bytes(limits.bytes_per_second)}/s"] if limits.bytes_per_second is not None else []
    if not parts:
        return "none"
    counted = "reads and writes together" if budget == "joint" else "reads and writes each"
    return ", ".join([*parts, counted])
