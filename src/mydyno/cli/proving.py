"""From the options of `mydyno prove` to its experiment, and from its run to what each finding was worth."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from mydyno.cli import options
from mydyno.core.errors import UsageError
from mydyno.core.server_release import SYSTEM

if TYPE_CHECKING:
    from mydyno.advise.advice import Advice
    from mydyno.core.facts import HostFacts
    from mydyno.facts import System
    from mydyno.prove.experiment import Load, Proposal
    from mydyno.prove.place import Place
    from mydyno.results.run import Run
    from mydyno.stack.server.names import Knows


@dataclass(frozen=True)
class Asked:
    """What the command line says."""

    advice: Path
    facts: Path | None
    only: tuple[str, ...] | None
    on: Place
    release: str | None
    workload: str
    chosen: tuple[str, ...]
    """NAME=VALUE options of the workload."""
    data: str | None
    load: Load
    external: Mapping[str, Any]
    lab: Path


def load(workload: str, connections: str, warmup: str, measure: str, repeats: int, until: str | None) -> Load:
    """The load, its workload file named from the root: the experiment file may lie elsewhere."""
    from mydyno.prove.experiment import Load
    from mydyno.workload import builtin_names

    is_file = workload not in builtin_names()
    name = str(Path(workload).absolute()) if is_file else workload
    return Load(name, is_file, connections, warmup, measure, repeats, until)


def rows_option(workload: str, rows: str | None) -> tuple[str, ...]:
    """`--rows` as the option that this workload has for it."""
    from mydyno.prove.shape import sized_by
    from mydyno.workload import read

    return () if rows is None else (f"{sized_by(read(workload))}={rows}",)


def external(
    server: str | None,
    user: str | None,
    defaults_file: Path | None,
    password_file: Path | None,
    database: str,
) -> dict[str, Any]:
    """`server.external` of the experiment file. It names files, and never has a password."""
    found: dict[str, Any] = {"database": database}
    if defaults_file is not None:
        found["defaults_file"] = str(defaults_file.expanduser().absolute())
    if server is not None and "://" in server:
        found["dsn"] = server
    elif server is not None:
        found["socket"] = str(Path(server).expanduser().absolute())
    if user is not None:
        found["user"] = user
    if password_file is not None:
        found["password_file"] = str(password_file.expanduser().absolute())
    return found


def propose(asked: Asked) -> Proposal:
    """The experiment for this advice here. Raises UsageError, SpecErrors, MissingToolError, ServerError."""
    from mydyno.prove import propose as proposing
    from mydyno.prove.ground import Ground
    from mydyno.workload import read
    from mydyno.workload.assignments import options_from

    advice, own = _advice(asked.advice), asked.on == "server"
    release = None if own else asked.release or release_of(advice.server)
    knows = _knows(asked, release)
    ground = Ground(
        on=asked.on,
        refuses=_refusals(knows),
        system=_facts(asked.facts),
        most_open_files=_most_open_files() if asked.on == "sandbox" else None,
    )
    workload = read(asked.workload)
    wanted = proposing.Wanted(
        name=asked.advice.stem,
        only=asked.only,
        workload=workload,
        options=options_from(workload, asked.chosen),
        data_bytes=None if asked.data is None else _bytes(asked.data),
        load=asked.load,
        release=release,
        external=asked.external if own else None,
        notes=tuple(_other_release(advice, knows)),
    )
    return proposing.propose(advice, ground, wanted, _here(asked, in_guest=ground.has_storage))


def _other_release(advice: Advice, knows: Knows | None) -> Iterator[str]:
    advised = advice.server.partition(" at ")[0]
    if knows is not None and str(knows.version) != advised:
        yield f"measured on {knows.version}, advised for {advised}"


def release_of(server: str) -> str:
    """The release to run for `MariaDB 10.11.19 at ...`: the same series where it is here, or to be had."""
    from mydyno.core.server_version import Vendor
    from mydyno.stack.server.releases import binary_of
    from mydyno.stack.server.releases.find import is_release

    told = server.partition(" at ")[0]
    vendor = next((each for each in Vendor if told.startswith(str(each))), None)
    numbers = told.removeprefix(str(vendor)).strip().split(".")[:2] if vendor else []
    if len(numbers) < 2:
        return SYSTEM
    family = "mariadb" if vendor is Vendor.MARIADB else "mysql"
    own = binary_of().version
    if str(own).startswith(f"{vendor} {'.'.join(numbers)}."):
        return SYSTEM
    name = f"{family}-{'.'.join(numbers)}"
    return name if is_release(name) else SYSTEM


def told(proposal: Proposal) -> Iterator[str]:
    """What one should know before the plan, a line each."""
    yield from proposal.shape.notes
    for finding, reasons in proposal.not_measured:
        yield f"not measured: {finding.rule}"
        yield from (f"  {reason}" for reason in reasons)
    yield ""


def report(run: Run, proposal: Proposal) -> None:
    """Writes the report, `prove.json` and `prove.md` beside it, and prints what each finding was worth."""
    from mydyno import __version__
    from mydyno.cli.report import write
    from mydyno.core.writing import writing
    from mydyno.prove import table
    from mydyno.prove.proof import proofs_of
    from mydyno.report.evidence import gather
    from mydyno.report.views.verdicts import compared_row

    write(run, run.report_folder)
    evidence = gather(run)
    grid = evidence.grid
    assert grid is not None  # There are two levels at least.
    verdicts = {grid.columns[at]: each.overall for at, each in compared_row(evidence, grid.rows[0]).items()}
    proofs = proofs_of(proposal, verdicts, __version__)
    folder = run.report_folder
    with writing(folder):
        (folder / "prove.json").write_text(proofs.model_dump_json(indent=2) + "\n", encoding="utf-8")
        (folder / "prove.md").write_text(table.markdown(proofs), encoding="utf-8")
    typer.echo("\n" + table.text(proofs, options.WIDTH))
    typer.echo(f"table    {folder / 'prove.md'}\nnumbers  {folder / 'prove.json'}")


def _advice(path: Path) -> Advice:
    from mydyno.advise.advice import read_advice

    return read_advice(_text(path, "mydyno advise --out FILE makes one"), str(path))


def _facts(path: Path | None) -> System | None:
    from mydyno.facts.system import read_system

    return None if path is None else read_system(_text(path, "mydyno facts > FILE makes them"), str(path))


def _text(path: Path, hint: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}", hint) from None


def _knows(asked: Asked, release: str | None) -> Knows | None:
    """The very server: its binary, or the external one itself. None: it is not installed yet, and asked by
    the run."""
    from mydyno.spec.external import External
    from mydyno.stack.server.external import look_at
    from mydyno.stack.server.releases import binary_of, not_installed

    if release is None:
        return look_at(External.model_validate(dict(asked.external)))
    return None if not_installed([release]) else binary_of(release)


def _refusals(knows: Knows | None) -> Callable[[str, str], str | None]:
    """What that server says to one setting."""
    from mydyno.prove.ground import takes_all
    from mydyno.stack import understand

    if knows is None:
        return takes_all

    def refuses(name: str, value: str) -> str | None:
        problems = understand(knows, {name: value}).problems
        return f"{knows.version}: {problems[0].why}" if problems else None

    return refuses


def _here(asked: Asked, in_guest: bool) -> HostFacts:
    """Memory and free disk of the host that the server will be on."""
    from mydyno.host.local import LocalHost
    from mydyno.spec.host import GUEST_MEMORY_BYTES

    facts = LocalHost().facts(asked.lab if asked.lab.is_dir() else Path.cwd())
    return replace(facts, memory_bytes=GUEST_MEMORY_BYTES) if in_guest else facts


def _most_open_files() -> int:
    """What a process of ours may be allowed: raising a hard limit needs a right that root can lack."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[1]


def _bytes(text: str) -> int:
    from mydyno.core.units import parse_bytes

    try:
        return parse_bytes(text)
    except ValueError as error:
        raise UsageError(f"--data {text}: {error}", "as --data 2G") from None
