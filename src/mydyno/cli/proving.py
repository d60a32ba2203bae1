"""From the options of `mydyno prove` to its experiment, and from its run to what each finding was worth."""

from __future__ import annotations

import math
import resource
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mydyno.cli import screen
from mydyno.cli.shown import width
from mydyno.core.errors import UsageError
from mydyno.core.plurals import counted
from mydyno.core.server_release import SYSTEM

if TYPE_CHECKING:
    from mydyno.advisor.advice import Advice
    from mydyno.cli.labs import LabOptions
    from mydyno.cli.login_options import LoginOptions
    from mydyno.cli.prove_options import ExperimentOptions, LoadOptions
    from mydyno.core.facts import HostFacts
    from mydyno.lab.analysis.verdict import Verdict
    from mydyno.lab.results.run import Run
    from mydyno.prove.condition import Condition
    from mydyno.prove.experiment import Load, Proposal
    from mydyno.prove.pilot import Choice
    from mydyno.prove.place import Place
    from mydyno.prove.shape import Shape
    from mydyno.prove.stages import Stages
    from mydyno.server.variables.names import Knows
    from mydyno.survey.facts import System


_LOADING_PART = 0.25
"""Of the time of the first answer."""
_ROW_BYTES = 200
_MARGIN = 1.1
"""An estimate is one: what is proposed to be enough should be."""


@dataclass(frozen=True)
class Request:
    """What the command line says, with the advice and what is known of the advised server."""

    name: str
    """Of the advice's file, without its suffix."""
    advice: Advice
    system: System | None
    experiment: ExperimentOptions
    options: LoadOptions
    condition: Condition
    external: Mapping[str, Any]
    lab: LabOptions
    """--trust: also for settings of the advice that let a server load code or use other files."""
    pilot: Choice | None = None
    """What the pilot has chosen; None: it has not run."""

    @property
    def on(self) -> Place:
        return self.experiment.on

    @property
    def within(self) -> float:
        """Seconds for all runs together."""
        return self.experiment.within

    @property
    def only(self) -> tuple[str, ...] | None:
        only = self.experiment.only
        return tuple(part.strip() for part in only.split(",")) if only else None

    @property
    def workload(self) -> str:
        return self.options.workload or self.condition.workload

    @property
    def chosen(self) -> tuple[str, ...]:
        """NAME=VALUE options of the workload; --rows as the option that it has for rows."""
        from mydyno.lab.workload import read
        from mydyno.prove.shape import sized_by

        rows = self.options.rows
        sized = () if rows is None else (f"{sized_by(read(self.workload))}={rows}",)
        return (*(self.options.chosen or ()), *sized)

    @property
    def load(self) -> Load:
        """The load; a workload file has an absolute path, since the experiment file may be elsewhere."""
        from mydyno.lab.workload import builtin_names
        from mydyno.prove.experiment import Load

        options, until = self.options, self.experiment.until
        is_file = self.workload not in builtin_names()
        return Load(
            str(Path(self.workload).absolute()) if is_file else self.workload,
            is_file,
            options.connections or str(self.condition.connections),
            str(options.warmup),
            str(options.measure),
            self.experiment.repeats,
            None if until is None else f"±{until}",
        )


def external(server: LoginOptions, database: str) -> dict[str, Any]:
    """`server.external` of the experiment file. It names files, and never has a password."""
    if server.ask_password:
        raise UsageError("--ask-password: an experiment file has no password", "--password-file FILE")
    given = {name: value for name, value in asdict(server).items() if value}
    address = given.pop("server", None)
    if address is not None:
        given |= {"dsn": address} if "://" in address else {"socket": Path(address)}
    absolute = {
        name: str(value.expanduser().absolute()) if isinstance(value, Path) else value
        for name, value in given.items()
    }
    return {"database": database, **absolute}


