"""What is done to a volume when all data is in place: limits of its disks, failures, and their rebuild."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from mydyno.core.errors import StorageError
from mydyno.core.units import format_bytes
from mydyno.lab.spec.arrays import array_of, failing_members
from mydyno.lab.stack.ground import DiskLimits, Ground
from mydyno.lab.stack.layer import BuiltLayers, fingerprint_of
from mydyno.lab.stack.site import Site
from mydyno.lab.stack.storage import md
from mydyno.lab.stack.storage.array import read_detail
from mydyno.lab.stack.storage.built import Array, Built, VolumeLayer, of_volume
from mydyno.lab.stack.storage.tools import complaint, output_of, run_tool

_POLL_SECONDS = 0.02

# A failed disk is let go of when its last write has come back, which a slow disk takes its time for.
_RELEASE_SECONDS = 30.0

# An array is marked as clean again 0.2 s after its last write (md(4), safe_mode_delay). One whose file system
# goes on writing never is: then it is reported as it is.
_CLEAN_SECONDS = 5.0


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


@dataclass(frozen=True)
class Degraded(Built):
    """An array without some of its disks, or with fresh ones that are being filled."""

    failed: tuple[Path, ...]


@dataclass(frozen=True)
class DegradeLayer(VolumeLayer):
    """Fails and removes disks of the array; with `rebuild` they come back empty and are filled under load.

    The array goes as it is: with another `fail` it is another array, and is built again.
    """

    part: ClassVar[str] = "failure"
    shaping: ClassVar[tuple[str, ...]] = ("fail", "rebuild")
    cost_seconds: ClassVar[float] = 0.5

    def side_effects(self) -> tuple[str, ...]:
        again = ", and adds them again empty" if self.wanted.rebuild else ""
        return (f"fails {self.wanted.fail} of the disks of {self.volume}{again}",)

    def build(self, site: Site, below: BuiltLayers) -> Degraded:
        array = of_volume(below, Array, self.volume)
        chosen = failing_members(array_of(self.wanted), self.wanted.fail)
        failed = tuple(array.members[index] for index in chosen)
        for disk in failed:
            self._mdadm(site, array.device, "--fail", disk)
            self._remove(site, array.device, disk)
        if self.wanted.rebuild:
            disks = [str(disk) for disk in failed]
            output_of(site.host, ["mdadm", "--zero-superblock", *disks], f"emptying {', '.join(disks)}")
            # All in one command: one after the other, each would start the rebuild over.
            self._mdadm(site, array.device, "--add", *failed)
        return Degraded(self.volume, self._verified(site, array, failed), failed)

    def _mdadm(self, site: Site, device: Path, act: str, *disks: Path) -> None:
        argv = ["mdadm", str(device), act, *(str(disk) for disk in disks)]
        output_of(site.host, argv, f"mdadm {act} for {device}")

    def _remove(self, site: Site, device: Path, disk: Path) -> None:
        """The kernel says that a failed disk is busy until its last write has come back."""
        deadline = time.monotonic() + _RELEASE_SECONDS
        while True:
            done = run_tool(site.host, ["mdadm", str(device), "--remove", str(disk)])
            if done.returncode == 0:
                return
            if "busy" not in done.stderr or time.monotonic() > deadline:
                raise StorageError(
                    f"the failed disk {disk} could not be removed from {device}: {complaint(done)}"
                )
            time.sleep(_POLL_SECONDS)

    def _at_rest(self, site: Site, device: Path) -> md.Detail:
        """What mdadm reports of the array once the writes that came before are over."""
        deadline = time.monotonic() + _CLEAN_SECONDS
        while True:
            detail = read_detail(site, device)
            if "active" not in detail.state or time.monotonic() > deadline:
                return detail
            time.sleep(_POLL_SECONDS)

    def _verified(self, site: Site, array: Array, failed: Sequence[Path]) -> dict[str, str]:
        """Reads the array back. Raises StorageError when it is not degraded as configured."""
        detail = self._at_rest(site, array.device)
        in_sync = {member.device for member in detail.members if member.in_sync}
        still = [str(disk) for disk in failed if str(disk) in in_sync]
        if still and self.wanted.rebuild:
            raise StorageError(
                f"{', '.join(still)} of {array.device} was rebuilt before the load began",
                "use larger disks, or an iops limit: a rebuild of small, fast disks ends at once",
            )
        if still or "degraded" not in detail.state:
            raise StorageError(
                f"{array.device} is {', '.join(detail.state)} after {len(failed)} of its disks failed"
            )
        described = {
            "array state": ", ".join(detail.state),
            "failed disks": ", ".join(str(disk) for disk in failed),
        }
        if self.wanted.rebuild:
            described["rebuild as the load begins"] = detail.progress or "not begun"
        return described
