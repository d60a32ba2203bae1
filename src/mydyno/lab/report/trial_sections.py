"""Each trial's page, told: what its section of the report is filled with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mydyno.lab.analysis.words import Words
from mydyno.lab.report import trial_tables as tables
from mydyno.lab.report.trial_data import COUNTED, MACHINE, SPEED, charts_of
from mydyno.lab.report.views.trial_pages import TrialPage
from mydyno.page.table import Table


@dataclass(frozen=True)
class TrialSection:
    page: TrialPage
    before: TrialPage | None
    after: TrialPage | None
    facts: tuple[tuple[str, str], ...]
    settings: Table
    phases: Table
    statements: Table | None
    time: Table | None
    busy: Table | None
    counted: Table | None
    notes: tuple[str, ...]
    charts: tuple[tuple[str, str], ...]
    """(name, what it shows) of those that are drawn over time."""


def trial_sections(pages: Sequence[TrialPage], words: Words) -> Iterator[TrialSection]:
    few = sum(len(phase.record.statements) for page in pages for phase in page.phases) <= _MOST_STATEMENTS
    for at, page in enumerate(pages):
        yield TrialSection(
            page=page,
            before=pages[at - 1] if at else None,
            after=pages[at + 1] if at + 1 < len(pages) else None,
            facts=tables.facts(page),
            settings=tables.settings_table(page),
            phases=tables.phases_table(page, words),
            statements=tables.statements_table(page, words, all_phases=few),
            time=tables.time_table(page, words),
            busy=tables.busy_table(page, words),
            counted=tables.counted_table(page, words),
            notes=tables.notes(page, words),
            charts=tuple(_over_time(page, words)),
        )


def _over_time(page: TrialPage, words: Words) -> Iterator[tuple[str, str]]:
    told = {
        SPEED: f"{words.rate_short} and p99 latency",
        COUNTED: "Counters of the server",
        MACHINE: "CPU time and disks of the machine",
    }
    for name in charts_of(page):
        if name in told:
            yield name, f"{told[name]} of {page.row.label} over time"


_MOST_STATEMENTS = 3_000
"""Rows for kinds of statement on one page; with more, each trial shows them of its fastest phase alone."""
