"""What each factor explains, as tables of text and as a flat table of numbers; and where
the optima are.
"""

import math

import polars as pl

from mydyno.lab.analysis.bootstrap import Interval, ends
from mydyno.lab.analysis.effects.effects import Effect
from mydyno.lab.analysis.effects.levels import LevelRatio
from mydyno.lab.analysis.effects.sentence import percent, short
from mydyno.lab.report.quantities import bracketed
from mydyno.lab.report.views.effects import EffectsView
from mydyno.lab.report.views.optima import NO_OPTIMUM, BestLoad, Optima, chance, load_interval
from mydyno.page.format import MISSING, count, interval, number
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


_LEVELS = 8
"""Levels of a factor that its cell lists."""


def effects_table(view: EffectsView, between: str = "\n") -> Table:
    """Effects down, by falling share, and the noise; levels of a factor are parted by `between`."""
    rows = [
        (
            label(effect),
            share_text(effect.share, effect.interval),
            p_text(effect),
            between.join(_levels(effect)),
        )
        for effect in view.of.found
    ]
    if view.of.noise is not None:
        rows.append(("noise", share_text(view.of.noise, view.of.noise_interval), "", ""))
    against = "baseline" if view.of.baseline else "the average"
    return Table(
        ("effect", "share of the variance", "p", f"levels, times {against}"), tuple(rows), frozenset({0, 3})
    )


def _levels(effect: Effect) -> list[str]:
    """Of many the lowest and the highest."""
    if len(effect.levels) <= _LEVELS:
        return list(map(level_text, effect.levels))
    ordered = sorted(effect.levels, key=lambda one: one.value or 0)
    return [level_text(ordered[0]), level_text(ordered[-1]), f"({len(ordered)} levels)"]


def label(effect: Effect) -> str:
    """`array`, `array × connections`, and those that it may be instead."""
    if not effect.factors:
        return "all other interactions"
    return " or ".join(" × ".join(map(short, factors)) for factors in (effect.factors, *effect.also))


def share_text(share: float, error: Interval | None) -> str:
    """`71% (64 to 78)`"""
    if error is None:
        return percent(share)
    return f"{percent(share)} ({interval(error.low, error.high, lambda end: percent(end).removesuffix('%'))})"


def p_text(effect: Effect) -> str:
    """Corrected for all that were tested; nothing is ever impossible."""
    if effect.adjusted_p is None:
        return MISSING
    return "< 0.001" if effect.adjusted_p < 0.001 else f"{effect.adjusted_p:.3f}"


def level_text(level: LevelRatio) -> str:
    """`raid10: 1.32 (1.25 to 1.39)`"""
    return f"{level.level}: {number(level.value)}{bracketed(*ends(level.interval))}"


def effects_caption(view: EffectsView) -> str:
    """How to read shares and levels."""
    of = view.of
    parts = [
        f"Share of the variance of {of.metric.noun} (of its logarithm) over {of.trials} valid trials"
        + (f", each at {of.places} {view.words.places_noun}" if of.places > 1 else "")
        + ", corrected for noise (generalised omega squared); in brackets its 95% interval.",
    ]
    if view.tested:
        parts.append("p comes from an F test, corrected for the number of effects (Holm).")
    if of.split:
        parts.append(
            "Factors whose levels stay together in a block were tested against the noise between such groups "
            "of trials, not between trials (split plot)."
        )
    if any(effect.levels for effect in of.found):
        against = "its baseline" if of.baseline else "the geometric mean of the factor's levels"
        parts.append(f"Levels: {of.metric.noun} as a multiple of {against}.")
    return " ".join(parts)


def effects_frame(view: EffectsView) -> pl.DataFrame:
    """One row for each effect and the noise; then one for each level of each factor. Shares are 0 to 1."""
    rows: list[dict[str, object]] = []
    for effect in view.of.found:
        low, high = ends(effect.interval)
        rows.append(
            _row("interaction" if len(effect.factors) != 1 else "factor", label(effect))
            | {
                "factors": " × ".join(effect.factors) or None,
                "share": effect.share,
                "share_low": low,
                "share_high": high,
                "degrees_of_freedom": float(effect.degrees),
                "f": effect.f,
                "error_degrees_of_freedom": effect.error_degrees,
                "p": effect.p_value,
                "p_adjusted": effect.adjusted_p,
            }
        )
    if view.of.noise is not None:
        low, high = ends(view.of.noise_interval)
        rows.append(_row("noise", "noise") | {"share": view.of.noise, "share_low": low, "share_high": high})
    for effect in view.of.found:
        for level in effect.levels:
            low, high = ends(level.interval)
            rows.append(
                _row("level", label(effect))
                | {
                    "factors": " × ".join(effect.factors),
                    "level": level.level,
                    "n": level.n,
                    "ratio": level.value,
                    "ratio_low": low,
                    "ratio_high": high,
                    "durability": (effect.durability or {}).get(level.level),
                }
            )
    return pl.DataFrame(rows, schema=_SCHEMA) if rows else pl.DataFrame()


_NUMBERS = (
    *("share", "share_low", "share_high", "degrees_of_freedom", "f", "error_degrees_of_freedom"),
    *("p", "p_adjusted"),
)
_SCHEMA = {
    **dict.fromkeys(("kind", "effect", "factors"), pl.String),
    **dict.fromkeys(_NUMBERS, pl.Float64),
    "level": pl.String,
    "n": pl.Int64,
    **dict.fromkeys(("ratio", "ratio_low", "ratio_high"), pl.Float64),
    "durability": pl.String,
}


def _row(kind: str, effect: str) -> dict[str, object]:
    return {"kind": kind, "effect": effect}
