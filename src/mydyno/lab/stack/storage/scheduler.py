"""The I/O scheduler and the queue of each disk of a volume."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from mydyno.core.errors import StorageError
from mydyno.lab.stack.ground import Ground
from mydyno.lab.stack.layer import BuiltLayers
from mydyno.lab.stack.site import Site
from mydyno.lab.stack.storage.built import Built
from mydyno.lab.stack.storage.queues import Changed, change, queue_of, restore, set_number
from mydyno.lab.stack.storage.tools import setting
from mydyno.lab.stack.storage.volume_layer import VolumeLayer


@dataclass(frozen=True)
class Queues(Built):
    """The queues of a volume's disks, as they are set."""

    changes: tuple[Changed, ...] = field(repr=False)


@dataclass(frozen=True)
class SchedulerLayer(VolumeLayer):
    """Sets scheduler and length of each disk's queue; what is not configured stays as the kernel has it."""

    part: ClassVar[str] = "scheduler"
    shaping: ClassVar[tuple[str, ...]] = ("scheduler", "queue_depth")

    def side_effects(self) -> tuple[str, ...]:
        if self.wanted.scheduler is None and self.wanted.queue_depth is None:
            return ()
        return (f"sets I/O scheduler and queue length of the disks of {self.volume}, and restores them",)

    def build(self, site: Site, below: BuiltLayers) -> Queues:
        ground = below.of(Ground)  # type: ignore[type-abstract]
        changes: list[Changed] = []
        described: dict[str, dict[str, None]] = {}
        try:
            for disk in ground.disks[self.volume]:
                queue = queue_of(site.host, disk.path)
                self._set_scheduler(site, queue, changes)
                # A scheduler comes with a queue length of its own, so the length is set after it.
                length = self._length(site, queue, ground.longest_queue)
                if length is not None:
                    changes += _no_none(set_number(site, queue / "nr_requests", length, _LENGTH_HINT))
                for key, value in _described(site, queue):
                    described.setdefault(key, {})[value] = None
        except BaseException:
            restore(site, *changes)
            raise
        texts = {key: ", ".join(values) for key, values in described.items()}
        return Queues(self.volume, texts, tuple(changes))

    def remove(self, site: Site, product: Queues) -> None:
        restore(site, *product.changes)

    def _length(self, site: Site, queue: Path, longest: int | None) -> int | None:
        """What the queue is to hold: as configured, or no more than the environment allows; None: as it
        is."""
        configured = self.wanted.queue_depth
        if longest is None:
            return configured
        if configured is not None and configured > longest:
            raise StorageError(
                f"queue_depth: {configured} is more than a disk of the {site.host.name} host supports with "
                f"the others: {longest}",
                "use a smaller value, fewer disks, or another host",
            )
        now = setting(site.host, queue / "nr_requests")
        return configured or (longest if now is not None and int(now) > longest else None)

    def _set_scheduler(self, site: Site, queue: Path, changes: list[Changed]) -> None:
        wanted = self.wanted.scheduler
        if wanted is None:
            return
        path = queue / "scheduler"
        names, chosen = parse_schedulers(setting(site.host, path) or "")
        if wanted not in names:
            raise StorageError(
                f"{queue.parent.name} of the {site.host.name} host has no I/O scheduler {wanted!r}: "
                f"its kernel lists {', '.join(names) or 'none'}",
                "use one of these, or a host whose kernel has it",
            )
        if chosen != wanted:
            changes.append(change(site, path, chosen or "none", wanted))
            now = setting(site.host, path)
            if parse_schedulers(now or "")[1] != wanted:
                raise StorageError(f"{path} says {now!r} after {wanted!r} was written")


_LENGTH_HINT = "under the scheduler none a queue is at most as long as the disk's own"


def parse_schedulers(text: str) -> tuple[tuple[str, ...], str | None]:
    """`[mq-deadline] kyber none` -> all the names, and the one in force."""
    match = re.search(r"\[([^\]]+)\]", text)
    return tuple(re.sub(r"[\[\]]", "", text).split()), match[1] if match else None


def _described(site: Site, queue: Path) -> list[tuple[str, str]]:
    _, scheduler = parse_schedulers(setting(site.host, queue / "scheduler") or "")
    described = {
        "scheduler": scheduler,
        "queue depth": setting(site.host, queue / "nr_requests"),
        "write cache of a disk": setting(site.host, queue / "write_cache"),
    }
    return [(key, value) for key, value in described.items() if value]


def _no_none(changed: Changed | None) -> list[Changed]:
    return [] if changed is None else [changed]
