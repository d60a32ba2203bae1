"""From the options of `mydyno tune` to a search in the lab, and from its journal to its files."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mydyno.cli import screen
from mydyno.cli.shown import width
from mydyno.core.errors import LabError, MissingToolError, MydynoError, SpecError, UsageError

if TYPE_CHECKING:
    from mydyno.advisor.advice import Advice
    from mydyno.cli.labs import LabOptions
    from mydyno.lab.plan import Point
    from mydyno.lab.results.run import Run
    from mydyno.lab.results.store import Lab
    from mydyno.lab.spec import Experiment
    from mydyno.lab.spec.search import Parameter, Scalar, Search
    from mydyno.lab.trial.events import Event
    from mydyno.lab.trial.preflight import Prepared
    from mydyno.machine.hosts.machines import Machines
    from mydyno.machine.local import LocalHost
    from mydyno.server.variables.names import Knows
    from mydyno.survey.facts import System
    from mydyno.tune.confirm import Confirmation
    from mydyno.tune.experiment import Base
    from mydyno.tune.journal import Journal
    from mydyno.tune.presets import Room
    from mydyno.tune.reduce import Reduced
    from mydyno.tune.result import Found
    from mydyno.tune.space import Dimension, Space
    from mydyno.tune.task import Budget, Task

_LINE = 80


def tune(
    file: Path,
    size: str | None,
    budget: Budget,
    lab: LabOptions,
    machines: Machines,
    *,
    confirm: bool,
) -> bool:
    """Searches, and writes what was found; False when there was nothing that holds."""
    from mydyno.core.interruption import interruptible
    from mydyno.lab import spec
    from mydyno.tune.experiment import base_of
    from mydyno.tune.journal import Journal
    from mydyno.tune.search import Search as Loop

    experiment = spec.load(file, size)
    base = base_of(experiment)
    assert experiment.search is not None
    bench = LabBench(base, lab, machines)
    start = bench.start()
    with lab.open(write=True) as opened:
        bench.opened = opened
        task = _task(experiment, base, bench, start)
        journal = Journal(opened.path, task.folder)
        say(f"search {journal.folder}")
        loop = Loop(task, bench, journal, budget, say, confirm)
        loop.after_heat = lambda: _write_record(_found(task, loop, (), None), journal)
        try:
            with interruptible():
                loop.run()
                confirmations, reduced = _confirmed(task, bench, loop) if confirm else ((), None)
        except KeyboardInterrupt:
            say("interrupted: the same command continues")
            raise
        found = _found(task, loop, confirmations, reduced)
        _write(found, bench, journal)
    return reduced is not None or not confirm


def say(text: str) -> None:
    """A message that stays on the screen."""
    if screen.error_is_terminal():
        screen.redraw_line()
    _echo_wrapped(text)
    screen.flush()


def _echo_wrapped(text: str) -> None:
    """Names and paths stay whole: they are copied."""
    lines = textwrap.wrap(
        text, width(), subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    screen.echo("\n".join(lines))


@dataclass
class LabBench:
    """Measures in the lab, as `mydyno run` does."""

    base: Base
    lab: LabOptions
    machines: Machines
    opened: Lab | None = None
    hosts: int = 1
    _checked: dict[str, str | None] = field(default_factory=dict)
    system: System | None = None
    """Facts of the start's server under its load, where it was looked at."""

    @cached_property
    def host(self) -> LocalHost:
        from mydyno.machine.local import LocalHost

        return LocalHost()

    def start(self) -> Prepared:
        """The start, checked; its release is installed where it is missing. Raises SpecErrors and others."""
        from mydyno.tune.experiment import text

        alone = text(self.base, "start", [], question="", repeats=1, seed=self.base.seed, factor=False)
        prepared = self._prepare(alone, install=True)[1]
        fleet = prepared.plan.fleet
        self.hosts = 1 if fleet is None else len(fleet.hosts)
        return prepared

    def refused(self, text: str) -> str | None:
        """The reason, in one line."""
        if text not in self._checked:
            try:
                self._prepare(text)
                self._checked[text] = None
            except (LabError, MissingToolError):
                raise
            except (SpecError, MydynoError) as error:
                self._checked[text] = _reason(error)
        return self._checked[text]

    def seconds(self, text: str) -> float:
        return self._prepare(text)[1].plan.estimate.seconds

    def measure(self, text: str) -> Run:
        from mydyno.lab.trial.campaign import Campaign

        assert self.opened is not None
        experiment, prepared = self._prepare(text)
        try:
            return Campaign(experiment, prepared, self.host, self.opened).go(_show)
        except MydynoError as error:
            hint = "the search is kept: fix that; the same command continues"
            raise type(error)(f"nothing could be measured: {error.message}", error.hint or hint) from error
        finally:
            if screen.error_is_terminal():
                screen.redraw_line()

    def recovery_seconds(self, text: str, level: str) -> float:
        from mydyno.tune.experiment import FACTOR
        from mydyno.tune.own_server import own_server, seconds_to_recover

        _, prepared = self._prepare(text)
        point = next(each for each in prepared.plan.points if each.levels.get(FACTOR) == level)
        with own_server(prepared, point.id, self._path, self.host, _show) as own:
            return seconds_to_recover(own, _show)

    def advice(self, prepared: Prepared, names: frozenset[str]) -> Advice | None:
        """mydyno's own on the start under its load; None where it cannot be looked at."""
        from mydyno.tune.own_server import is_here, look, own_server

        point = prepared.plan.points[0]
        if not is_here(point):
            return None
        say("advice: looking at the start under its load")
        with own_server(prepared, point.id, self._path, self.host, _show) as own:
            advice, self.system = look(own, names, _show)
        return advice

    @property
    def _path(self) -> Path:
        assert self.opened is not None
        return self.opened.path

    def _prepare(self, text: str, *, install: bool = False) -> tuple[Experiment, Prepared]:
        from mydyno.cli.planning import prepare_read
        from mydyno.lab import spec

        experiment = spec.loads(text, self.base.file)
        return prepare_read(experiment, self.lab, self.host, install=install, machines=self.machines)


