"""A whole `.smack` run: sections in the order of the file, then `main` with its client types in parallel."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mydyno.core.beneath import exists_below
from mydyno.core.document.source import read_text
from mydyno.core.errors import EngineError, UsageError
from mydyno.core.interruption import stopping
from mydyno.core.plurals import counted
from mydyno.lab.load.failures import added, listed
from mydyno.lab.load.smack import data
from mydyno.lab.load.smack.client import ClientType, World
from mydyno.lab.load.smack.report import ClientReport, evaluate
from mydyno.lab.load.smack.settings import Emit, Settings, target_of
from mydyno.lab.workload.smack import grammar, inspect
from mydyno.lab.workload.smack.dictionary import Dictionary
from mydyno.lab.workload.smack.grammar import Assignment, Call, Literal, Script, Section
from mydyno.lab.workload.smack.program import Lane
from mydyno.lab.workload.smack.traps import TrapAt
from mydyno.lab.workload.statement_trust import reaches, refuse_reaching

_LOOK_EVERY_S = 0.2


@dataclass(frozen=True)
class Result:
    """What a run leaves: its reports in the order of their client types' init(), and all errors."""

    file: str
    arguments: tuple[str, ...]
    seed: int
    strict: bool
    traps: tuple[TrapAt, ...]
    reports: tuple[ClientReport, ...]
    errors: dict[str, int]
    error_examples: dict[str, str]
    server_version: str | None
    interrupted: bool


def run(path: Path, arguments: Sequence[str], settings: Settings, emit: Emit) -> Result:
    """Run a `.smack` file with the arguments that its $1, $2... stand for.

    Ctrl-C and SIGTERM end the load early; its figures are kept. Raises SpecErrors for a wrong file, other
    MydynoErrors when tables or connections are not available. Failed statements are counted, not raised: see
    `complain`.
    """
    script = grammar.parse(read_text(path), str(path), settings.strict)
    inspect.check(script, arguments)
    if not settings.trust:
        texts = [section.text(word) for section in script.sections for word in ("query", "create")]
        refuse_reaching(script.file, filter(reaches, texts))
    _refuse_existing_results(script, settings)
    traps = list(inspect.traps(script))
    for trap in traps:
        emit("note", trap.message(script.file, settings.strict))
    dictionaries, more = _act(script, settings, emit)
    for trap in more:
        emit("note", trap.message(script.file, settings.strict))
    world = World(script, (str(path), *arguments), dictionaries, settings, emit)
    clients, interrupted = _main(world)
    failed: list[ClientType | ClientReport] = []
    for client in clients:
        failed += [client, *client.reports]
    return Result(
        file=str(path),
        arguments=tuple(arguments),
        seed=settings.seed,
        strict=settings.strict,
        traps=(*traps, *more),
        reports=tuple(report for client in clients for report in client.reports),
        errors=added(one.errors for one in failed),
        error_examples={code: text for one in failed for code, text in one.error_examples.items()},
        server_version=next((client.server_version for client in clients if client.server_version), None),
        interrupted=interrupted or any(one.interrupted for client in clients for one in client.reports),
    )


def _refuse_existing_results(script: Script, settings: Settings) -> None:
    """Before the load, whose report would go with it. Raises UsageError."""
    folder = data.folder(script, settings)
    for line in script.main if not settings.force else ():
        if isinstance(line, Call) and line.method == "run_save_result":
            target = line.arguments[1]
            if (
                isinstance(target, Literal)
                and target.text != "-"
                and exists_below(folder, folder / target.text)
            ):
                raise UsageError(
                    f"the result file {folder / target.text} is there already", "--force replaces it"
                )


