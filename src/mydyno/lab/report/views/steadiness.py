"""Whether what was measured was steady: within phases, and over the run."""

from __future__ import annotations

from collections.abc import Iterator

from mydyno.core.plurals import agreeing, counted
from mydyno.lab.analysis.places import place_of
from mydyno.lab.analysis.primary import primary_metric
from mydyno.lab.analysis.run_drift import run_drift
from mydyno.lab.analysis.steady import LEAST_INTERVALS
from mydyno.lab.report.evidence import Evidence


def steady_parts(evidence: Evidence) -> Iterator[str]:
    """Of how many phases the steady part was looked for, and of how many a warm-up was left out."""
    phases = [
        phase
        for trial in evidence.trials
        for phase in trial.phases
        if place_of(phase) not in evidence.programs and phase.measured_from_s is not None
    ]
    if not phases or evidence.experiment.imported:
        return
    judged = [phase for phase in phases if phase.steady_from_s is not None]
    if not judged:
        yield (
            "No phase was judged steady or not: that takes phases that last for a time and have at least "
            f"{LEAST_INTERVALS} intervals."
        )
        return
    cut = sum(phase.steady_from_s != phase.measured_from_s for phase in judged)
    left_out = f"; of {cut} of them the beginning was left out as warm-up" if cut else ""
    known = f"{len(judged)} of {counted(len(phases), 'phase')} {agreeing(len(judged), 'is')} known"
    yield f"{known} to be steady (MSER-5){left_out}."


def drift_of_run(evidence: Evidence) -> Iterator[str]:
    """A drift from the first trial to the last, with its size."""
    if evidence.experiment.imported:
        return
    metric = primary_metric(evidence.trials, evidence.experiment.work)
    found = run_drift(evidence.trials, metric)
    if found is None or not found.found:
        return
    way = "fell" if found.change < 0 else "rose"
    yield (
        f"The {metric.noun} {way} by {abs(found.change) * 100:.0f}% from the first trial to the last "
        f"(seasonal Kendall test within points, p {_p(found.p_value)}): something beside the factors "
        "changed. Shuffled blocks spread it over all points."
    )


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"