def _reason(error: MydynoError) -> str:
    from mydyno.core.document.problems import SpecErrors

    if isinstance(error, SpecErrors):
        return error.problems[0].message
    return error.message.splitlines()[0]


def _show(event: Event) -> None:
    """What is being done now, on a terminal only."""
    from mydyno.cli.display import describe

    if screen.error_is_terminal() and (line := describe(event)):
        screen.redraw_line(line.strip()[: _LINE - 1])


def _task(experiment: Experiment, base: Base, bench: LabBench, start: Prepared) -> Task:
    from mydyno.tune.experiment import fingerprint
    from mydyno.tune.own_server import is_here
    from mydyno.tune.starts import starts
    from mydyno.tune.task import Task

    assert experiment.search is not None
    search, point = experiment.search, start.plan.points[0]
    if search.constraints.recovery is not None and not is_here(point):
        raise UsageError(
            "search.constraints.recovery is measured on private servers of this machine only",
            "leave it out, or setup.host: local",
        )
    space = _space(experiment, search, bench, start, point)
    release = str(start.knows(point).version)
    print_ = fingerprint(base, search.model_dump(mode="json"), release)
    references = {}
    if point.setup.server.external is None:
        advice = _advice(bench, start, space, f"{base.name}-{print_}")
        references = starts(space, base.config, advice, start.knows(point))
    shipped = _shipped(start, point)
    defaults = _defaults(space, base, shipped)
    return Task(base, search, space, defaults, shipped, references, release, print_)


def _space(experiment: Experiment, search: Search, bench: LabBench, start: Prepared, point: Point) -> Space:
    """Raises UsageError for a variable that the release does not have, or a preset that is not available."""
    from mydyno.server.program.ranges import ranges
    from mydyno.server.program.values import refused_values
    from mydyno.tune.presets import names_of, preset_space, words_of
    from mydyno.tune.space import Space, dimension

    parameters: dict[str, Parameter] = {}
    if search.preset is not None:
        if point.setup.server.external is not None:
            raise UsageError(
                "a preset needs the server's binary", "write search.space for an external server"
            )
        binary = start.maker(point)
        limits = ranges(bench.host, binary, names_of(search.preset))
        refused = refused_values(bench.host, binary, words_of(search.preset, binary))
        room = _room(experiment, search, bench, point)
        parameters |= preset_space(search.preset, binary, limits, refused, room)
    parameters |= search.space
    dimensions = [dimension(path, parameter) for path, parameter in parameters.items()]
    if point.setup.server.external is None:
        dimensions = [_as_in_force(each, start, point) for each in dimensions]
    for each in dimensions:
        _check_name(each.path, each.values[0], start.knows(point))
    return Space(tuple(dimensions))


