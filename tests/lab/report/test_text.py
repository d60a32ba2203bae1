"""The terminal summary and the Markdown, to the letter.

`python tests/lab/report/regenerate_golden.py` writes the golden texts anew.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from lab.report.builders import MemoryRun, sql_bench_run, storage_run, thread_cache_run
from lab.report.costs import with_costs
from lab.report.releases import releases_run
from lab.report.transactions import with_transactions
from mydyno.core.markdown import escaped
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.figures import figures
from mydyno.lab.report.text import markdown, summary
from mydyno.lab.report.views.page import page
from mydyno.lab.results.records import Remark

GOLDEN = Path(__file__).parent / "golden"


@cache
def golden_texts() -> dict[str, str]:
    run = thread_cache_run(connections=(10, 100, 400))
    several = thread_cache_run(connections=(10, 400), repeats=3, levels=(8, 64, 450), invalid=())
    single = thread_cache_run(connections=(10, 400), repeats=1, invalid=())
    programs = sql_bench_run(
        repeats=3, engines={"InnoDB": 1.0, "MyISAM": 0.8}, programs=("ATIS", "insert", "select")
    )
    return {
        "summary.txt": summary(run),
        "summary-three-settings.txt": summary(several),
        "summary-one-repetition.txt": summary(single),
        "summary.md": as_markdown(run),
        "summary-programs.txt": summary(programs),
        "summary-programs.md": as_markdown(programs),
        "summary-storage.txt": summary(storage_run()),
        "summary-storage.md": as_markdown(storage_run()),
        "summary-releases.txt": summary(crossed()),
        "summary-releases.md": as_markdown(crossed()),
        "summary-costs.txt": summary(with_costs(several, {"p1": 1.0, "p2": 1.0, "p3": 1.11}), 80),
        "summary-costs.md": as_markdown(with_costs(run, {"p1": 1.0, "p2": 1.11})),
        "summary-transactions.txt": summary(with_transactions(single)),
        "summary-transaction.txt": summary(with_transactions(single, {"round": 1.0}), 80),
        "summary-transactions.md": as_markdown(with_transactions(single)),
    }


def crossed() -> MemoryRun:
    """Two factors, loads of three kinds, columns of unlike durability, and a row without a valid trial."""
    return releases_run(
        durability={"mariadb-11.8": "loses up to 1 s on OS crash"}, invalid=[("mysql-9.7", "sql-bench")]
    )


def as_markdown(run: MemoryRun) -> str:
    view = page(gather(run))
    return markdown(view, figures(view))


@pytest.mark.parametrize(
    "name",
    [
        "summary.txt",
        "summary-three-settings.txt",
        "summary-one-repetition.txt",
        "summary.md",
        "summary-programs.txt",
        "summary-programs.md",
        "summary-storage.txt",
        "summary-storage.md",
        "summary-releases.txt",
        "summary-releases.md",
        "summary-costs.txt",
        "summary-costs.md",
        "summary-transactions.txt",
        "summary-transaction.txt",
        "summary-transactions.md",
    ],
)
def test_the_text_is_the_golden_one(name):
    assert golden_texts()[name] == (GOLDEN / name).read_text()


def test_the_summary_fits_the_terminal_and_has_no_control_character():
    run = thread_cache_run(repeats=3, connections=(10,), invalid=())
    steering = replace(
        run, experiment=replace(run.experiment, name="x\x1b[31m", question="[bold]why[/bold] " * 30)
    )
    for width in (60, 110):
        lines = summary(steering, width).splitlines()
        assert max(map(len, lines)) <= width
    text = summary(steering)
    assert "\x1b" not in text
    assert "[bold]why[/bold]" in text, "markup of the display is shown, not obeyed"


def test_a_run_without_a_trial_has_a_summary():
    text = summary(replace(thread_cache_run(repeats=1), records=()))
    assert "No verdict: no trial has been run yet." in text


def test_markdown_acts_on_nothing_that_a_user_wrote():
    assert escaped("a|b *c* <i> `d` [e](f)\ng") == r"a\|b \*c\* \<i\> \`d\` \[e\](f) g"
    assert escaped("thread_cache_size = 8, _x_") == r"thread_cache_size = 8, \_x\_"


def test_the_experiment_file_cannot_leave_its_code_block():
    run = thread_cache_run(repeats=1, connections=(10,))
    text = "before\n```\n# not a heading\n````\nafter"
    output = as_markdown(replace(run, experiment=replace(run.experiment, spec_text=text)))
    assert f"`````yaml\n{text}\n`````\n" in output


def test_a_terminal_shows_a_few_remarks_and_how_many_more_there_are():
    run = storage_run()
    (mark, _) = run.records[1].remarks
    marks = [replace(mark, message=f"{number} of 10 s are idle") for number in range(len(run.records))]
    marked = replace(
        run,
        records=tuple(replace(each, remarks=(own,)) for each, own in zip(run.records, marks, strict=True)),
    )
    text = summary(marked)
    shown = [line.split(" (t0")[0] for line in text.splitlines() if line.startswith("WARNING")]
    assert shown == [f"WARNING {mark.check}: {number} of 10 s are idle" for number in range(6)]
    assert text.count(" (t0") == 6
    assert "3 more warnings: see the report" in text


def test_a_warning_that_many_trials_share_is_shown_once_with_their_number():
    run = thread_cache_run()
    shared = [Remark(check="drift", message="throughput falls", phase=phase) for phase in (0, 1)]
    first, *others = run.records
    marked = replace(
        run,
        records=(
            replace(first, remarks=(Remark(check="clock", message="went back", phase=1),)),
            *(replace(each, remarks=tuple(shared)) for each in others),
        ),
    )
    lines = [line for line in summary(marked).splitlines() if line.startswith("WARNING")]
    every, number = len(run.records), first.phases[1].connections_asked
    assert lines == [
        f"WARNING drift in 2 phases: throughput falls ({every - 1} of {every} trials)",
        f"WARNING clock at {number} connections: went back (t001, thread_cache_size = 450)",
    ]
    assert f"- **WARNING** clock at {number} connections: went back (t001)" in as_markdown(marked)


def test_each_attempt_at_a_trial_counts_among_those_that_share_a_warning():
    run = thread_cache_run()
    first = replace(run.records[0], remarks=(Remark(check="clock", message="went back"),))
    marked = replace(run, records=(first, replace(first, attempt=2), *run.records[1:]))
    [shared] = page(gather(marked)).trials.warnings
    assert shared.labels == "t001, t001, attempt 2"
