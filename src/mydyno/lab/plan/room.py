"""Does what a trial writes fit on its volumes? And how much do their files take on the lab's own disk?"""

from collections.abc import Iterator, Sequence

from mydyno.core.document.tree import Location
from mydyno.core.raid import REDUNDANT
from mydyno.core.server_files import FileKind, home_of
from mydyno.core.units import format_bytes
from mydyno.lab.plan import data_size
from mydyno.lab.plan.point import Point
from mydyno.lab.spec import Problem, Setup, Variant, Volume, Workload, usable_bytes

RESERVE = 0.1
"""Part of a volume that stays free: the file system's own structures, growth, temporary files."""
MADE_BYTES = 64 * 1024**2
"""What mkfs and an array's metadata write to each disk; xfs and jfs logs are the largest part."""

_OFF = ("OFF", "FALSE", "NO", 0)


def room_problems(described: Sequence[tuple[Point, Variant]]) -> list[Problem]:
    """Volumes that are too small for what lies there, with the arithmetic."""
    problems: list[Problem] = []
    for point, variant in described:
        for name, parts in written_to(point.setup, point.workload).items():
            problems += _of_volume(name, parts, point, variant)
    return problems


def written_to(setup: Setup, workload: Workload) -> dict[str, dict[str, int]]:
    """Volume -> what a trial writes there, by name, in bytes; empty without storage."""
    if setup.storage is None:
        return {}
    if workload.fio_options is not None:
        return {"data": {"files of fio": data_size.tables_bytes(workload)}}
    volumes = setup.storage.volumes
    written: dict[str, dict[str, int]] = {name: {} for name in volumes}
    written["data"] = {
        "system tables": data_size.EMPTY_DATADIR_BYTES,
        "tables": data_size.tables_bytes(workload),
    }
    for kind, size in _kinds(setup).items():
        home = home_of(kind, volumes)
        # The size of an empty data directory holds the small ones.
        if home != "data" or kind == "redo log":
            written[home][kind] = size
    return written


def _kinds(setup: Setup) -> dict[FileKind, int]:
    """Sizes in bytes of what may lie elsewhere than the tables; the binary log where it is configured."""
    config = setup.server.config
    sizes: dict[FileKind, int] = {
        "redo log": data_size.redo_bytes(config),
        "undo tablespaces": data_size.UNDO_BYTES,
        "temporary files": data_size.TEMPORARY_BYTES,
    }
    has_own = setup.storage is not None and setup.storage.binlog is not None
    if has_own or ("log_bin" in config and config["log_bin"].meaning not in _OFF):
        sizes["binary log"] = data_size.BINARY_LOG_BYTES
    return sizes


def file_bytes(setup: Setup, workload: Workload) -> int:
    """Bytes that the sparse files of the virtual disks take when a trial has written to them."""
    if setup.storage is None:
        return 0
    written = written_to(setup, workload)
    return sum(
        taken_bytes(volume, sum(written.get(name, {}).values()))
        for name, volume in setup.storage.volumes.items()
        if not volume.disks.devices
    )


def taken_bytes(volume: Volume, content: int) -> int:
    """Bytes that the sparse files of a volume's virtual disks take with so much content."""
    whole = volume.disks.size * volume.disks.number
    usable = usable_bytes(volume) or whole
    # A first synchronisation and a rebuild write whole disks.
    if volume.initial_sync == "await" and volume.raid in REDUNDANT:
        return whole
    rebuilt = volume.disks.size * volume.fail if volume.rebuild else 0
    return min(whole, content * whole // usable + MADE_BYTES * volume.disks.number + rebuilt)


def _of_volume(name: str, parts: dict[str, int], point: Point, variant: Variant) -> Iterator[Problem]:
    storage = point.setup.storage
    assert storage is not None, "something is written to a volume"
    volume = storage.volumes[name]
    usable = usable_bytes(volume)
    needed = sum(parts.values())
    if usable is None or needed <= usable * (1 - RESERVE):
        return
    sums = " + ".join(f"{what} {format_bytes(size)}" for what, size in parts.items())
    message = (
        f"the {name} volume is too small{f' at {point.title}' if point.levels else ''}: {sums} = "
        f"{format_bytes(needed)}, and of {format_bytes(usable)} a tenth stays free"
    )
    location: Location = ("setup", "storage", name, "disks")
    yield variant.problem(
        location, message, f"{format_bytes(int(needed / (1 - RESERVE)) + 1)} or more in all"
    )
