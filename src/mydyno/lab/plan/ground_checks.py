"""What an environment cannot do, reported at its line in the experiment, with the environment that can."""

from collections.abc import Iterable, Iterator, Sequence

from mydyno.core.document.tree import Location
from mydyno.core.facts import AskedDisk, GroundFacts
from mydyno.core.grounds import GROUNDS
from mydyno.core.record import Record
from mydyno.lab.plan.grounds import PACKAGES, able, disks_needed, far_facts, needs_of, offers_to
from mydyno.lab.plan.point import Point
from mydyno.lab.spec import Experiment, Problem, Setup, Variant

FIO = "fio"


def ground_problems(described: Sequence[tuple[Point, Variant]], facts: GroundFacts) -> list[Problem]:
    """Every need of every point that its environment does not meet."""
    problems: list[Problem] = []
    for point, variant in described:
        problems += _of_needs(point.setup, variant, facts)
        problems += _of_number(point.setup, variant)
        problems += _of_disks(point.setup, variant, facts)
    return problems


class MissingTool(Record):
    """A program that the experiment needs and that a machine does not have."""

    program: str
    package: str
    host: str | None
    """The other machine that lacks it; None: this one does."""
    uses: tuple[str, ...]
    """What it is needed for: `RAID 10`, `xfs`."""

    @property
    def lack(self) -> str:
        where = f" on {self.host}" if self.host else ""
        return f"{self.program} is not installed{where}, for {' and '.join(self.uses)}"

    @property
    def sentence(self) -> str:
        return f"{self.lack}: {install_hint([self.package], self.host)}"


def install_hint(packages: Iterable[str], host: str | None) -> str:
    return f"apt-get install {' '.join(packages)}" + (f" on {host}" if host else "")


def missing_tools(described: Sequence[tuple[Point, Variant]], facts: GroundFacts) -> tuple[MissingTool, ...]:
    """Programs that building or checking the storage of some point takes, where it is built."""
    uses: dict[tuple[str, str | None], dict[str, None]] = {}
    for point, _ in described:
        setup = point.setup
        for need in needs_of(setup):
            for host, offered in offers_to(need.capability, setup.host, facts):
                if offered.program is not None:
                    uses.setdefault((offered.program, host), {})[need.what] = None
        for host in _without_fio(setup, facts):
            uses.setdefault((FIO, host), {})["the self-check of the disks"] = None
            if point.workload.fio_options is not None:
                uses[FIO, host]["the load"] = None
    return tuple(
        MissingTool(program=program, package=PACKAGES[program], host=host, uses=tuple(what))
        for (program, host), what in uses.items()
    )


def _without_fio(setup: Setup, facts: GroundFacts) -> Iterator[str | None]:
    """The machines that need one and have none: the names of others, None for this one."""
    if setup.storage is None or setup.host.kind == "vm":
        # A QEMU guest has one of its own.
        return
    if setup.host.kind == "ssh":
        yield from (name for name, there in far_facts(setup.host, facts).items() if FIO not in there.programs)
    elif FIO not in facts.programs:
        yield None


def asked_disks(experiment: Experiment) -> tuple[AskedDisk, ...]:
    """Every real disk that a point of the experiment names."""
    asked: dict[AskedDisk, None] = {}
    for levels in experiment.combinations():
        asked |= dict.fromkeys(disk for _, disk in _disks_of(experiment.variant(levels).setup))
    return tuple(asked)


def _of_needs(setup: Setup, variant: Variant, facts: GroundFacts) -> Iterator[Problem]:
    kind = setup.host.kind
    for need in needs_of(setup):
        for name, offered in offers_to(need.capability, setup.host, facts):
            if offered.has or offered.program is not None:
                continue
            instead = able(need, setup, facts)
            ways = [f"host: {' or '.join(instead)}"] if instead else []
            ways += [offered.hint] if offered.hint else []
            host = f"{kind}:{name}" if name else kind
            yield variant.problem(
                _spot(need.capability, need.location, setup),
                f"host {host} does not support {need.what}: {offered.why}"
                if need.capability != "boots"
                else f"host {host} cannot be used: {offered.why}",
                "; or ".join(ways) or "no environment of this machine has it",
            )


def _spot(capability: str, location: Location, setup: Setup) -> Location:
    """A kernel that does not exist is reported at its version."""
    return (*location, "kernel") if capability == "boots" and setup.host.kernel else location


def _of_number(setup: Setup, variant: Variant) -> Iterator[Problem]:
    needed, most = disks_needed(setup), GROUNDS[setup.host.kind].most_disks
    if needed > most:
        message = f"host {setup.host.kind} has at most {most} disks, and the volumes need {needed}"
        others = " or ".join(
            kind for kind, ground in GROUNDS.items() if ground.most_disks >= needed and kind != "ssh"
        )
        yield variant.problem(("setup", "storage"), message, f"host: {others}", at_key=True)


def _of_disks(setup: Setup, variant: Variant, facts: GroundFacts) -> Iterator[Problem]:
    for location, disk in _disks_of(setup):
        found = facts.disks.get(disk)
        for refusal in found.refusals if found else ():
            of_host = f" of {disk.host}" if disk.host else ""
            yield variant.problem(location, f"the disk{of_host} may not be built on: {refusal}")


def _disks_of(setup: Setup) -> Iterator[tuple[Location, AskedDisk]]:
    """Those of this machine, or of another one that is named: a fleet has no disk of one name."""
    if setup.host.is_fleet:
        return
    for name, volume in setup.storage.volumes.items() if setup.storage else ():
        for index, device in enumerate(volume.disks.devices):
            location = ("setup", "storage", name, "disks", "devices", index, "id")
            yield location, AskedDisk(device.id, device.serial, volume.disks.wipe, setup.host.name)
