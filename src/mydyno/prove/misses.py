"""How often the trials of a run missed InnoDB's buffer pool, from what was sampled while they measured."""

from collections.abc import Mapping
from statistics import median

from mydyno.advisor.excerpt import POOL_READS, POOL_REQUESTS
from mydyno.lab.results.records import TrialRecord
from mydyno.lab.results.run import Run
from mydyno.prove.experiment import FACTOR

_READS, _REQUESTS = f"status.{POOL_READS}", f"status.{POOL_REQUESTS}"


def misses_by_level(run: Run) -> Mapping[str, float]:
    """Level -> the median over its valid trials of the share of page requests that went to the disk."""
    shares_of: dict[str, list[float]] = {}
    for trial in run.trials():
        share = _misses(run, trial) if trial.status == "valid" else None
        if share is not None:
            shares_of.setdefault(trial.levels[FACTOR], []).append(share)
    return {level: median(shares) for level, shares in shares_of.items()}


def _misses(run: Run, trial: TrialRecord) -> float | None:
    """None where the samples do not have it."""
    measured = [
        (phase.measured_from_s, phase.measured_to_s)
        for phase in trial.phases
        if phase.measured_from_s is not None and phase.measured_to_s is not None
    ]
    samples = run.samples(trial.trial_id, columns=("t_s", _READS, _REQUESTS))
    if {"t_s", _READS, _REQUESTS} - set(samples.columns):
        return None
    reads = requests = 0.0
    for begin, end in measured:
        inside = samples.filter((samples["t_s"] >= begin) & (samples["t_s"] <= end)).drop_nulls()
        if len(inside) > 1:
            reads += float(inside[_READS][-1] - inside[_READS][0])
            requests += float(inside[_REQUESTS][-1] - inside[_REQUESTS][0])
    return reads / requests if requests > 0 else None
