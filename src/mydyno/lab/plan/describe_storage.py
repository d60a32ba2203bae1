"""A setup's storage in one line for people, with what is worked out from the array: its stripes."""

from collections.abc import Iterator

from mydyno.core.raid import level_title
from mydyno.core.units import format_bytes
from mydyno.lab.spec import Setup, Storage, Volume
from mydyno.lab.spec.arrays import alignment, array_of, mkfs_words, stripe_of


def describe_host(setup: Setup) -> str:
    """`uml, kernel 6.1, 1G of memory`; `local`; `ssh:db1`."""
    host = setup.host
    said: list[str] = [f"{host.kind}:{host.name}" if host.name else host.kind]
    if host.kernel:
        said.append(f"kernel {host.kernel}")
    if host.guest_memory_bytes is not None:
        said.append(f"{format_bytes(host.guest_memory_bytes)} of memory")
    if host.cpus is not None:
        said.append(f"{host.cpus} CPU{'s'[: host.cpus != 1]}")
    return ", ".join(said)


def describe_storage(storage: Storage) -> str:
    """`data: 4 x 2G (200 IOPS each), RAID 10, chunk 512K, xfs su=524288,sw=2, noatime; log: ...`."""
    return "; ".join(f"{name}: {describe_volume(volume)}" for name, volume in storage.volumes.items())


def describe_volume(volume: Volume) -> str:
    return ", ".join([_disks(volume), *_array(volume), *_filesystem(volume), *_queue(volume)])


def _disks(volume: Volume) -> str:
    disks = volume.disks
    limits = [f"{disks.iops} IOPS"] if disks.iops is not None else []
    limits += [f"{format_bytes(disks.bandwidth)}/s"] if disks.bandwidth is not None else []
    each = f" ({' and '.join(limits)}{' each' if disks.number > 1 else ''})" if limits else ""
    if disks.devices:
        return " and ".join(device.id for device in disks.devices) + each
    return f"{disks.count} x {format_bytes(disks.size)}{each}"


def _array(volume: Volume) -> Iterator[str]:
    if volume.raid == "none":
        return
    array = array_of(volume)
    layout = f" {volume.layout}" if volume.layout else ""
    yield f"{level_title(volume.raid)}{layout}"
    stripe = stripe_of(array)
    if stripe is not None:
        yield f"chunk {format_bytes(stripe.chunk)}"
    if volume.bitmap is not None:
        yield "without bitmap" if volume.bitmap == "none" else "bitmap"
    if volume.consistency_policy is not None:
        yield f"policy {volume.consistency_policy}"
    if volume.initial_sync == "await":
        yield "synchronised first"
    if volume.fail:
        disks = f"{volume.fail} disk{'s'[: volume.fail != 1]}"
        yield f"{disks} failed and rebuilt under load" if volume.rebuild else f"{disks} failed"


def _filesystem(volume: Volume) -> Iterator[str]:
    if volume.filesystem == "raw":
        yield "raw device"
        return
    profiles = [
        f"{what} {profile}"
        for what, profile in (("data", volume.data_profile), ("metadata", volume.metadata_profile))
        if profile is not None
    ]
    words = mkfs_words(volume.mkfs)
    fitted = alignment(volume.filesystem, stripe_of(array_of(volume)), words)
    yield " ".join([volume.filesystem, *profiles, *words, *([fitted.shown] if fitted else [])])
    if volume.mount:
        yield f"mounted {','.join(volume.mount)}"


def _queue(volume: Volume) -> Iterator[str]:
    if volume.scheduler is not None:
        yield f"scheduler {volume.scheduler}"
    if volume.readahead is not None:
        yield f"readahead {format_bytes(volume.readahead)}"
    if volume.queue_depth is not None:
        yield f"queue depth {volume.queue_depth}"