def propose(request: Request) -> Proposal:
    """The experiment for this advice here. Raises UsageError, SpecErrors, MissingToolError, ServerError."""
    from mydyno.lab.workload import read
    from mydyno.lab.workload.file import options_from
    from mydyno.prove import propose as proposing
    from mydyno.prove.ground import Ground
    from mydyno.prove.pilot import OPTION

    advice, own = request.advice, request.on == "server"
    release = None if own else request.experiment.release or release_of(advice.server)
    knows = _knows(request, release)
    ground = Ground(
        on=request.on,
        refuses=_refusals(knows),
        system=request.system,
        most_open_files=_most_open_files() if request.on == "sandbox" else None,
    )
    workload = read(request.workload)
    pilot = request.pilot
    chosen_keys = {OPTION: pilot.candidate.keys} if pilot else {}
    wanted = proposing.Wanted(
        name=request.name,
        only=request.only,
        workload=workload,
        options={**options_from(workload, request.chosen), **chosen_keys},
        data_bytes=None if request.options.data is None else _bytes(request.options.data),
        load=request.load,
        release=release,
        external=request.external if own else None,
        notes=(*_other_release(advice, knows), *((pilot.note,) if pilot else ())),
        pool_share=pilot.candidate.pool_share if pilot else 1.0,
        most_data_bytes=None if own else most_data_bytes(request.within),
    )
    return proposing.propose(advice, ground, wanted, _here(request, in_guest=ground.has_storage))


def _other_release(advice: Advice, knows: Knows | None) -> Iterator[str]:
    advised = advice.server.partition(" at ")[0]
    if knows is not None and str(knows.version) != advised:
        yield f"measured on {knows.version}, advised for {advised}"


def release_of(server: str) -> str:
    """The release to run for `MariaDB 10.11.19 at ...`: the same series where it is here, or to be had."""
    from mydyno.core.server_version import Vendor
    from mydyno.server.releases import binary_of
    from mydyno.server.releases.find import is_release

    release = server.partition(" at ")[0]
    vendor = next((each for each in Vendor if release.startswith(str(each))), None)
    numbers = release.removeprefix(str(vendor)).strip().split(".")[:2] if vendor else []
    if len(numbers) < 2:
        return SYSTEM
    family = "mariadb" if vendor is Vendor.MARIADB else "mysql"
    own = binary_of().version
    if str(own).startswith(f"{vendor} {'.'.join(numbers)}."):
        return SYSTEM
    name = f"{family}-{'.'.join(numbers)}"
    return name if is_release(name) else SYSTEM


def most_data_bytes(within: float) -> int:
    """As many as are loaded in a quarter of the time of the first answer, by the plan's own assumption."""
    from mydyno.lab.plan.estimate import LOADED_ROWS_PER_SECOND
    from mydyno.prove.stages import FIRST_ANSWER_SECONDS

    return int(_LOADING_PART * min(within, FIRST_ANSWER_SECONDS) * LOADED_ROWS_PER_SECOND * _ROW_BYTES)


def has_keys(request: Request) -> bool:
    """Whether the pilot may choose how keys are drawn: the load has the option, and it is not set."""
    from mydyno.lab.workload import read
    from mydyno.lab.workload.file import options_from
    from mydyno.prove.pilot import DEFAULT_KEYS, OPTION

    if request.load.is_file or request.on == "server":
        return False
    workload = read(request.workload)
    field = workload.options.model_fields.get(OPTION)
    is_chosen = OPTION in options_from(workload, request.chosen)
    return field is not None and field.default == DEFAULT_KEYS and not is_chosen


def seconds_of(lab: Path) -> Callable[[Proposal], float]:
    """How long the plan of a proposal says that it takes on this machine."""
    from mydyno.lab import spec
    from mydyno.lab.plan import make
    from mydyno.machine.local import LocalHost

    facts = LocalHost().facts(lab if lab.is_dir() else Path.cwd())
    return lambda proposal: make(spec.loads(proposal.text, proposal.name), facts).estimate.seconds


def before_the_plan(proposal: Proposal) -> Iterator[str]:
    """Notes, and what is not measured, a line each."""
    yield from proposal.shape.notes
    for finding, reasons in proposal.not_measured:
        yield f"not measured: {finding.rule}"
        yield from (f"  {reason}" for reason in reasons)
    yield ""


def summary(stages: Stages, pilot_seconds: float, within: float, shape: Shape) -> Iterator[str]:
    """The total of all runs, and what is left, a line each."""
    from mydyno.core.units import format_bytes, format_duration

    settings = sum(len(each.levels.all) for each in stages.runs)
    time = format_duration(stages.seconds + pilot_seconds)
    data = format_bytes(shape.data_bytes)
    yield f"about {time} in total for {counted(settings, 'setting')} on {data} of data"
    if pilot_seconds:
        yield (
            f"  first a pilot of {format_duration(pilot_seconds)}: which keys miss the buffer pool as "
            "often as on the advised server"
        )
    for number, each in enumerate(stages.runs, start=1):
        if len(stages.runs) > 1:
            yield f"  run {number}: {', '.join(level.name for level in each.levels.all)}"
    if stages.seconds + pilot_seconds > within:
        yield f"  more than --within {format_duration(within)}: reduce --data, --repeats or --measure"
    if stages.left:
        yield f"  not in this time: {left(stages, pilot_seconds)}"


