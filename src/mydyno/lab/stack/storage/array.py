"""The md array of a volume's disks, or the single disk itself."""

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from mydyno.core.errors import StorageError
from mydyno.core.plurals import counted
from mydyno.core.raid import REDUNDANT, level_title
from mydyno.lab.spec.arrays import array_of
from mydyno.lab.stack.ground import Ground
from mydyno.lab.stack.layer import BuiltLayers
from mydyno.lab.stack.site import Site
from mydyno.lab.stack.storage import md
from mydyno.lab.stack.storage.built import Array, VolumeLayer
from mydyno.lab.stack.storage.tools import complaint, output_of, run_tool, setting, write_setting
from mydyno.lab.stack.undo import StopArray

_POLL_SECONDS = 0.1

# A first synchronisation that does not move for so long is stuck, not slow.
_STUCK_SECONDS = 120.0

# KiB/s that a first synchronisation may take: all there is, since nothing else runs (md(4)).
_UNHURRIED = "10000000"


@dataclass(frozen=True)
class ArrayLayer(VolumeLayer):
    """Builds the array of a volume with mdadm, and waits for its first synchronisation where configured.

    On restored disks it is assembled: it was frozen in sync, and stays so.
    """

    part: ClassVar[str] = "array"
    # An array with another failure is another array: what failed is not restored when the load has ended.
    shaping: ClassVar[tuple[str, ...]] = (
        *("raid", "chunk", "layout", "bitmap", "consistency_policy", "initial_sync"),
        *("fail", "rebuild"),
    )
    cost_seconds: ClassVar[float] = 1.0

    @property
    def name(self) -> str:
        if self.wanted.raid == "none":
            return f"{self.volume} {'disk' if self.wanted.disks.number == 1 else 'disks'}"
        return super().name

    def side_effects(self) -> tuple[str, ...]:
        if self.wanted.raid == "none":
            return ()
        return (f"builds an md array ({level_title(self.wanted.raid)}) of the disks of {self.volume}",)

    def build(self, site: Site, below: BuiltLayers) -> Array:
        ground = below.of(Ground)  # type: ignore[type-abstract]
        members = tuple(disk.path for disk in ground.disks[self.volume])
        if self.wanted.raid == "none":
            described = f"none, {counted(len(members), 'disk')}"
            return Array(self.volume, {"array": described}, members[0], members)
        device = _free_name(site)
        undo = site.intend(StopArray(array=device, members=members))
        try:
            if ground.contents == "restored":
                argv = ["mdadm", "--assemble", str(device), *(str(member) for member in members)]
                output_of(site.host, argv, f"assembling the array of {self.volume}")
            else:
                self._create(site, ground, device, members)
            detail = self._verified(site, device, members)
        except BaseException:
            _discard(site, device, members, undo)
            raise
        stays = ground.contents != "blank"
        return Array(self.volume, md.summary(detail, str(device)), device, members, stays, undo)

    def remove(self, site: Site, product: Array) -> None:
        if self.wanted.raid == "none":
            return
        output_of(site.host, ["mdadm", "--stop", str(product.device)], f"stopping {product.device}")
        site.undo(product.undo)
        if not product.stays:
            # Without its superblock no disk is taken for a member again.
            output_of(site.host, _forget(product.members), "removing md's superblocks from the disks")

    def _create(self, site: Site, ground: Ground, device: Path, members: Sequence[Path]) -> None:
        shape = array_of(self.wanted)
        awaited = self.wanted.initial_sync == "await" and shape.raid in REDUNDANT
        argv = md.create_command(
            str(device),
            shape,
            [str(member) for member in members],
            bitmap=self.wanted.bitmap,
            policy=self.wanted.consistency_policy,
            assume_clean=not awaited,
        )
        done = run_tool(site.host, argv)
        if done.returncode != 0:
            log = ground.kernel_log().strip().splitlines()
            raise StorageError(
                f"mdadm did not build {level_title(shape.raid)} of {len(members)} disks for {self.volume}: "
                + complaint(done)
                + (f"\n  the kernel's last line: {log[-1]}" if log else ""),
                f"the command was: {' '.join(argv)}",
            )
        if awaited:
            _await_sync(site, device)

    def _verified(self, site: Site, device: Path, members: Sequence[Path]) -> md.Detail:
        detail = read_detail(site, device)
        shape = array_of(self.wanted)
        policy = md.policy_wanted(shape, self.wanted.bitmap, self.wanted.consistency_policy)
        differences = md.differences(shape, policy, detail, [str(member) for member in members])
        if differences:
            raise StorageError(f"{device} is not the configured array: " + "; ".join(differences))
        return detail


def read_detail(site: Site, device: Path) -> md.Detail:
    """What mdadm reports of the array. Raises StorageError."""
    return md.parse_detail(
        output_of(site.host, ["mdadm", "--detail", str(device)], f"reading the array {device}")
    )


def _free_name(site: Site) -> Path:
    """The first /dev/mdN that is free: without udev there are no names below /dev/md."""
    number = next(each for each in itertools.count() if not site.host.exists(Path(f"/sys/block/md{each}")))
    return Path(f"/dev/md{number}")


def _await_sync(site: Site, device: Path) -> None:
    """Waits for the first synchronisation, at full speed. Raises StorageError when it makes no progress."""
    folder = Path("/sys/block") / device.name / "md"
    for limit in ("sync_speed_max", "sync_speed_min"):
        if refused := write_setting(site.host, folder / limit, _UNHURRIED):
            raise StorageError(f"{folder / limit} does not take {_UNHURRIED}: {refused}")
    progress, moved = "", time.monotonic()
    while not _in_sync(site, folder):
        now = md.sync_progress(site.host.read_text(Path("/proc/mdstat")) or "", device.name) or "not begun"
        if now != progress:
            progress, moved = now, time.monotonic()
        elif time.monotonic() - moved > _STUCK_SECONDS:
            raise StorageError(
                f"the first synchronisation of {device} makes no progress; /proc/mdstat: {progress}",
                "initial_sync: assume-clean skips it",
            )
        time.sleep(_POLL_SECONDS)
    for limit in ("sync_speed_max", "sync_speed_min"):
        write_setting(site.host, folder / limit, "system")


def _in_sync(site: Site, folder: Path) -> bool:
    """`resync_start` is a sector until all copies agree; a new RAID 5 is degraded until it is rebuilt."""
    return (
        setting(site.host, folder / "resync_start") == "none"
        and setting(site.host, folder / "degraded") == "0"
        and setting(site.host, folder / "sync_action") == "idle"
    )


def _discard(site: Site, device: Path, members: Sequence[Path], undo: int | None) -> None:
    """After a failure: whatever came to be goes, and nothing hides the first error."""
    run_tool(site.host, ["mdadm", "--quiet", "--stop", str(device)])
    run_tool(site.host, _forget(members))
    site.undo(undo)


def _forget(members: Sequence[Path]) -> list[str]:
    return ["mdadm", "--quiet", "--zero-superblock", *map(str, members)]