def _act(script: Script, settings: Settings, emit: Emit) -> tuple[dict[str, Dictionary], list[TrapAt]]:
    """Make the tables and read the dictionaries: the original in one order, ours tables first."""
    sections = [one for one in script.sections if one.kind in ("table", "dictionary")]
    if not settings.strict:
        sections.sort(key=lambda one: one.kind == "dictionary")
    dictionaries: dict[str, Dictionary] = {}
    traps: list[TrapAt] = []
    for section in sections:
        if section.kind == "dictionary":
            dictionaries[section.name], trap_at = data.read_dictionary(section, script, settings)
            known = inspect.traps(script)
            traps += [trap for trap in trap_at if trap not in known]
            continue
        admin = inspect.client_of(section, script)
        assert admin is not None  # inspect.check has seen to it.
        target = target_of(admin, settings.overrides)
        data.make_table(section, target, data.folder(script, settings), settings, emit)
    return dictionaries, traps


def _main(world: World) -> tuple[list[ClientType], bool]:
    """All client types, each with the lines from its init() on, and whether Ctrl-C ended them."""
    lines = world.script.main
    sections = world.script.named("client")
    starts = [n for n, line in enumerate(lines) if isinstance(line, Call) and line.method == "init"]
    clients: list[ClientType] = []
    jobs: list[_Job] = []
    failures: list[BaseException] = []
    for index, start in enumerate(starts):
        name = _call(lines[start]).client
        client = _client(world, sections[name], Lane(index, len(starts)), start)
        own = [line for line in lines[start:] if isinstance(line, Assignment) or line.client == name]
        clients.append(client)
        jobs.append(_Job(client, own, failures))
    interrupted = _together(jobs)
    if failures:
        raise failures[0]
    return clients, interrupted


def _call(line: Call | Assignment) -> Call:
    assert isinstance(line, Call)
    return line


def _client(world: World, section: Section, lane: Lane, start: int) -> ClientType:
    """A client type with the variables as they are when its init() comes."""
    variables: dict[str, str] = {}
    for line in world.script.main[:start]:
        if isinstance(line, Assignment):
            value = evaluate(line.value, world.arguments, variables, {}, world.settings.strict)
            variables[line.name] = value
    return ClientType(world, section, lane, variables)


class _Job(threading.Thread):
    """One client type at work. `over` is set at its end: a join that Ctrl-C cuts short loses the thread."""

    def __init__(
        self, client: ClientType, lines: list[Call | Assignment], failures: list[BaseException]
    ) -> None:
        super().__init__()
        self.client = client
        self.over = threading.Event()
        self._lines = lines
        self._failures = failures

    def run(self) -> None:
        try:
            self.client.run(self._lines)
        except BaseException as failure:  # Raised again by the thread that waits for all.
            self._failures.append(failure)
        finally:
            self.over.set()


def _together(jobs: list[_Job]) -> bool:
    """Run all to their end; True when Ctrl-C or SIGTERM came in between."""
    interrupted = False

    def stop() -> None:
        nonlocal interrupted
        interrupted = True
        for job in jobs:
            job.client.stop()

    with stopping(stop):
        for job in jobs:
            job.start()
        for job in jobs:
            # The wait has an end, so that a signal's handler runs soon on every system.
            while not job.over.wait(_LOOK_EVERY_S):
                pass
    return interrupted


def figures(result: Result) -> dict[str, Any]:
    """The result as plain values for --json; times in ms."""
    return {
        "file": result.file,
        "arguments": list(result.arguments),
        "seed": result.seed,
        "strict_compat": result.strict,
        "server_version": result.server_version,
        "traps": [trap.trap.name for trap in result.traps],
        "reports": [asdict(report) for report in result.reports],
        "errors": sum(result.errors.values()),
        "errors_by_code": result.errors,
        "interrupted": result.interrupted,
    }


def complain(result: Result) -> None:
    """Raises EngineError when a statement or connection failed, where the original would end with 0."""
    short = next((one for one in result.reports if one.aborted or one.clients < one.asked), None)
    if not result.errors and short is None:
        return
    errors = listed(result.errors, result.error_examples)
    if short:
        reached = f"client {short.client}: {short.clients} of {short.asked} connections worked"
        raise EngineError(f"{reached}{f' ({errors})' if errors else ''}", short.aborted)
    raise EngineError(f"{counted(sum(result.errors.values()), 'statement')} failed ({errors})")
