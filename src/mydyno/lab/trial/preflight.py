"""What can be found wrong before anything is started: the server's release, and settings unknown to it;
and servers that differ in more than the factors, unless the experiment says `unequal`.

What is in force is worked out from the settings and the defaults that each binary lists, before any server is
started; what a server works out when it starts is known from the catalogue, or not at all.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Self

from mydyno.core.document.problems import Problem
from mydyno.core.errors import ServerError
from mydyno.core.server_version import Version
from mydyno.lab.analysis.comparability import Effective, Unequal, unequal
from mydyno.lab.plan import Plan, Point
from mydyno.lab.spec import Experiment, SpecErrors, Variant
from mydyno.lab.spec import Host as SpecHost
from mydyno.lab.stack import ExternalFacts, ServerBinary, Setting, understand
from mydyno.lab.stack.server.release_variables import default_at
from mydyno.lab.trial.attempt import settings_of
from mydyno.lab.trial.generators.hosts import examine_generators, opened
from mydyno.lab.trial.own_data import Identified, identify
from mydyno.lab.trial.preflight_binary import (
    cache_notes,
    idle_problems,
    pool_of_share,
    share_notes,
    volume_notes,
    volume_problems,
    with_pools,
)
from mydyno.lab.trial.preflight_external import look_at_all
from mydyno.machine.environment import usable_cpus
from mydyno.machine.hosts.machines import Machines
from mydyno.machine.images import ImageStore
from mydyno.machine.protocol import Host
from mydyno.machine.vm.chosen import chosen_root
from mydyno.server.program.binary import binary_there
from mydyno.server.program.chunks import POOL
from mydyno.server.program.config import argument
from mydyno.server.program.file_places import has_binary_log
from mydyno.server.program.values import refused_values
from mydyno.server.releases import binary_of, known_release, not_installed
from mydyno.server.releases.find import binary_of_image, is_release, nearest_release
from mydyno.server.variables import catalogue
from mydyno.server.variables.convert import text_of
from mydyno.server.variables.names import Understood
from mydyno.server.variables.release import Family

_METHOD, _BUFFERING = "innodb_flush_method", "innodb_data_file_buffering"
_CHARACTERS, _COLLATION = "character_set_server", "collation_server"


def effective(binary: ServerBinary, settings: Mapping[str, Setting], point: Point) -> Effective:
    """What will be in force on a server that mydyno starts; `settings` under the binary's own names."""
    known = {name: value for name, value in binary.options.items() if value is not None}
    # What it works out when it starts: its help may show something else.
    known[_METHOD] = _default(_METHOD, binary.version)
    if _METHOD in settings:
        known.pop(_BUFFERING, None)
    if _CHARACTERS in settings:
        known.pop(_COLLATION, None)
    elif _COLLATION in settings:
        known[_CHARACTERS] = text_of(settings[_COLLATION]).partition("_")[0]
    known |= {name: text_of(value) for name, value in settings.items()}
    known["log_bin"] = "ON" if has_binary_log(binary, settings) else "OFF"
    return _effective(known, binary.version, settings, point)


def effective_external(facts: ExternalFacts, settings: Mapping[str, Setting], point: Point) -> Effective:
    """The same of an external server: what it shows, and what will be set."""
    known = {**facts.variables, **{name: text_of(value) for name, value in settings.items()}}
    return _effective(known, facts.version, settings, point)


def _effective(
    known: Mapping[str, str], version: Version, settings: Mapping[str, Setting], point: Point
) -> Effective:
    return Effective(
        variables=known,
        mariadb=version.is_mariadb,
        numbers=version.numbers,
        written={name: text_of(value) for name, value in settings_of(point).items()},
        configured=settings.keys(),
    )


def _default(name: str, version: Version) -> str:
    row = catalogue().variables[name]
    return default_at([each for each in row.defaults if each.on is Family.of(version)], version).split()[0]


def found_unequal(servers: Sequence[tuple[Point, Effective]]) -> list[Unequal]:
    """What differs between the points and is not set by a factor."""
    return list(unequal((point.levels, server) for point, server in servers if point.control_of is None))


