"""The runs of an experiment that a trend is made of."""

from collections.abc import Sequence
from dataclasses import dataclass

from mydyno.core.errors import UsageError
from mydyno.core.plurals import counted
from mydyno.lab.analysis.trend import Measured, Trend, trends
from mydyno.lab.results.store import Lab

MOST_RUNS = 200


@dataclass(frozen=True)
class ExperimentTrend:
    """One experiment at one size."""

    name: str
    size: str
    trends: Sequence[Trend]


def trend_of(lab: Lab, experiment: str | None, size: str | None, last: int = MOST_RUNS) -> ExperimentTrend:
    """That of the newest `last` runs; without a name of the newest experiment, without a size at that of its
    newest run. Raises UsageError where no point was measured in two runs."""
    newest = lab.find_run(experiment)
    name, wanted = newest.experiment.name, size or newest.experiment.size
    runs = [run for run in lab.runs(name) if run.experiment.size == wanted][:last]
    changes = trends([Measured(run.folder.name, run.experiment, run.trials()) for run in reversed(runs)])
    if not changes:
        raise UsageError(
            f"{counted(len(runs), 'run')} of {name} at size {wanted}: no point was measured in two",
            "`mydyno run FILE --again` measures again; --size names another size",
        )
    return ExperimentTrend(name, wanted, changes)
