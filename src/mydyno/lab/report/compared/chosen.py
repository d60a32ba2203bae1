"""What a command line names for a comparison: `[NAME=]RUN[@FACTOR=LEVEL,...]`.

RUN is an experiment or a run of the lab, `baseline:NAME`, the folder of a lab (its newest run) or of one of
its runs, or `LABFOLDER:NAME`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from mydyno.core.closing import Closing
from mydyno.core.errors import UsageError
from mydyno.core.nearest import nearest
from mydyno.lab.analysis.merged import Part
from mydyno.lab.report.report_options import factor_named
from mydyno.lab.results import baselines
from mydyno.lab.results.records import ExperimentRecord
from mydyno.lab.results.run import Run
from mydyno.lab.results.store import DATABASE, Lab

_GIVEN = re.compile(r"(?:(?P<name>[^=@:/]+)=)?(?P<run>[^@]+)(?:@(?P<levels>.+))?")
_BASELINE = "baseline:"


@dataclass(frozen=True)
class Chosen:
    """A part of a comparison, and the run that its series are in."""

    part: Part
    run: Run


class Labs(Closing):
    """The labs that a comparison reads, each opened once and kept open while their runs are read."""

    def __init__(self, default: Path, open_lab: Callable[[Path], Lab]) -> None:
        self._default = default
        self._open_lab = open_lab
        self._stack = ExitStack()
        self._open: dict[Path, Lab] = {}

    def close(self) -> None:
        self._stack.close()

    def lab(self, path: Path | None = None) -> Lab:
        """Raises LabError."""
        where = (path or self._default).resolve()
        if where not in self._open:
            self._open[where] = self._stack.enter_context(self._open_lab(path or self._default))
        return self._open[where]

    def run(self, text: str) -> Run:
        """The run that `text` names. Raises LabError or UsageError."""
        if text.startswith(_BASELINE):
            lab = self.lab()
            return lab.find_run(baselines.find(lab.path, text.removeprefix(_BASELINE)).run)
        path = Path(text)
        if (path / DATABASE).is_file():
            return self.lab(path).find_run(None)
        if path.parent.name == "runs" and (path.parent.parent / DATABASE).is_file():
            return self.lab(path.parent.parent).find_run(path.name)
        folder, colon, name = text.rpartition(":")
        if colon and (Path(folder) / DATABASE).is_file():
            return self.lab(Path(folder)).find_run(name)
        return self.lab().find_run(text)


def choose(given: Sequence[str], labs: Labs) -> list[Chosen]:
    """The runs that are named; the first is the baseline of the others.

    One name alone is compared with the pinned baseline of its experiment, or else the run before. Raises
    UsageError and LabError.
    """
    if len(given) == 1:
        match = _parsed(given[0])
        run = labs.run(match["run"])
        before = _earlier(run, labs.lab(run.folder.parent.parent))
        levels = f"@{match['levels']}" if match["levels"] else ""
        first = _chosen(f"{before.folder}{levels}", labs)
        return _with_names([first, _chosen(given[0], labs)], (None, match["name"]))
    return _with_names([_chosen(text, labs) for text in given], [_parsed(text)["name"] for text in given])


def _earlier(run: Run, lab: Lab) -> Run:
    pinned = [one for one in baselines.read(lab.path) if one.experiment == run.experiment.name]
    if len(pinned) == 1 and pinned[0].run != run.folder.name:
        return lab.find_run(pinned[0].run)
    same = lab.runs(run.experiment.name)
    names = [one.folder.name for one in same]
    older = same[names.index(run.folder.name) + 1 :]
    alike = [one for one in older if one.experiment.size == run.experiment.size]
    if alike:
        return alike[0]
    raise UsageError(
        f"{run.folder.name} has no run to be compared with: it is the lab's only run of "
        f"{run.experiment.name} at size {run.experiment.size}",
        "name two runs, or pin a baseline: mydyno baseline pin RUN",
    )


def _parsed(text: str) -> re.Match[str]:
    match = _GIVEN.fullmatch(text)
    if match is None:
        raise UsageError(f"{text!r} names no run", "[NAME=]RUN[@FACTOR=LEVEL,...]")
    return match


def _chosen(text: str, labs: Labs) -> Chosen:
    match = _parsed(text)
    run = labs.run(match["run"])
    only = dict(_levels(match["levels"], run.experiment)) if match["levels"] else {}
    attempts = sorted(run.trials(), key=lambda trial: (trial.index, trial.attempt))
    part = Part(match["name"] or "", str(run.folder.resolve()), run.experiment, attempts, only)
    return Chosen(part, run)


def _levels(text: str, experiment: ExperimentRecord) -> Iterator[tuple[str, str]]:
    for pair in re.split(r",(?=[^,=]+=)", text):
        short, equals, level = pair.partition("=")
        if not equals:
            raise UsageError(f"@{text}: {pair} is not FACTOR=LEVEL")
        factor = factor_named(short, tuple(experiment.factors))
        if level not in experiment.factors[factor]:
            known = experiment.factors[factor]
            likely = f"did you mean {near}? " if (near := nearest(level, known)) else ""
            raise UsageError(f"{factor} has no level {level}", f"{likely}it has {', '.join(known)}")
        yield factor, level


def _with_names(sides: list[Chosen], given: Sequence[str | None]) -> list[Chosen]:
    """What has no name gets the shortest that distinguishes it from the others."""
    folders = [Path(one.part.run) for one in sides]
    ways = [
        [", ".join(one.part.only.values()) for one in sides],
        [one.run.experiment.name for one in sides],
        [folder.name for folder in folders],
        [f"{folder.parents[1].name}:{folder.name}" for folder in folders],
        [str(folder) for folder in folders],
    ]
    with_levels = [
        [f"{name} {levels}".strip() for name, levels in zip(way, ways[0], strict=True)] for way in ways[2:]
    ]
    names = next((way for way in [*ways, *with_levels] if all(way) and len(set(way)) == len(way)), ways[2])
    return [
        Chosen(Part(own or name, one.part.run, one.part.experiment, one.part.trials, one.part.only), one.run)
        for one, own, name in zip(sides, given, names, strict=True)
    ]