def unequal_problems(experiment: Experiment, properties: Sequence[Unequal]) -> Iterator[Problem]:
    """Those that the experiment does not allow."""
    for each in properties:
        if each.property.name not in experiment.unequal:
            yield Problem(
                experiment.file,
                experiment.position("server.config"),
                f"the servers differ in more than the factors: {each}",
                None,
                f"{each.property.variables[0]} in server.config, so that all have the same; "
                f"or unequal: [{each.property.name}]",
            )


def unequal_warnings(properties: Sequence[Unequal], allowed: Collection[str]) -> tuple[str, ...]:
    """What a plan says of those that the experiment allows."""
    return tuple(f"unequal: {each}" for each in properties if each.property.name in allowed)


@dataclass(frozen=True)
class _LookedAt:
    """A point whose server was checked: the one under test, and the build of it that this machine has."""

    binary: ServerBinary
    maker: ServerBinary
    understood: Understood
    pool: int | None
    """The bytes of the buffer pool, where they are not those of the settings."""
    point: Point
    variant: Variant

    def in_force(self) -> dict[str, Setting]:
        """The settings with the real size of the pool."""
        sized = {} if self.pool is None else {POOL: self.pool}
        return {**self.understood.settings, **sized}

    def known_to_maker(self) -> list[tuple[str, Setting]]:
        """The settings whose values it can check."""
        return [(name, value) for name, value in self.in_force().items() if name in self.maker.options]


@dataclass(frozen=True)
class Prepared:
    """A plan whose every point has a server that takes its settings."""

    plan: Plan
    binaries: dict[str, ServerBinary]
    """Point id -> the binary under test, where the point's host has it."""
    makers: dict[str, ServerBinary]
    """Point id -> the binary of this machine that makes the dataset."""
    externals: dict[str, ExternalFacts]
    """Point id -> what its server reported, where that is an external one."""
    missing: tuple[str, ...] = ()
    """Releases that can be had and are not installed: a plan may name them, a run may not."""
    machines: Machines = field(default_factory=Machines)
    """Those that hosts.yaml names."""
    there: Mapping[str, Mapping[str, ServerBinary]] = field(default_factory=dict)
    """Host of the fleet -> point id -> the binary there."""
    place: str | None = None
    """The host of the fleet that trials run on; None without a fleet, and before one is chosen."""
    own_data: Mapping[str, Identified] = field(default_factory=dict)
    """Point id -> the user's own data, where the setup names it."""

    def on(self, host: str) -> Self:
        """The same for trials on one host of the fleet."""
        return replace(self, place=host, binaries=dict(self.there[host]))

    def ground(self, point: Point) -> SpecHost:
        """Where trials of a point run."""
        host = point.setup.host
        return host.model_copy(update={"name": self.place}) if host.is_fleet else host

    def binary(self, point: Point) -> ServerBinary:
        return self.binaries[point.id]

    def knows(self, point: Point) -> ServerBinary | ExternalFacts:
        """The server under test, as the source of its options."""
        return self.externals.get(point.id) or self.binaries[point.id]

    def maker(self, point: Point) -> ServerBinary:
        return self.makers[point.id]


def releases_of(plan: Plan) -> tuple[str, ...]:
    """The releases whose servers a plan starts, each once; a binary that is named by its path is none."""
    servers = [point.setup.server for point in plan.points if point.starts_server]
    return tuple(dict.fromkeys(server.release for server in servers if server.binary is None))


