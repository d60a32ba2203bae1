"""Options of a report: other columns, another metric, another margin."""

from dataclasses import dataclass

from mydyno.core.errors import UsageError
from mydyno.core.factors import last_part
from mydyno.core.nearest import nearest
from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.analysis.standard import MARGIN
from mydyno.lab.analysis.words import words_of
from mydyno.lab.results.records import Work


@dataclass(frozen=True)
class ReportOptions:
    columns: str | None = None
    """The factor whose levels are compared, by its name or the last part of it; None for the first one."""
    metric: str | None = None
    """The metric that verdicts are about, by its name; None for that of the load."""
    margin: float = MARGIN
    """The equivalence margin: a relative difference within it is none."""
    one_family: bool = False
    """Verdicts of all rows are corrected together, as a gate needs; else those of each row."""


DEFAULTS = ReportOptions()


def factor_named(wanted: str, factors: tuple[str, ...]) -> str:
    """The factor with that name or last part. Raises UsageError when there is none, or several."""
    matches = [name for name in factors if wanted in (name, last_part(name))]
    if len(matches) == 1:
        return matches[0]
    if not factors:
        raise UsageError(f"nothing varies in this experiment, so {wanted} cannot be its columns")
    likely = f"; did you mean {near}?" if (near := nearest(wanted, factors)) else ""
    raise UsageError(
        f"the experiment has no factor {wanted}"
        if not matches
        else f"{wanted} is the end of several factors",
        f"its factors are {', '.join(factors)}{likely}",
    )


def metric_named(wanted: str, work: Work) -> Metric:
    """The metric with that name, of those that such work has. Raises UsageError when there is none."""
    metrics = {metric.name: metric for metric in words_of(work).metrics}
    if wanted in metrics:
        return metrics[wanted]
    likely = f"did you mean {near}? " if (near := nearest(wanted, tuple(metrics))) else ""
    raise UsageError(f"unknown metric {wanted}", f"{likely}this workload has {', '.join(metrics)}")
