"""Which trials start from a base: disks on which storage was built and the dataset cloned once."""

from __future__ import annotations

from mydyno.lab.plan.layers import digest, layer_keys
from mydyno.lab.plan.point import Point
from mydyno.lab.spec import Setup, Storage, Workload


def starts_from_base(setup: Setup, workload: Workload) -> bool:
    """Whether the guest gets overlays of frozen disks.

    fio makes its files anew on blank disks. A raw volume is overwritten by the self-check, so nothing can
    be on it before.
    """
    storage = setup.storage
    return (
        setup.host.kind == "vm"
        and storage is not None
        and workload.fio_options is None
        and all(volume.filesystem != "raw" for volume in storage.volumes.values())
    )


def base_key(point: Point) -> str | None:
    """Equal for points that share a base; None for one that starts from blank disks or none."""
    storage = point.setup.storage
    if storage is None or not starts_from_base(point.setup, point.workload):
        return None
    host, server = point.setup.host, [pair for pair in layer_keys(point) if pair[0] in ("release", "dataset")]
    return digest([as_built(storage).model_dump(mode="json"), host.kernel, host.cpus, *server])


def as_built(storage: Storage) -> Storage:
    """What of it shapes the bytes on the disks. Limits, queues and failures come when a trial stands, so
    points that differ only there share a base."""
    return storage.model_copy(
        update={
            name: volume.model_copy(
                update={
                    "disks": volume.disks.model_copy(update={"iops": None, "bandwidth": None}),
                    "scheduler": None,
                    "queue_depth": None,
                    "readahead": None,
                    "fail": 0,
                    "rebuild": False,
                }
            )
            for name, volume in storage.volumes.items()
        }
    )
