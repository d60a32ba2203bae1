"""What a plan does outside the lab folder, and how it ends, said before it is done."""

from collections.abc import Iterator, Sequence

from mydyno.core.facts import GroundFacts
from mydyno.core.grounds import GROUNDS, GUESTS
from mydyno.lab.plan.grounds import is_fetched
from mydyno.lab.plan.layers import starts_from_base
from mydyno.lab.plan.point import Point
from mydyno.lab.spec import External, Host, Load, Volume, kernel_version


def side_effects(
    points: Sequence[Point], grounds: GroundFacts | None = None, load: Load | None = None
) -> tuple[str, ...]:
    """One sentence each; without `grounds` it is not known what has to be fetched first."""
    fetched = _fetched(points, grounds) if grounds is not None else ()
    external = _of_external_servers(points)
    elsewhere = (*_of_guests(points), *_of_others(points, load), *_of_generators(load))
    return (*_of_servers(points), *external, *fetched, *elsewhere, *_of_storage(points))


def _fetched(points: Sequence[Point], grounds: GroundFacts) -> Iterator[str]:
    kernels = {kernel for point in points if (kernel := is_fetched(point.setup, grounds)) is not None}
    for kernel in sorted(kernels, key=kernel_version):
        yield (
            f"downloads the User-Mode Linux kernel {kernel} (45 MB) from this machine's package sources into "
            "mydyno's cache, once"
        )


def _of_servers(points: Sequence[Point]) -> Iterator[str]:
    if any(point.starts_server for point in points):
        yield (
            "starts a private server process for each trial, and one for each new dataset; "
            "as an unprivileged user when mydyno runs as root; stopped afterwards"
        )
        yield "keeps its unix socket in a private folder of the temporary folder; removed afterwards"
    ports = sorted({port for point in points if (port := point.setup.server.network.port) is not None})
    for port in ports:
        name = f"TCP port {port}" if port else "a free TCP port"
        yield f"listens on {name} of 127.0.0.1 while a trial runs"


def _of_external_servers(points: Sequence[Point]) -> Iterator[str]:
    found: dict[External, list[Point]] = {}
    for point in points:
        if point.setup.server.external is not None:
            found.setdefault(point.setup.server.external, []).append(point)
    for external, on_it in found.items():
        yield f"loads and samples {external.description}, which mydyno neither starts nor stops"
        yield (
            f"writes there into the schema {external.database} alone: tables that it marks as its own, which "
            "stay; there is no frozen copy to start from, so tables that a load has changed are loaded again"
        )
        names = sorted({name for point in on_it for name in point.setup.server.config})
        if names:
            yield (
                f"sets there for each trial {', '.join(names)} (SET GLOBAL) and restores the old values; "
                "after a kill mydyno cleanup does that"
            )


def _of_guests(points: Sequence[Point]) -> Iterator[str]:
    kinds = {point.setup.host.kind for point in points}
    for kind in GUESTS:
        if kind in kinds:
            yield (
                f"boots {GROUNDS[kind].title} for each trial, as an ordinary process without root, that ends "
                "with mydyno; its disks are sparse files in the lab; arrays and mounts go with it"
            )
    if any(starts_from_base(point.setup, point.workload) for point in points):
        yield (
            "boots a QEMU guest once for each storage with a dataset, and keeps its disks in the lab's "
            "cache: trials write to overlays of them"
        )


def _of_others(points: Sequence[Point], load: Load | None) -> Iterator[str]:
    hosts = [point.setup.host for point in points]
    names = sorted({host.name for host in hosts if host.name is not None})
    fleet = ["each host of the fleet"] if any(host.is_fleet for host in hosts) else []
    what = "server and load run" if load is None else "the server runs"
    for where in [*(f"{name}, over ssh" for name in names), *fleet]:
        yield (
            f"on {where}: copies mydyno's programs into a private folder, once, and the dataset "
            f"into the run's own, where {what}; that one and every process go with the run"
        )


def _of_generators(load: Load | None) -> Iterator[str]:
    """What is opened to them, only hosts.yaml says (`trial.generators.hosts`)."""
    if load is not None:
        yield (
            f"on {' and '.join(load.hosts)}, over ssh: copies mydyno's programs into a private folder, once, "
            "and runs an engine for each trial; every process goes with the run"
        )


def _of_storage(points: Sequence[Point]) -> Iterator[str]:
    """Of this machine and of others; a guest's goes with the guest."""
    built: dict[str | None, list[Volume]] = {}
    for point in points:
        host, storage = point.setup.host, point.setup.storage
        if storage is not None and not host.is_guest:
            built.setdefault(_elsewhere(host), []).extend(storage.volumes.values())
    for where, volumes in built.items():
        yield from (f"on {where}, {each}" if where else each for each in _of_volumes(volumes, where))


def _elsewhere(host: Host) -> str | None:
    """The other machine that a setup is built on; None: this one."""
    if host.kind != "ssh":
        return None
    return host.name or "each host of the fleet"


def _of_volumes(volumes: Sequence[Volume], where: str | None) -> Iterator[str]:
    files = "in the run's private folder" if where else "in the lab"
    if any(not volume.disks.devices for volume in volumes):
        yield (
            f"as root: attaches loop devices to sparse files {files}, and mounts what is built on them "
            "where only mydyno sees it (a private mount namespace); detached afterwards"
        )
    if any(volume.raid != "none" for volume in volumes):
        yield "as root: creates md arrays of those disks; stopped afterwards"
    if any(volume.disks.iops is not None or volume.disks.bandwidth is not None for volume in volumes):
        yield "as root: limits those disks in the root group of cgroup v1's blkio; lifted afterwards"
    if any(volume.scheduler or volume.queue_depth or volume.readahead for volume in volumes):
        yield "as root: sets scheduler, queue depth or readahead of those disks; restored afterwards"
    real = sorted({device.id for volume in volumes for device in volume.disks.devices})
    for name in real:
        disk = f"{name} of {where}" if where else name
        yield f"as root: DESTROYS what is on {disk}, and leaves it blank"
    if where is None:
        yield "writes the undo of each of these into the lab's journal first; mydyno cleanup applies it"
    else:
        yield (
            "the agent there undoes each of these when it ends; where it was killed itself, the next run or "
            "mydyno cleanup --hosts does"
        )
