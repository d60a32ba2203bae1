"""What can be found wrong before anything is started: the server binary, and settings unknown to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from mydyno.core.errors import ServerError
from mydyno.host.images import ImageStore
from mydyno.host.protocol import Host
from mydyno.host.vm.chosen import chosen_root
from mydyno.plan import Plan, Point
from mydyno.spec import Experiment, Problem, SpecErrors, Variant
from mydyno.stack import ServerBinary, Setting, find_binary, find_problems, inspect_binary
from mydyno.stack.server.names import canonical
from mydyno.stack.server.of_image import binary_of_image
from mydyno.trial.preflight_volumes import idle_problems, volume_notes, volume_problems


@dataclass(frozen=True)
class Prepared:
    """A plan whose every point has a server that takes its settings."""

    plan: Plan
    binaries: dict[str, ServerBinary]
    """Point id -> the binary under test, where the point's host has it."""
    makers: dict[str, ServerBinary]
    """Point id -> the binary of this machine that makes the dataset."""

    def binary(self, point: Point) -> ServerBinary:
        return self.binaries[point.id]

    def maker(self, point: Point) -> ServerBinary:
        return self.makers[point.id]


def settings_of(point: Point) -> dict[str, Setting]:
    """What a point asks of the server, as my.cnf takes it."""
    return {name: value.written for name, value in point.setup.server.config.items()}


def check(experiment: Experiment, plan: Plan, host: Host) -> Prepared:
    """Finds each point's binary and asks it about every setting.

    Raises MissingToolError when there is no binary, and SpecErrors with every setting that a binary
    does not take, at its place in the experiment file.
    """
    binaries: dict[str, ServerBinary] = {}
    makers: dict[str, ServerBinary] = {}
    problems: list[Problem] = []
    looked_at: list[tuple[ServerBinary, dict[str, Setting], Point, Variant]] = []
    for point in plan.points:
        if point.workload.fio_options is not None:
            continue  # It drives no server.
        named = point.setup.server.binary
        maker = inspect_binary(host, find_binary(Path(named) if named else None))
        binary = _in_image(maker) if point.setup.host.kind == "vm" else maker
        makers[point.id], binaries[point.id] = maker, binary
        variant = experiment.variant(point.levels)
        config = settings_of(point)
        looked_at.append((binary, config, point, variant))
        problems += volume_problems(binary, config, point, variant)
        for problem in find_problems(binary, config):
            problems.append(
                variant.problem(
                    ("setup", "server", "config", problem.name),
                    f"{problem.name}: {problem.why} (asked {binary.path}, {binary.version})",
                    nearest=" or ".join(problem.nearest) or None,
                    at_key=True,
                )
            )
    if problems:
        raise SpecErrors(problems)
    settled = [(one, canonical(one, config), point, variant) for one, config, point, variant in looked_at]
    if idle := tuple(idle_problems(settled)):
        raise SpecErrors(idle)
    notes = {point.id: tuple(volume_notes(one, config, point)) for one, config, point, _ in settled}
    return Prepared(_with_notes(_with_releases(plan, binaries), notes), binaries, makers)


def _in_image(maker: ServerBinary) -> ServerBinary:
    """The server of the image that a guest boots.

    Raises MissingToolError without an image, ServerError when it holds another release than `maker`, whose
    data it would be given.
    """
    binary = binary_of_image(chosen_root(ImageStore()))
    if binary.version != maker.version:
        raise ServerError(
            f"the guest image has {binary.version} and this machine {maker.version}: data made here is not "
            "for it",
            "build the image anew: mydyno images build",
        )
    return binary


def _with_notes(plan: Plan, notes: Mapping[str, tuple[str, ...]]) -> Plan:
    """What only the binary could tell of a point stands beside what the plan has said of it."""
    points = [
        point.model_copy(update={"notes": (*point.notes, *notes.get(point.id, ()))}) for point in plan.points
    ]
    return plan.model_copy(update={"points": tuple(points)})


def _with_releases(plan: Plan, binaries: dict[str, ServerBinary]) -> Plan:
    """`release: system` is another release after an upgrade: a run must not go on with it."""
    releases = [f"{point} {binary.version}" for point, binary in sorted(binaries.items())]
    fingerprint = sha256("\n".join([plan.fingerprint, *releases]).encode()).hexdigest()
    return plan.model_copy(update={"fingerprint": fingerprint})