def left(stages: Stages, pilot_seconds: float) -> str:
    """The findings for which there is no time, and how to measure them."""
    minutes = math.ceil((stages.whole_seconds + pilot_seconds) * _MARGIN / 60)
    names = ", ".join(level.name for level in stages.left)
    return f"{names}; the same command with --within {minutes}m measures them, and keeps earlier trials"


def verdicts_of(run: Run) -> dict[str, Verdict]:
    """Writes the run's report, and gives its verdicts: level -> the level against `as it is`."""
    from mydyno.cli.report import write
    from mydyno.lab.report.evidence import gather
    from mydyno.lab.report.views.verdicts import compared_row

    write(run, run.report_folder)
    evidence = gather(run)
    grid = evidence.grid
    assert grid is not None  # There are two levels at least.
    return {grid.columns[at]: each.overall for at, each in compared_row(evidence, grid.rows[0]).items()}


def misses_note(run: Run, condition: Condition) -> Iterator[str]:
    """How often the trials missed the pool, and how often the advised server did."""
    from mydyno.prove.levels import AS_IT_IS
    from mydyno.prove.misses import misses_by_level

    misses = misses_by_level(run).get(AS_IT_IS)
    if misses is not None and condition.misses is not None:
        yield (
            f"as it is, {misses:.2%} of page requests missed the buffer pool in these trials, "
            f"{condition.misses:.2%} on the advised server"
        )


def report(run: Run, proposal: Proposal, verdicts: Mapping[str, Verdict], notes: Sequence[str]) -> None:
    """Writes `prove.json` and `prove.md` next to the run's report, and prints what each finding was worth."""
    from mydyno import __version__
    from mydyno.core.writing import writing
    from mydyno.prove import table
    from mydyno.prove.proof import proofs_of

    proofs = proofs_of(proposal, verdicts, __version__, notes)
    folder = run.report_folder
    with writing(folder):
        (folder / "prove.json").write_text(proofs.model_dump_json(indent=2) + "\n", encoding="utf-8")
        (folder / "prove.md").write_text(table.markdown(proofs), encoding="utf-8")
    screen.echo("\n" + table.text(proofs, width()))
    screen.echo(f"table    {folder / 'prove.md'}\nnumbers  {folder / 'prove.json'}")


def _knows(request: Request, release: str | None) -> Knows | None:
    """The server: its binary, or the external one itself. None: not installed yet, and checked by the run."""
    from mydyno.lab.stack.server.external import look_at
    from mydyno.server.access.address import External
    from mydyno.server.releases import binary_of, not_installed

    if release is None:
        return look_at(External.model_validate(dict(request.external)))
    return None if not_installed([release]) else binary_of(release)


def _refusals(knows: Knows | None) -> Callable[[str, str], str | None]:
    """Why that server refuses a setting."""
    from mydyno.lab.stack import understand
    from mydyno.prove.ground import takes_all

    if knows is None:
        return takes_all

    def refuses(name: str, value: str) -> str | None:
        problems = understand(knows, {name: value}).problems
        return f"{knows.version}: {problems[0].why}" if problems else None

    return refuses


def _here(request: Request, in_guest: bool) -> HostFacts:
    """Memory and free disk of the host that the server will be on."""
    from mydyno.lab.spec.host import GUEST_MEMORY_BYTES
    from mydyno.machine.local import LocalHost

    facts = LocalHost().facts(request.lab.folder if request.lab.folder.is_dir() else Path.cwd())
    return replace(facts, memory_bytes=GUEST_MEMORY_BYTES) if in_guest else facts


def _most_open_files() -> int:
    """What a process of ours may be allowed: increasing a hard limit needs a right that root can lack."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[1]


def _bytes(text: str) -> int:
    from mydyno.core.units import parse_bytes

    try:
        return parse_bytes(text)
    except ValueError as error:
        raise UsageError(f"--data {text}: {error}", "as --data 2G") from None