def _check_name(path: str, value: Scalar, server: Knows) -> None:
    """Raises UsageError for a variable that this server does not list."""
    from mydyno.lab.spec.paths import CONFIG_PATH
    from mydyno.lab.stack import understand

    if not path.startswith(CONFIG_PATH):
        return
    name = path.removeprefix(CONFIG_PATH)
    understood = understand(server, {name: value})
    if understood.problems:
        raise UsageError(
            f"search.space: {server.version}: {understood.problems[0]}",
            "`mydyno variables` lists what it has",
        )
    if listed := understood.settings.keys() - understood.written_as.keys():
        # A reference sets it under that name, and a server takes one of the two.
        raise UsageError(
            f"search.space: {server.version} has no {name}: {understood.notes[0]}",
            f"write {' and '.join(sorted(listed))}",
        )


def _as_in_force(varied: Dimension, start: Prepared, point: Point) -> Dimension:
    """The same; a pool in the sizes that the server does not round."""
    from mydyno.lab.spec.paths import CONFIG_PATH
    from mydyno.lab.spec.search import number_of
    from mydyno.lab.trial.attempt import settings_of
    from mydyno.lab.trial.preflight import cpus_of
    from mydyno.server.program.chunks import POOL, largest_within
    from mydyno.server.variables.convert import size_text

    if varied.path != f"{CONFIG_PATH}{POOL}" or not varied.ordered:
        return varied
    binary, settings = start.maker(point), settings_of(point)
    cpus = cpus_of(start.plan, point, start.machines)
    sizes = [largest_within(binary, settings, int(number_of(each) or 0), cpus) for each in varied.values]
    return replace(varied, values=tuple(dict.fromkeys(map(size_text, sizes))))


def _room(experiment: Experiment, search: Search, bench: LabBench, point: Point) -> Room:
    """What the machine has, of several the smallest one, or less by the constraints."""
    from mydyno.cli.planning import others_of
    from mydyno.lab.plan.point import memory_bytes
    from mydyno.tune.presets import Room

    others, _, _ = others_of(experiment, bench.machines)
    facts = replace(bench.host.facts(bench.lab.folder), others=others)
    disks = [each.free_disk_bytes for each in others.values() or [facts]]
    limits, found = search.constraints, {}
    for name, sizes in (
        ("memory", [memory_bytes(point.setup, facts), limits.memory]),
        ("disk", [*disks, limits.disk]),
    ):
        known = [each for each in sizes if each is not None]
        if not known:
            raise UsageError(f"the machine's {name} could not be read", f"give search.constraints.{name}")
        found[name] = min(known)
    return Room(found["memory"], found["disk"])


def _shipped(start: Prepared, point: Point) -> Mapping[str, Any]:
    """Path -> value without any setting; empty for a server that mydyno does not start."""
    from mydyno.lab.spec.paths import CONFIG_PATH
    from mydyno.lab.trial.preflight import effective

    if point.setup.server.external is not None:
        return {}
    in_force = effective(start.maker(point), {}, point).variables
    return {f"{CONFIG_PATH}{name}": value for name, value in in_force.items()}


def _defaults(space: Space, base: Base, shipped: Mapping[str, Any]) -> Mapping[str, Any]:
    """What each path is without a candidate: the setup's own value, else the release's."""
    from mydyno.lab.spec.paths import CONFIG_PATH

    found = {}
    for each in space.dimensions:
        if each.path.startswith(CONFIG_PATH):
            value = base.config.get(each.path.removeprefix(CONFIG_PATH), shipped.get(each.path))
        else:
            value = _at(base.keys.get("setup") or {}, each.path.split("."))
        if isinstance(value, str | int | float):
            found[each.path] = value
    return found


def _at(keys: Any, path: list[str]) -> Any:
    for step in path:
        keys = keys.get(step) if isinstance(keys, dict) else None
    return keys


