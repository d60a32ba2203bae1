"""What `mydyno rehearse` does, step by step."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mydyno.cli import screen
from mydyno.cli.labs import LabOptions
from mydyno.cli.login_options import LoginOptions
from mydyno.core.errors import LabError, UsageError
from mydyno.rehearse.experiment import FACTOR, Proposal
from mydyno.rehearse.records import Rehearsal, SideComparison
from mydyno.rehearse.sides import Side, sides_of, with_settings

if TYPE_CHECKING:
    from mydyno.cli.rehearse import DataOptions, SideOptions
    from mydyno.lab.results.run import Run
    from mydyno.lab.spec import Experiment
    from mydyno.lab.trial.preflight import Prepared
    from mydyno.lab.workload.trace import Survey


@dataclass(frozen=True)
class Request:
    """The command line, checked."""

    proposal: Proposal
    survey: Survey
    said: str
    """The data, for people."""
    lab: LabOptions
    margin: float


@dataclass(frozen=True)
class Planned:
    experiment: Experiment
    prepared: Prepared


def request(trace: Path, source: DataOptions, sides: SideOptions, lab: LabOptions, margin: float) -> Request:
    """Reads the trace once, dumps the server where that was wanted, and translates the settings. Raises
    UsageError, MissingToolError, ServerError."""
    from mydyno.cli.planning import install_releases
    from mydyno.lab.workload.trace import survey
    from mydyno.machine.local import LocalHost
    from mydyno.server.releases import binary_of, not_installed

    if (source.data is None) == (source.from_server is None):
        raise UsageError("a rehearsal needs data", "either --data PATH or --from-server SOCKET|DSN")
    if not trace.is_file():
        raise UsageError(f"there is no trace {trace}", "`mydyno capture` or `mydyno synthesize` makes one")
    seen = survey(
        {
            "trace": str(trace.resolve()),
            "reads_only": False,
            "from_s": 0.0,
            "for_s": None,
            "schema": source.database,
        }
    )
    settings = [Path(name) for name in _listed(sides.settings)]
    chosen = sides_of(_listed(sides.releases), settings, sides.schema_change)
    install_releases(not_installed(list(dict.fromkeys(side.release for side in chosen))))
    chosen = tuple(with_settings(side, binary_of(side.release, None, LocalHost())) for side in chosen)
    chosen = _distinguished(chosen, lab)
    data, said = _data(source, lab)
    proposal = Proposal(
        name=_name(trace, data, chosen, sides),
        trace=trace.resolve(),
        data=data.resolve(),
        database=source.database,
        sides=chosen,
        repeats=sides.repeats,
        speed=sides.speed,
    )
    return Request(proposal, seen, said, lab, margin)


def _distinguished(chosen: tuple[Side, ...], lab: LabOptions) -> tuple[Side, ...]:
    """The same side twice gets its data loaded a second time: an experiment has no two equal levels."""
    from mydyno.core.writing import writing

    seen: list[tuple[object, ...]] = []
    sides = []
    for side in chosen:
        is_again = (what := (side.release, side.settings, side.schema_change)) in seen
        seen.append(what)
        if is_again:
            file = lab.folder / "rehearsals" / f"no-change-{len(seen)}.sql"
            with writing(file):
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(f"-- the same side again, number {len(seen)}\n")
            side = replace(side, schema_change=file)
        sides.append(side)
    return tuple(sides)


def _listed(text: str | None) -> list[str]:
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def _data(source: DataOptions, lab: LabOptions) -> tuple[Path, str]:
    if source.data is not None:
        return source.data, source.data.name
    from mydyno.rehearse.dumping import dump

    login = LoginOptions(
        server=source.from_server,
        user=source.user,
        password_file=source.password_file,
        defaults_file=source.defaults_file,
        ask_password=source.ask_password,
    ).login()
    named = hashlib.sha256(login.address.encode()).hexdigest()[:8]
    target = lab.folder / "dumps" / f"{named}.sql"
    if target.exists():
        screen.echo(f"the dump {target} is used again; remove it for a new one", err=True)
    else:
        screen.echo(f"dumping {login.address} into {target}", err=True)
    return dump(login, target), f"a dump of {login.address}"


def _name(trace: Path, data: Path, chosen: Collection[Side], options: SideOptions) -> str:
    """The same for the same command, so that it continues; another one for another."""

    parts = [str(trace.resolve()), str(data.resolve()), options.speed, *map(repr, chosen)]
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:6]
    stem = re.sub(r"[^a-z0-9]+", "-", trace.stem.lower()).strip("-")[:40].strip("-") or "trace"
    return f"rehearse-{stem}-{digest}"


def show_plan(request: Request, *, quiet: bool) -> Planned:
    """Writes the experiment file into the lab, checks it, and shows what is compared. Raises SpecErrors."""
    from mydyno.cli.planning import prepare
    from mydyno.core.writing import writing
    from mydyno.machine.local import LocalHost

    folder = request.lab.folder / "rehearsals"
    file = folder / f"{request.proposal.name}.yaml"
    with writing(file):
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(request.proposal.text)
    experiment, prepared = prepare(file, None, request.lab, LocalHost(), own_data=True, install=True)
    if not quiet:
        for side in request.proposal.sides:
            screen.echo(f"side {side.name}: {side.said}")
            for name, value in side.settings.items():
                screen.echo(f"  {name} = {value}")
            for note in side.notes:
                screen.echo(f"  note: {note}")
        for line in trace_lines(request.survey, request.proposal.trace):
            screen.echo(line)
        screen.echo(f"experiment {file}")
    return Planned(experiment, prepared)


def trace_lines(survey: Survey, trace: Path) -> Iterator[str]:
    """What the trace is, and what of it is never replayed."""
    from mydyno.page.format import count, duration

    kind = "synthetic trace" if survey.synthetic else "trace"
    of = f" of {survey.server}" if survey.server else ""
    yield (
        f"{kind} {trace.name}{of}: {count(survey.statements)} statements on {count(survey.connections)}"
        f" connections in {duration(survey.length_us / 1e6)}"
    )
    for reason, number in sorted(survey.skipped.items()):
        yield f"  {count(number)} statements are left out: {reason}"


def measure(request: Request, planned: Planned) -> tuple[Rehearsal, bool]:
    """Loads the data, runs what is left, compares, explains. True: some repetitions are invalid."""
    from mydyno.cli import display
    from mydyno.core.interruption import interruptible
    from mydyno.lab.stack import Journal, Site
    from mydyno.lab.trial.campaign import Campaign
    from mydyno.lab.trial.datasets import make_datasets
    from mydyno.lab.trial.traced_tables import missing_tables
    from mydyno.machine.local import LocalHost
    from mydyno.rehearse.plans import explained

    host = LocalHost()
    with request.lab.open(write=True) as opened, interruptible():
        site = Site(opened.path, host, Journal(opened.path))
        site.journal.replay()
        with display.for_stream() as show:
            tables = make_datasets(planned.prepared, site, show)
            notes = missing_tables(
                request.survey,
                request.proposal.database,
                frozenset[str]().union(*tables.values()),
                "the data",
                "is it the data of that server? --database NAME for a dump that names no schema",
            )
            for note in notes:
                screen.echo(f"note: {note}", err=True)
            run = Campaign(planned.experiment, planned.prepared, host, opened).go(show)
        comparisons = _comparisons(run, request)
        comparisons, advice = explained(comparisons, planned.prepared, site)
        invalid = run.invalid()
    from mydyno import __version__

    rehearsal = Rehearsal(
        mydyno=__version__,
        trace=request.proposal.trace.name,
        synthetic=request.survey.synthetic,
        data=request.said,
        sides={side.name: side.said for side in request.proposal.sides},
        repetitions=request.proposal.repeats,
        margin=request.margin,
        comparisons=comparisons,
        advice=advice,
        notes=(*notes, *(f"{side.name}: {note}" for side in request.proposal.sides for note in side.notes)),
    )
    _save(run, rehearsal)
    return rehearsal, bool(invalid)


def _comparisons(run: Run, request: Request) -> tuple[SideComparison, ...]:
    """Every other side against the first, over blocks in which both are valid. Raises LabError."""
    from mydyno.lab.trial.drive import REPLAY
    from mydyno.rehearse.compare import compare_sides
    from mydyno.rehearse.results import Replayed, read_replay

    replays: dict[str, list[Replayed]] = {}
    for trial in run.trials():
        if trial.measured:
            side = trial.levels[FACTOR]
            folder = run.trial_folder(trial.trial_id) / REPLAY
            replays.setdefault(side, []).append(read_replay(folder, side, trial.block))
    names = [side.name for side in request.proposal.sides]
    if missing := [name for name in names if name not in replays]:
        raise LabError(f"no repetition of {missing[0]} could be measured", f"mydyno report {run.folder.name}")
    first, *others = names
    return tuple(compare_sides(replays[first], replays[name], request.margin) for name in others)


def _save(run: Run, rehearsal: Rehearsal) -> None:
    from mydyno.core.writing import writing

    file = run.rehearsal_file
    with writing(file.parent):
        file.parent.mkdir(exist_ok=True)
        file.write_text(rehearsal.model_dump_json(indent=2) + "\n", encoding="utf-8")


def show_result(rehearsal: Rehearsal, *, as_json: bool, limit: int) -> None:
    from mydyno.cli.shown import show, width
    from mydyno.rehearse.report.text import rehearsal_lines

    if as_json:
        screen.echo_json_text(rehearsal.model_dump_json(indent=2) + "\n", nl=False)
    else:
        screen.echo("")
        show(rehearsal_lines(rehearsal, width(), limit))


def is_worse(rehearsal: Rehearsal) -> bool:
    """Whether a statement, or the trace, is slower beyond the margin, fails or returns other rows."""
    return any(
        comparison.total.timing == "slower"
        or any(
            each.fails or each.other_result or each.times.timing == "slower" for each in comparison.statements
        )
        for comparison in rehearsal.comparisons
    )
