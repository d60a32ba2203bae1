"""The list of a lab's runs: the state of each, and those that a search is for. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlencode

from mydyno.lab.results.overviews import RunFacets
from mydyno.lab.results.run_rows import DamagedRun, RunSummary
from mydyno.page.format import printable
from mydyno.serve.progress import Progress

State = Literal["running", "finished", "not finished", "imported", "damaged"]
STATES: tuple[State, ...] = ("running", "finished", "not finished", "imported", "damaged")
PAGE = 100
"""Runs on a page of the list."""


@dataclass(frozen=True)
class Listed:
    """One run in the list."""

    folder: str
    experiment: str
    size: str
    made: str
    """ISO 8601, UTC; empty where it is damaged."""
    state: State
    planned: int
    valid: int
    invalid: int
    facets: RunFacets
    left_seconds: float | None = None
    fault: str = ""

    @property
    def done(self) -> int:
        return self.valid + self.invalid

    @property
    def words(self) -> str:
        """What a search looks in, in lower case."""
        levels = " ".join(" ".join((name, *of)) for name, of in self.facets.factors.items())
        texts = (self.folder, self.experiment, self.size, self.state, self.made, self.facets.question, levels)
        return " ".join((*texts, *self.facets.releases)).lower()


@dataclass(frozen=True)
class Query:
    """What is searched for; empty fields are met by every run."""

    text: str = ""
    factor: str = ""
    release: str = ""
    state: str = ""
    page: int = 1

    def meets(self, run: Listed) -> bool:
        return (
            (not self.factor or self.factor in run.facets.factors)
            and (not self.release or self.release in run.facets.releases)
            and (not self.state or self.state == run.state)
            and all(word in run.words for word in self.text.lower().split())
        )

    def address(self, page: int) -> str:
        """The address of a page of the same search."""
        fields = {"q": self.text, "factor": self.factor, "release": self.release, "state": self.state}
        return "/?" + urlencode({**{name: value for name, value in fields.items() if value}, "page": page})


@dataclass(frozen=True)
class Overview:
    """A page of the list."""

    runs: tuple[Listed, ...]
    met: int
    """Runs that the query is met by, on all pages."""
    total: int
    trials: int
    """Of all runs of the lab."""
    pages: int
    factors: tuple[str, ...]
    releases: tuple[str, ...]
    states: tuple[State, ...]
    repeated: frozenset[tuple[str, str]]


def repeated(runs: Iterable[Listed]) -> frozenset[tuple[str, str]]:
    """Experiments, with their sizes, that were run more than once: what may have a trend."""
    measured = Counter((run.experiment, run.size) for run in runs if run.done)
    return frozenset(key for key, times in measured.items() if times > 1)


def listed(
    summaries: Iterable[RunSummary | DamagedRun],
    facets: Mapping[str, RunFacets],
    running: str | None,
    progress: Progress | None,
) -> tuple[Listed, ...]:
    """Every run, as it was given; `running`: the folder of the one that is under way, and its progress."""
    return tuple(_listed(each, facets.get(each.folder, RunFacets()), running, progress) for each in summaries)


def _listed(
    run: RunSummary | DamagedRun, facets: RunFacets, running: str | None, progress: Progress | None
) -> Listed:
    shown = RunFacets(
        printable(facets.question),
        {printable(name): tuple(map(printable, levels)) for name, levels in facets.factors.items()},
        tuple(map(printable, facets.releases)),
    )
    if isinstance(run, DamagedRun):
        name = printable(run.folder)
        return Listed(run.folder, name, "", "", "damaged", 0, 0, 0, shown, fault=printable(run.fault))
    is_running = run.folder == running
    state: State = "running" if is_running else "imported" if run.imported else "not finished"
    if run.finished and state == "not finished":
        state = "finished"
    return Listed(
        folder=run.folder,
        experiment=printable(run.experiment),
        size=printable(run.size),
        made=printable(run.created_at),
        state=state,
        planned=run.planned,
        valid=run.valid,
        invalid=run.invalid,
        facets=shown,
        left_seconds=progress.left_seconds() if is_running and progress is not None else None,
    )


def searched(runs: Sequence[Listed], query: Query) -> Overview:
    """The page of the runs that the query is met by."""
    met = [run for run in runs if query.meets(run)]
    pages = max(1, -(-len(met) // PAGE))
    page = min(max(1, query.page), pages)
    return Overview(
        runs=tuple(met[(page - 1) * PAGE : page * PAGE]),
        met=len(met),
        total=len(runs),
        trials=sum(run.done for run in runs),
        pages=pages,
        factors=tuple(sorted({name for run in runs for name in run.facets.factors})),
        releases=tuple(sorted({name for run in runs for name in run.facets.releases})),
        states=tuple(state for state in STATES if any(run.state == state for run in runs)),
        repeated=repeated(runs),
    )
