"""docs/how-to/designs.md: every experiment in it is planned, and its plans are those of the program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mydyno.core.facts import HostFacts
from mydyno.lab import plan, spec

GUIDE = (Path(__file__).parents[3] / "docs" / "how-to" / "designs.md").read_text("utf-8")
EXPERIMENTS = dict(re.findall(r"```yaml\nexperiment: (\S+)\n(.*?)```", GUIDE, re.DOTALL))
FACTS = HostFacts(memory_bytes=16 * 1024**3, cpus=2, free_disk_bytes=100 * 1024**3)


def planned(name: str, size: str | None = None) -> plan.Plan:
    return plan.make(spec.loads(f"experiment: {name}\n{EXPERIMENTS[name]}", "designs.md", size), FACTS)


@pytest.mark.parametrize(
    ("name", "points", "trials"),
    [
        ("until-known", 2, 40),
        ("with-control", 3, 15),
        ("arrays", 9, 27),
        ("one-at-a-time", 5, 25),
        ("half", 16, 48),
        ("screening", 12, 36),
    ],
)
def test_every_experiment_of_the_guide_has_the_points_that_it_reports(
    name: str, points: int, trials: int
) -> None:
    made = planned(name)
    controls = sum(point.control_of is not None for point in made.points)
    blocks = made.blocks
    wanted = points + (controls if name != "with-control" else 0)
    assert (len(made.points), len(made.trials)) == (wanted, wanted * blocks)
    assert points * blocks == trials


def test_the_guide_leaves_no_experiment_untried() -> None:
    assert len(EXPERIMENTS) == GUIDE.count("```yaml") == 6


def test_the_alias_table_of_the_guide_is_the_one_that_the_plan_shows() -> None:
    [shown] = [block for block in re.findall(r"```text\n(.*?)```", GUIDE, re.DOTALL) if "I = " in block]
    text = plan.render(planned("half", "quarter"))
    lines = [line for line in text.splitlines() if line in shown.splitlines()]
    assert lines == shown.splitlines()


def test_the_level_of_the_looks_that_the_guide_names_is_the_one_that_is_used() -> None:
    from mydyno.lab.analysis.sequential import nominal_level

    [named] = re.findall(r"\(([\d.]+)% for looks after 3 to 20 blocks\)", GUIDE)
    assert float(named) == round(100 * nominal_level(3, 20), 1)
