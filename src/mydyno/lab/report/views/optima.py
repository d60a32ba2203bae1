"""Where each setting has its optimum: by the fitted law with its interval, and as measured."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from mydyno.lab.analysis.optimum import Optimum, optimum
from mydyno.lab.analysis.scalability import FEWEST_LOADS, LEVEL_WITHIN, Outcome, Scalability
from mydyno.lab.analysis.words import Words
from mydyno.lab.report.evidence import Evidence, Setting
from mydyno.page.format import capitalised, count, interval, number

NO_OPTIMUM: Mapping[Outcome, str] = {
    "open": "not shown: may still be rising",
    "rising": "none: still rising",
    "falling": "none: falls from the first load",
    "level": "none: level",
    "misfit": "none: the law does not fit",
}
"""Why there is none, in a table."""

SENTENCES = 4
"""Settings of which each gets a sentence; of more there is only the table."""


@dataclass(frozen=True)
class BestLoad:
    setting: Setting
    found: Optimum

    @property
    def law(self) -> Scalability | None:
        return self.found.law


@dataclass(frozen=True)
class Optima:
    words: Words
    rows: tuple[BestLoad, ...]
    """One for each setting that was measured at several loads; none where the load came at a given rate."""

    @property
    def fitted(self) -> bool:
        return any(row.law for row in self.rows)

    def of(self, setting: Setting) -> Scalability | None:
        return next((row.law for row in self.rows if row.setting == setting), None)

    @property
    def sentences(self) -> tuple[str, ...]:
        if not self.fitted:
            most = max((len(row.found.loads) for row in self.rows), default=0)
            return (f"{capitalised(_too_few(most))}.",) * bool(self.rows)
        if len(self.rows) > SENTENCES:
            return ()
        if len(self.rows) == 1:
            return (f"{capitalised(best_load_text(self.rows[0], self.words))}.",)
        return tuple(f"{row.setting.title}: {best_load_text(row, self.words)}." for row in self.rows)


def optima(evidence: Evidence) -> Optima:
    rows = []
    for setting in evidence.settings:
        found = optimum(evidence.trials, setting.point_id, evidence.words.rate)
        if found is not None and len(found.loads) > 1 and not _given(evidence, setting):
            rows.append(BestLoad(setting, found))
    return Optima(evidence.words, tuple(rows))


def _given(evidence: Evidence, setting: Setting) -> bool:
    """The load came at a given rate, which is not a result."""
    phases = (phase for trial in evidence.trials_of(setting.point_id) for phase in trial.phases)
    return any(phase.latency_kind == "response" for phase in phases)


def best_load_text(row: BestLoad, words: Words) -> str:
    """`optimum at 62 connections (95% CI 48 to 81), ...`, or why there is none."""
    law = row.law
    if law is None:
        return _too_few(len(row.found.loads))
    none = f"no optimum within {words.span(law.loads[0], law.loads[-1])}"
    best = f"the best measured is {words.amount(row.found.best.place)}"
    match law.outcome:
        case "optimum":
            peak = _peak(law, words)
            return f"optimum at {words.amount(count(law.optimum))}{load_interval(law)}, {peak}, n={law.n}"
        case "open":
            return (
                f"{none} is shown: the fitted law puts it at {count(law.optimum)}, but throughput may still "
                f"be rising beyond the last load; {best}, n={law.n}"
            )
        case "rising":
            return f"{none}: throughput is still rising, n={law.n}"
        case "falling":
            return f"{none}: throughput falls from the first load, n={law.n}"
        case "level":
            return f"{none}: throughput is level, within {LEVEL_WITHIN * 100:g}%, n={law.n}"
        case "misfit":
            return f"the scalability law does not fit ({chance(law.misfit_p)}): {best}{_ties(row)}, n={law.n}"


def _too_few(loads: int) -> str:
    return f"no optimum is fitted: at least {FEWEST_LOADS} loads are needed, and {loads} were measured"


def load_interval(law: Scalability) -> str:
    """` (95% CI 48 to 81)`, its ends outwards to whole numbers; empty with fewer than three trials."""
    if law.low is None or law.high is None:
        return ""
    if math.isinf(law.high):
        return f" (95% CI from {count(math.floor(law.low))} on)"
    return f" (95% CI {interval(math.floor(law.low), math.ceil(law.high), count)})"


def chance(p: float | None) -> str:
    """`p = 0.03`, `p < 0.001`"""
    if p is None:
        return "p unknown"
    return "p < 0.001" if p < 0.001 else f"p = {number(p, 1 if p < 0.1 else 2)}"


def _peak(law: Scalability, words: Words) -> str:
    peak = law.peak_interval
    error = "" if peak is None else f" ({interval(peak.low, peak.high, count)})"
    return f"where the fitted law has {count(law.law.at(law.optimum))} {words.rate_short}{error}"


def _ties(row: BestLoad) -> str:
    if not row.found.ties:
        return ""
    return f", not distinguishable from {', '.join(map(str, row.found.ties))}"
