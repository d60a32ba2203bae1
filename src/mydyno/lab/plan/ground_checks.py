"""What an environment cannot do, reported at its line in the experiment, with the environment that can."""

from collections.abc import Iterator, Sequence

from mydyno.core.document.tree import Location
from mydyno.core.facts import AskedDisk, GroundFacts
from mydyno.core.grounds import GROUNDS
from mydyno.core.record import Record
from mydyno.lab.plan.grounds import PACKAGES, able, disks_needed, needs_of, offer
from mydyno.lab.plan.point import Point
from mydyno.lab.spec import Experiment, Problem, Setup, Variant

FIO = "fio"


def ground_problems(described: Sequence[tuple[Point, Variant]], facts: GroundFacts) -> list[Problem]:
    """Every need of every point that its environment does not meet on this machine."""
    problems: list[Problem] = []
    for point, variant in described:
        problems += _of_needs(point.setup, variant, facts)
        problems += _of_number(point.setup, variant)
        problems += _of_disks(point.setup, variant, facts)
    return problems


class MissingTool(Record):
    """A program that the experiment needs and that this machine does not have."""

    program: str
    package: str
    uses: tuple[str, ...]
    """What it is needed for: `RAID 10`, `xfs`."""
    required: bool
    """Without it trials cannot be run; else they lack a check."""

    @property
    def sentence(self) -> str:
        needed = f"{self.program} is not installed, for {' and '.join(self.uses)}"
        return f"{needed}: apt-get install {self.package}"


def missing_tools(described: Sequence[tuple[Point, Variant]], facts: GroundFacts) -> tuple[MissingTool, ...]:
    """Programs of this machine that building or checking the storage of some point takes."""
    uses: dict[str, dict[str, None]] = {}
    required: set[str] = set()
    for point, _ in described:
        setup = point.setup
        for need in needs_of(setup):
            program = offer(need.capability, setup.host.kind, facts, setup.host.kernel).program
            if program is not None:
                uses.setdefault(program, {})[need.what] = None
                required.add(program)
        # A QEMU guest has one of its own.
        if setup.storage is not None and setup.host.kind != "vm" and FIO not in facts.programs:
            uses.setdefault(FIO, {})["the self-check of the disks"] = None
            if point.workload.fio_options is not None:
                uses[FIO]["the load"] = None
                required.add(FIO)
    return tuple(
        MissingTool(
            program=program, package=PACKAGES[program], uses=tuple(what), required=program in required
        )
        for program, what in uses.items()
    )


def asked_disks(experiment: Experiment) -> tuple[AskedDisk, ...]:
    """Every real disk that a point of the experiment names."""
    asked: dict[AskedDisk, None] = {}
    for levels in experiment.combinations():
        asked |= dict.fromkeys(disk for _, disk in _disks_of(experiment.variant(levels).setup))
    return tuple(asked)


def _of_needs(setup: Setup, variant: Variant, facts: GroundFacts) -> Iterator[Problem]:
    kind = setup.host.kind
    for need in needs_of(setup):
        offered = offer(need.capability, kind, facts, setup.host.kernel)
        if offered.has or offered.program is not None:
            continue
        instead = able(need, setup, facts)
        ways = [f"host: {' or '.join(instead)}"] if instead else []
        ways += [offered.hint] if offered.hint else []
        yield variant.problem(
            _spot(need.capability, need.location, setup),
            f"host {kind} does not support {need.what}: {offered.why}"
            if need.capability != "boots"
            else f"host {kind} cannot be used: {offered.why}",
            "; or ".join(ways) or "no environment of this machine has it",
        )


def _spot(capability: str, location: Location, setup: Setup) -> Location:
    """A kernel that does not exist is reported at its version."""
    return (*location, "kernel") if capability == "boots" and setup.host.kernel else location


def _of_number(setup: Setup, variant: Variant) -> Iterator[Problem]:
    needed, most = disks_needed(setup), GROUNDS[setup.host.kind].most_disks
    if needed > most:
        message = f"host {setup.host.kind} has at most {most} disks, and the volumes need {needed}"
        others = " or ".join(kind for kind, ground in GROUNDS.items() if ground.most_disks >= needed)
        yield variant.problem(("setup", "storage"), message, f"host: {others}", at_key=True)


def _of_disks(setup: Setup, variant: Variant, facts: GroundFacts) -> Iterator[Problem]:
    for location, disk in _disks_of(setup):
        found = facts.disks.get(disk)
        for refusal in found.refusals if found else ():
            yield variant.problem(location, f"the disk may not be built on: {refusal}")


def _disks_of(setup: Setup) -> Iterator[tuple[Location, AskedDisk]]:
    for name, volume in setup.storage.volumes.items() if setup.storage else ():
        for index, device in enumerate(volume.disks.devices):
            location = ("setup", "storage", name, "disks", "devices", index, "id")
            yield location, AskedDisk(device.id, device.serial, volume.disks.wipe)
