"""docs/reference/old-advice.md: what the guides say, with the rule that says what holds today."""

import re
from pathlib import Path

from mydyno.advisor import RULES

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "reference" / "old-advice.md").read_text()
ROWS = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| ")][1:]


def test_every_point_of_the_guides_has_rules_that_are_there() -> None:
    known = {rule.id for rule in RULES}
    named = {name for row in ROWS for name in re.findall(r"`([^`]+)`", row[2])}
    assert len(ROWS) > 15
    assert all(len(row) == 3 for row in ROWS)
    assert named - known == set()


def test_the_experiments_that_it_names_are_shipped() -> None:
    for path in re.findall(r"`(experiments/[^`]+)`", PAGE):
        assert (ROOT / path).is_file(), path
