"""The sentences and the numbers in docs/reference/statistics.md are what the code says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lab.analysis.coverage_study import METHODS, NOISES, coverage
from mydyno.lab.analysis import bootstrap
from mydyno.lab.analysis.bootstrap import Interval
from mydyno.lab.analysis.metrics import LATENCY_P95, QUERIES_PER_SECOND, RUNNING_TIME, Metric
from mydyno.lab.analysis.ratio import Ratio
from mydyno.lab.analysis.standard import LABELS
from mydyno.lab.analysis.verdict import Side, judge

DOCUMENT = (Path(__file__).parents[3] / "docs" / "reference" / "statistics.md").read_text(encoding="utf-8")
SENTENCES = re.findall(r"```text\n(.*?)```", DOCUMENT, re.DOTALL)[0].splitlines()

CASES: list[tuple[Metric, float, float, float, float, int]] = [
    (QUERIES_PER_SECOND, 1.123, 1.094, 1.148, 0.001, 5),
    (QUERIES_PER_SECOND, 0.88, 0.85, 0.91, 0.001, 5),
    (LATENCY_P95, 0.8, 0.75, 0.85, 0.001, 5),
    (QUERIES_PER_SECOND, 1.01, 1.004, 1.016, 0.001, 5),
    (QUERIES_PER_SECOND, 1.004, 0.988, 1.0207, 0.4, 5),
    (QUERIES_PER_SECOND, 1.05, 0.97, 1.14, 0.2, 3),
    (QUERIES_PER_SECOND, 1.016, 0.865, 1.19, 0.6, 3),
    (RUNNING_TIME, 0.88, 0.85, 0.91, 0.001, 5),
]


@pytest.mark.parametrize(("sentence", "case"), list(zip(SENTENCES, CASES, strict=True)))
def test_every_sentence_in_the_guide_is_said(
    sentence: str, case: tuple[Metric, float, float, float, float, int]
) -> None:
    metric, value, low, high, p, n = case
    ratio = Ratio(n, n, True, value, Interval(low, high), p, 0.065)
    assert judge(ratio, Side("450"), Side("8"), metric).sentence == sentence


def test_the_guide_names_every_durability_and_the_number_of_resamples() -> None:
    text = re.sub(r"\s+", " ", DOCUMENT)
    assert all(f"`{label}`" in text for label in LABELS)
    assert f"{bootstrap._RESAMPLES:,} resamples" in text


@pytest.mark.slow
@pytest.mark.parametrize("name", ["percentile bootstrap", "**smoothed symmetric bootstrap-t**"])
def test_the_first_table_of_the_guide_can_be_made_again(name: str) -> None:
    table = DOCUMENT[DOCUMENT.index("| normal |") :].splitlines()[:7]
    (shares,) = [line.split(" | ")[1:] for line in table if line.startswith(f"| {name} |")]
    made = [coverage(METHODS[name], NOISES["normal"], n, 4000) for n in (3, 4, 5, 8, 20)]
    assert [f"{100 * share:.1f}" for share in made] == [share.rstrip(" |") for share in shares]