def check(experiment: Experiment, plan: Plan, host: Host, machines: Machines | None = None) -> Prepared:
    """Finds each point's binary and checks every setting with it.

    Points of a release that can be had and is not installed have no binary, and their settings are not
    checked. Raises MissingToolError when there is no binary, and SpecErrors with every unknown release
    and every setting that a binary does not take, at its place in the experiment file.
    """
    machines = machines or Machines()
    examine_generators(plan, machines)
    _refuse_unknown_releases(experiment, plan)
    missing = not_installed(releases_of(plan))
    binaries: dict[str, ServerBinary] = {}
    there: dict[str, dict[str, ServerBinary]] = {name: {} for name in _fleet_names(plan)}
    makers: dict[str, ServerBinary] = {}
    own_data: dict[str, Identified] = {}
    externals, notes, problems = look_at_all(experiment, plan)
    pools: dict[str, int | None] = {}
    looked_at: list[_LookedAt] = []
    for point in plan.points:
        if not point.starts_server:
            continue
        server = point.setup.server
        if server.binary is None and server.release in missing:
            continue
        maker = binary_of(server.release, server.binary, host)
        for name, of_point in there.items():
            of_point[point.id] = _far_binary(maker, name, machines)
        if point.setup.data is not None:
            own_data[point.id] = identify(point.setup.data, maker)
        binary = _under_test(maker, point, machines, there)
        makers[point.id], binaries[point.id] = maker, binary
        variant, config = experiment.variant(point.levels), settings_of(point)
        understood = understand(binary, config)
        pools[point.id] = pool = pool_of_share(binary, config, point, variant, cpus_of(plan, point, machines))
        notes[point.id] = (*share_notes(binary, pool), *(str(note) for note in understood.notes))
        looked_at.append(_LookedAt(binary, maker, understood, pool, point, variant))
        problems += volume_problems(binary, config, point, variant)
        problems += _unknown_settings(binary, understood, variant)
    problems += _refused_values(host, looked_at)
    differing = found_unequal(_in_force(plan, looked_at, externals))
    problems += unequal_problems(experiment, differing)
    if problems:
        raise SpecErrors(problems)
    settings = [(each.binary, each.understood.settings, each.point, each.variant) for each in looked_at]
    if not missing and (idle := tuple(idle_problems(settings))):
        raise SpecErrors(idle)
    for one, asked, point, _ in settings:
        notes[point.id] += (*volume_notes(one, asked, point), *cache_notes(one, asked, point))
    final = _with_releases(with_pools(plan, pools), makers if there else binaries, externals, own_data)
    final = _with_openings(_with_installs(_with_notes(final, notes), missing), machines)
    warnings = (*final.warnings, *unequal_warnings(differing, experiment.unequal))
    final = final.model_copy(update={"warnings": warnings})
    return Prepared(final, binaries, makers, externals, missing, machines, there, own_data=own_data)


def _in_force(
    plan: Plan, looked_at: Sequence[_LookedAt], externals: Mapping[str, ExternalFacts]
) -> list[tuple[Point, Effective]]:
    """What is in force at each point, of mydyno's servers and of external ones."""
    return [
        *((each.point, effective(each.binary, each.in_force(), each.point)) for each in looked_at),
        *(
            (point, effective_external(externals[point.id], settings_of(point), point))
            for point in plan.points
            if point.id in externals
        ),
    ]


def _unknown_settings(binary: ServerBinary, understood: Understood, variant: Variant) -> Iterator[Problem]:
    for problem in understood.problems:
        yield variant.problem(
            ("setup", "server", "config", problem.name),
            f"{problem.name}: {problem.why} (checked with {binary.path}, {binary.version})",
            nearest=" or ".join(f"'{name}'" for name in problem.nearest) or None,
            at_key=True,
        )


def _refused_values(host: Host, looked_at: Sequence[_LookedAt]) -> Iterator[Problem]:
    """Values that servers would refuse or change, each at its place. This machine's own build checks them."""
    asked: dict[Path, list[tuple[str, Setting]]] = {}
    for each in looked_at:
        asked.setdefault(each.maker.file, []).extend(each.known_to_maker())
    makers = {each.maker.file: each.maker for each in looked_at}
    refused = {file: refused_values(host, makers[file], settings) for file, settings in asked.items()}
    for each in looked_at:
        for name, value in each.known_to_maker():
            if why := refused[each.maker.file].get(argument(name, value)):
                yield each.variant.problem(
                    ("setup", "server", "config", each.understood.written_as.get(name, name)),
                    f"{name}: {why} (checked with {each.binary.path}, {each.binary.version})",
                )


