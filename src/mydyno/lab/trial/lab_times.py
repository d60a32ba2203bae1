"""What earlier trials took, for the next plan: from the lab, and from one file of mydyno's cache.

The cache holds a JSON object a line, without names, settings or paths. Losing it costs nothing but the
accuracy of the next plan, so one that cannot be read or written is passed over in silence.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from mydyno.core.errors import LabError
from mydyno.core.facts import HostFacts
from mydyno.core.folders import cache_folder
from mydyno.lab.plan import TrialTime, time_of
from mydyno.lab.plan.estimate import estimate, made_once
from mydyno.lab.plan.point import Point
from mydyno.lab.results.run import Run
from mydyno.lab.results.store import Lab
from mydyno.machine.environment import read_environment

KEPT = 1000
_LONGEST_BYTES = 512 * 1024
"""Beyond it the file is cut to the last `KEPT` trials."""


_LOOKED_AT = 50
"""The newest runs of a lab that are looked at."""
_POINTS = TypeAdapter(tuple[Point, ...])


def time_cache() -> Path:
    return cache_folder("trial-times.jsonl")


def read_times(path: Path) -> tuple[TrialTime, ...]:
    """Oldest first. Lines that are not of this format are left out."""
    times = []
    with suppress(OSError):
        for line in path.read_bytes().splitlines()[-KEPT:]:
            with suppress(ValidationError):
                times.append(TrialTime.model_validate_json(line))
    return tuple(times)


def add_time(path: Path, time: TrialTime) -> None:
    """Appends one trial. Two that are run at once do not disturb each other: a short line is one write."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab", buffering=0) as file:
            file.write(time.model_dump_json().encode() + b"\n")
        if path.stat().st_size > _LONGEST_BYTES:
            partial = path.with_suffix(".partial")
            partial.write_bytes(b"".join(line + b"\n" for line in path.read_bytes().splitlines()[-KEPT:]))
            partial.replace(path)


def past_times(lab: Path, facts: HostFacts, *, trust: bool = False) -> tuple[TrialTime, ...]:
    """What earlier trials took on this machine: those of the lab, then those of the cache."""
    cached = read_times(time_cache())
    known = {(time.point, time.seconds) for time in cached}
    return (
        *(time for time in lab_times(lab, facts, trust=trust) if (time.point, time.seconds) not in known),
        *cached,
    )


def lab_times(lab: Path, facts: HostFacts, *, trust: bool = False) -> tuple[TrialTime, ...]:
    """Those of valid trials that ran on a machine like this one (`facts`), oldest first.

    Nothing where there is no lab, or one that cannot be read or, without `trust`, is another user's; a run
    whose plan this version cannot read is left out.
    """
    model = read_environment(lab).cpu_model
    try:
        with Lab.open(lab, write=False, trust=trust) as opened:
            runs = [run for run in opened.runs()[:_LOOKED_AT] if not run.experiment.imported]
            return tuple(
                time
                for run in reversed(runs)
                if _is_of(run, model, facts.cpus)
                for time in _times(run, _points(run), facts)
            )
    except LabError:
        # A lab that cannot be read is an error of `run`; a plan needs none.
        return ()


def _is_of(run: Run, model: str | None, cpus: int) -> bool:
    """Whether it ran on such CPUs: a lab may have runs of another machine, from a bundle."""
    environment = run.environment()
    return (environment.get("cpu.model"), environment.get("cpu.usable")) == (model, cpus)


def _points(run: Run) -> tuple[Point, ...]:
    try:
        return _POINTS.validate_json(json.dumps(json.loads(run.plan_json())["points"]))
    except (LabError, ValidationError, ValueError, KeyError, TypeError):
        return ()


def _times(run: Run, points: Sequence[Point], facts: HostFacts) -> Iterator[TrialTime]:
    """Without trials in which a dataset or frozen disks may have been made: a lab does not say how long that
    took."""
    if not points:
        return
    costs = estimate(points, points, facts.shares_blocks).trials
    by_id = {point.id: point for point in points}
    made: set[str] = set()
    for trial in run.trial_seconds():
        point = by_id.get(trial.point_id)
        if point is None:
            continue
        needed = made_once(point)
        if trial.valid and needed <= made:
            yield time_of(point, costs[point.id], trial.seconds)
        made |= needed
