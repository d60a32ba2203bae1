"""Where the optima are, as a table of text and as numbers for a spreadsheet."""

from __future__ import annotations

import math

import polars as pl

from mydyno.lab.analysis.bootstrap import ends
from mydyno.lab.report.quantities import bracketed
from mydyno.lab.report.views.optima import NO_OPTIMUM, BestLoad, Optima, chance, load_interval
from mydyno.page.format import MISSING, count
from mydyno.page.table import Table

_OF_THE_LAW = (
    *("outcome", "optimum", "optimum_low", "optimum_high", "peak", "peak_low", "peak_high"),
    *("lambda", "sigma", "kappa", "misfit_p"),
)


def optima_table(view: Optima) -> Table:
    """A setting a row: where the fitted law has its optimum, the throughput there, and the best measured."""
    law = (f"optimum, {view.words.load}", f"{view.words.rate_short} there")
    columns = ("setting", *law, "best measured", "fit", "n")
    return Table(columns, tuple(map(_optimum, view.rows)), frozenset({0, 1}))


def _optimum(row: BestLoad) -> tuple[str, ...]:
    best = row.found.best
    measured = f"{count(best.value)} at {best.place}"
    law = row.law
    if law is None:
        return row.setting.title, "not fitted", MISSING, measured, MISSING, str(best.n)
    fit = MISSING if law.misfit_p is None else chance(law.misfit_p)
    if law.outcome != "optimum":
        return row.setting.title, NO_OPTIMUM[law.outcome], MISSING, measured, fit, str(law.n)
    there = f"{count(law.law.at(law.optimum))}{bracketed(*ends(law.peak_interval), count)}"
    return row.setting.title, f"{count(law.optimum)}{load_interval(law)}", there, measured, fit, str(law.n)


def optima_frame(view: Optima) -> pl.DataFrame:
    """One row for each setting that was measured at several loads: the optimum by the fitted Universal
    Scalability Law with its 95% interval and the throughput there, the law's parameters and its lack of fit,
    and the best measured.

    `outcome` says why there is no optimum. An `optimum_high` that is empty where `optimum_low` is not says
    that the interval has no upper end.
    """
    return pl.DataFrame([_numbers(row) for row in view.rows], infer_schema_length=None)


def _numbers(row: BestLoad) -> dict[str, object]:
    law, best = row.law, row.found.best
    fitted: dict[str, object] = dict.fromkeys(_OF_THE_LAW)
    if law is not None:
        peaked = law.outcome == "optimum"
        high = None if law.high is None or math.isinf(law.high) else law.high
        peak = law.peak_interval if peaked else None
        there = law.law.at(law.optimum) if peaked else None
        values = (
            *(law.outcome, law.optimum if peaked else None, law.low, high),
            *(there, *ends(peak)),
            *(law.law.one, law.law.contention, law.law.coherency, law.misfit_p),
        )
        fitted = dict(zip(_OF_THE_LAW, values, strict=True))
    return {
        "point": row.setting.point_id,
        "setting": row.setting.title,
        "n": best.n if law is None else law.n,
        **fitted,
        "best_measured": best.place,
        "best_measured_mean": best.value,
    }