def _advice(bench: LabBench, start: Prepared, space: Space, folder: str) -> dict[str, str]:
    """Server variables that mydyno's own advice sets, none of which lowers durability; made once a search."""
    from mydyno.advisor.advice import read_advice
    from mydyno.apply.change import SetVariable
    from mydyno.core.durable import replace_file
    from mydyno.lab.spec.paths import CONFIG_PATH
    from mydyno.lab.stack import understand
    from mydyno.tune.journal import FOLDER

    assert bench.opened is not None
    kept = bench.opened.path / FOLDER / folder
    file = kept / "advice-of-the-start.json"
    if file.is_file():
        advice = read_advice(file.read_text(encoding="utf-8"), str(file))
    else:
        names = frozenset(each.path.removeprefix(CONFIG_PATH) for each in space.dimensions)
        try:
            made = bench.advice(start, names)
        except (UsageError, LabError, MissingToolError):
            raise
        except MydynoError as error:
            say(f"no advice: {error.message.splitlines()[0]}")
            return {}
        if made is None:
            return {}
        advice = made
        kept.mkdir(parents=True, exist_ok=True)
        replace_file(file, advice.to_json())
    knows = start.knows(start.plan.points[0])
    return {
        change.name: change.value
        for finding in advice.findings
        if finding.durability != "lowers"
        for change in finding.changes
        if isinstance(change, SetVariable)
        and change.name not in ("max_connections", "max_user_connections", "open_files_limit")
        and not understand(knows, {change.name: change.value}).problems
    }


def _confirmed(task: Task, bench: LabBench, loop: Any) -> tuple[tuple[Confirmation, ...], Reduced | None]:
    from mydyno.tune.confirm import confirm
    from mydyno.tune.reduce import reduce

    confirmations = confirm(task, bench, list(loop.scores.values()), loop.blocked, loop.seconds_left, say)
    if not confirmations:
        say("no candidate looked better than the start")
    if not confirmations or not confirmations[-1].holds:
        return confirmations, None
    return confirmations, reduce(task, bench, confirmations[-1], len(confirmations), loop.seconds_left, say)


def _found(task: Task, loop: Any, confirmations: tuple[Confirmation, ...], reduced: Reduced | None) -> Found:
    from mydyno.tune.result import Found, constraint_lines

    return Found(
        name=task.base.name,
        release=task.release,
        at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        objectives=task.search.objectives,
        space=task.space,
        constraints=constraint_lines(task.search.constraints.model_dump(mode="json")),
        scores=tuple(loop.scores.values()),
        heats=tuple(loop.heats),
        rounds=tuple(loop.rounds),
        ends=tuple(loop.ends),
        confirmations=confirmations,
        reduced=reduced,
    )


def _write_record(found: Found, journal: Journal) -> None:
    """What `mydyno serve` shows, also of a search that is under way."""
    from mydyno.core.durable import replace_file
    from mydyno.core.writing import writing
    from mydyno.tune.journal import RECORD
    from mydyno.tune.result import to_json

    file = journal.folder / RECORD
    with writing(file):
        file.parent.mkdir(exist_ok=True)
        replace_file(file, to_json(found))


def _write(found: Found, bench: LabBench, journal: Journal) -> None:
    """The report, and of what was confirmed the option file and the advice."""
    from mydyno.core.writing import writing
    from mydyno.tune import table
    from mydyno.tune.journal import RECORD
    from mydyno.tune.page import page
    from mydyno.tune.result import advice_of, option_file

    _write_record(found, journal)
    folder = (journal.folder / RECORD).parent
    with writing(folder):
        (folder / "report.html").write_text(page(found), encoding="utf-8")
        (folder / "tune.md").write_text(table.markdown(found), encoding="utf-8")
        if found.reduced is not None:
            variables = bench.system.server.variables if bench.system is not None else {}
            was = {name: each.value for name, each in variables.items()}
            dynamic = frozenset(name for name, each in variables.items() if each.dynamic)
            (folder / "best.cnf").write_text(option_file(found), encoding="utf-8")
            advice = advice_of(found, was, dynamic).to_json()
            (folder / "advice.json").write_text(advice, encoding="utf-8")
    for line in table.text(found):
        _echo_wrapped(line)
    for name in ("report.html", *(("best.cnf", "advice.json") if found.reduced else ())):
        screen.echo(f"{name:12} {folder / name}")