def _refuse_unknown_releases(experiment: Experiment, plan: Plan) -> None:
    problems = []
    for point in plan.points:
        server = point.setup.server
        if point.starts_server and server.binary is None and not is_release(server.release):
            problems.append(
                experiment.variant(point.levels).problem(
                    ("setup", "server", "release"),
                    "unknown server release: neither installed nor available for download",
                    "one of `mydyno servers list`",
                    nearest_release(server.release),
                )
            )
    if problems:
        raise SpecErrors(problems, "`mydyno servers add NAME --from DIR` adds a build of your own")


def _fleet_names(plan: Plan) -> tuple[str, ...]:
    return plan.fleet.names if plan.fleet is not None else ()


def _under_test(
    maker: ServerBinary, point: Point, machines: Machines, there: Mapping[str, Mapping[str, ServerBinary]]
) -> ServerBinary:
    """The binary on the point's host; of a fleet, whose releases are equal, that of the first one.

    Raises MissingToolError, ServerError.
    """
    for of_point in there.values():
        return of_point[point.id]
    setup = point.setup
    if setup.host.name is not None:
        return _far_binary(maker, setup.host.name, machines)
    return _in_image(maker) if setup.host.kind == "vm" and maker.folder is None else maker


def _far_binary(maker: ServerBinary, name: str, machines: Machines) -> ServerBinary:
    """The binary on another machine. Raises MissingToolError, ServerError for another release than here."""
    there = binary_there(machines.host(name))
    if there.version != maker.version:
        raise ServerError(
            f"the host {name} has {there.version} and this machine {maker.version}: it cannot use data that "
            "was made here",
            "install the same release on both",
        )
    return there


def cpus_of(plan: Plan, point: Point, machines: Machines) -> int:
    """What its server has, of a fleet on the smallest host."""
    host = point.setup.host
    if host.is_fleet and plan.fleet is not None:
        return min(one.cpus for one in plan.fleet.hosts)
    return host.cpus_on(usable_cpus() if host.name is None else machines.host(host.name).hello.cpus)


def _in_image(maker: ServerBinary) -> ServerBinary:
    """The server of the image that a guest boots, which replaces this machine's own there.

    Raises MissingToolError without an image, ServerError when it holds another release than `maker`, whose
    data it would be given.
    """
    binary = binary_of_image(chosen_root(ImageStore()))
    if binary.version != maker.version:
        raise ServerError(
            f"the guest image has {binary.version} and this machine {maker.version}: it cannot use data "
            "that was made here",
            "build the image again (mydyno images build), or name a release, which the guest can use",
        )
    return binary


def _with_notes(plan: Plan, notes: Mapping[str, tuple[str, ...]]) -> Plan:
    """What only the binary knows of a point is added to the notes of the plan."""
    points = [
        point.model_copy(update={"notes": (*point.notes, *notes.get(point.id, ()))}) for point in plan.points
    ]
    return plan.model_copy(update={"points": tuple(points)})


def _with_installs(plan: Plan, missing: tuple[str, ...]) -> Plan:
    """What a run would do outside the lab before its first trial."""
    effects = tuple(
        f"installs {known.announcement}, into mydyno's cache, once"
        for known in map(known_release, missing)
        if known is not None
    )
    return plan.model_copy(update={"side_effects": (*effects, *plan.side_effects)})


def _with_openings(plan: Plan, machines: Machines) -> Plan:
    """What its servers open to generators, which only hosts.yaml says."""
    return plan.model_copy(update={"side_effects": (*plan.side_effects, *opened(plan, machines))})


def _with_releases(
    plan: Plan,
    binaries: dict[str, ServerBinary],
    externals: dict[str, ExternalFacts],
    own_data: dict[str, Identified],
) -> Plan:
    """`release: system` is another release after an upgrade, and own data may have changed: a run must not go
    on with either."""
    releases = [f"{point} {binary.build}" for point, binary in sorted(binaries.items())]
    releases += [f"{point} {facts.version}" for point, facts in sorted(externals.items())]
    releases += [f"{point} {data.contents}" for point, data in sorted(own_data.items())]
    fingerprint = sha256("\n".join([plan.fingerprint, *releases]).encode()).hexdigest()
    return plan.model_copy(update={"fingerprint": fingerprint})
