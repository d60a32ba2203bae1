"""What a plan will be able to see, from how much earlier trials of the lab differed."""

import json
import math
from collections.abc import Iterator
from pathlib import Path

from mydyno.core.errors import LabError
from mydyno.core.plurals import counted
from mydyno.lab.analysis.bootstrap import LEVEL
from mydyno.lab.analysis.precision import POWER, Spread, smallest_difference, spread_of
from mydyno.lab.analysis.sequential import nominal_level
from mydyno.lab.plan import Plan
from mydyno.lab.results.run import Run
from mydyno.lab.results.store import Lab

ASSUMED = (0.01, 0.03, 0.1)
"""Standard deviations of a trial, as shares, where no earlier trial gives one."""
_LOOKED_AT = 50
"""The newest runs, among which one with the same load is sought."""


def power_sentence(plan: Plan, lab: Path) -> str | None:
    """`5 repetitions see differences of 4% or more...`; None when the plan compares nothing."""
    if sum(point.control_of is None for point in plan.points) < 2:
        return None
    found = _earlier(plan, lab)
    chance = f"{POWER:.0%}"
    if found is not None:
        run, spread = found
        seen = _smallest(plan, spread.value, spread.paired)
        source = f"spread of {spread.trials} trials of {run}: {_percent(spread.value)} from trial to trial"
        return f"{_repetitions(plan)} {_sees(seen)} with {chance} power ({source})"
    # Two trials of a block are compared: both spread.
    assumed_spreads = [_smallest(plan, math.sqrt(2) * spread, paired=True) for spread in ASSUMED]
    differences = [seen for seen in assumed_spreads if seen is not None]
    if not differences:
        return f"{_repetitions(plan)} {_sees(None)}"
    listed = ", ".join(map(_percent, differences))
    assumed = ", ".join(f"{spread:.0%}" for spread in ASSUMED)
    return (
        f"{_repetitions(plan)} have a minimum detectable effect of {listed} with {chance} power if trials of "
        f"the same point differ by {assumed} (no earlier results in {lab})"
    )


def _smallest(plan: Plan, spread: float, paired: bool) -> float | None:
    first, most = plan.design.first_look, plan.design.at_most
    level = LEVEL if first is None or most is None else nominal_level(first, most)
    return smallest_difference(spread, plan.blocks, paired, level=level)


def _earlier(plan: Plan, lab: Path) -> tuple[str, Spread] | None:
    """The newest run with a spread: of the same experiment and size, else of the same experiment, else of the
    same load."""
    try:
        with Lab.open(lab, write=False) as opened:
            runs = opened.runs()[:_LOOKED_AT]
            for run in dict.fromkeys(_by_likeness(plan, runs)):
                if (spread := spread_of(list(run.trials()), run.experiment)) is not None:
                    return run.folder.name, spread
    except LabError:
        # A lab that cannot be read is an error of `run`; a plan needs none.
        return None
    return None


def _by_likeness(plan: Plan, runs: list[Run]) -> Iterator[Run]:
    same = [run for run in runs if run.experiment.name == plan.experiment_name]
    yield from (run for run in same if run.experiment.size == (plan.size or "full"))
    yield from same
    generators = {point.workload.generator for point in plan.points}
    yield from (run for run in runs if generators & _generators(run))


def _generators(run: Run) -> set[str]:
    """The keys of the workloads in its plan, the generators among them; nothing where it has no plan."""
    try:
        points = json.loads(run.plan_json())["points"]
        return {key for point in points for key in point["workload"]}
    except (LabError, ValueError, KeyError, TypeError):
        return set()


def _repetitions(plan: Plan) -> str:
    at_most = "at most " if plan.design.until is not None else ""
    return f"{at_most}{counted(plan.blocks, 'repetition')}"


def _sees(difference: float | None) -> str:
    return (
        "cannot detect any difference"
        if difference is None
        else f"have a minimum detectable effect of {_percent(difference)}"
    )


def _percent(share: float) -> str:
    """Rounded up to two digits."""
    digits = max(0, 1 - math.floor(math.log10(share * 100))) if share > 0 else 0
    return f"{math.ceil(share * 100 * 10**digits - 1e-9) / 10**digits:.{digits}f}%"
