"""Volumes: disks, their array, its file system and mount; limited and degraded before the load.

    building_layers(storage)  scheduler, array, file system, mount, readahead: `data` first, then `log`
    loading_layers(storage)   throttle and failures, for when the data directory is there

Each layer reads back what it has built and raises StorageError when that is not what was configured.
`described(built)` is all that was read back, volume by volume.
"""

from mydyno.lab.spec.storage import Storage
from mydyno.lab.stack.layer import Layer
from mydyno.lab.stack.storage.array import ArrayLayer
from mydyno.lab.stack.storage.built import FLUSHES, Built, MountedVolume, described
from mydyno.lab.stack.storage.degrade import DegradeLayer, ThrottleLayer
from mydyno.lab.stack.storage.filesystem import FileSystemLayer
from mydyno.lab.stack.storage.mount import MountLayer
from mydyno.lab.stack.storage.queues import ReadaheadLayer, SchedulerLayer


def building_layers(storage: Storage) -> list[Layer]:
    """What makes the volumes usable, bottom first."""
    return [
        kind(name, volume)
        for name, volume in storage.volumes.items()
        for kind in (SchedulerLayer, ArrayLayer, FileSystemLayer, MountLayer, ReadaheadLayer)
    ]


def loading_layers(storage: Storage) -> list[Layer]:
    """What is done to the volumes after all data is in place: limits first, so that a rebuild is slow too."""
    return [
        *(ThrottleLayer(name, volume) for name, volume in storage.volumes.items()),
        *(DegradeLayer(name, volume) for name, volume in storage.volumes.items() if volume.fail),
    ]


__all__ = [
    "FLUSHES",
    "Built",
    "MountedVolume",
    "building_layers",
    "described",
    "loading_layers",
]
