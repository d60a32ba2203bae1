"""The guide shows workloads that work, the answers that mydyno gives, and the reference of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mydyno.core.document.problems import SpecErrors
from mydyno.lab import workload
from mydyno.lab.workload.reference import with_reference

GUIDE = Path(__file__).parents[3] / "docs" / "reference" / "workloads.md"
EXAMPLES = re.findall(r"```yaml\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("text", EXAMPLES, ids=lambda text: text.split("\n")[0].removeprefix("workload: "))
def test_an_example_of_the_guide_is_a_workload_that_sends_something(text: str) -> None:
    resolved = workload.reads(text, "workloads.md", GUIDE.parent).resolve({})
    assert resolved.statements_per_event >= 1
    assert resolved.tables


def test_the_first_example_of_the_guide_is_as_short_as_promised() -> None:
    assert len(EXAMPLES) == 5
    assert len(EXAMPLES[0].splitlines()) <= 22


def test_the_guide_shows_the_very_answer_to_its_wrong_file() -> None:
    wrong = re.search(
        r"```yaml \(wrong\)\n(.*?)```.*?```text\n(.*?)\n```", GUIDE.read_text("utf-8"), re.DOTALL
    )
    assert wrong is not None
    with pytest.raises(SpecErrors) as caught:
        workload.reads(wrong.group(1), "shop.yaml")
    assert str(caught.value) == wrong.group(2)


def test_the_reference_in_the_guide_is_up_to_date() -> None:
    guide = GUIDE.read_text("utf-8")
    assert with_reference(guide) == guide, "run: make docs"


def test_a_document_without_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="reference: begin"):
        with_reference("# No markers\n")
