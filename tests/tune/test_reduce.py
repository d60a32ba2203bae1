"""Removal of settings that do not matter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mydyno.lab.results.store import Lab
from mydyno.lab.spec.search import Search
from mydyno.tune.confirm import Confirmation
from mydyno.tune.experiment import Base
from mydyno.tune.history import SERVER_CONFIG, Candidate
from mydyno.tune.reduce import Reduced, reduce
from mydyno.tune.space import Space
from mydyno.tune.task import Budget, Task
from tune.builders import gain
from tune.known_servers import KnownServers, Rate

NAMES = ("a", "b", "c", "d")


@pytest.fixture
def reduced(tmp_path: Path) -> Iterator[Callable[..., tuple[Reduced, list[str]]]]:
    """The four settings of a winner reduced, and the experiments that this took. It sets a fifth to what the
    release ships."""
    settings = {**dict.fromkeys(NAMES, 1), "e": "8M"}
    winner = Candidate(number=1, origin="gp", settings={SERVER_CONFIG: settings}, point={})
    shipped = {"server.config.e": 8 << 20}
    base = Base("n", "n.yaml", {}, {}, {}, 1, False)
    task = Task(
        base, Search(space={"server.config.a": [0, 1]}), Space(()), {}, shipped, {}, "release", "print"
    )
    confirmed = Confirmation(winner, (gain("start", 1.5),), "run", None)
    with Lab.open(tmp_path / "lab", write=True) as lab:

        def made(rate: Rate, seconds: float | None = None) -> tuple[Reduced, list[str]]:
            bench = KnownServers(lab, rate)
            budget = Budget(seconds=seconds, clock=lambda: bench.now)
            left = partial(budget.seconds_left, 0.0)
            return reduce(task, bench, confirmed, 1, left, lambda text: None), bench.asked

        yield made


def _left(found: Reduced) -> set[str]:
    return {path.removeprefix("server.config.") for path in found.settings}


def test_what_does_not_matter_is_removed_at_once(reduced: Any) -> None:
    found, asked = reduced(lambda settings: 1 + 0.5 * settings.get("a", 0) + 0.3 * settings.get("c", 0))
    assert _left(found) == {"a", "c"}
    assert [worth.path for worth in found.worth][:2] == ["server.config.a", "server.config.c"]
    assert "server.config.e" not in {worth.path for worth in found.worth}
    assert asked == ["n-worth", "n-left-2"]
    assert found.gain.low > 1.7
    assert 0.95 < found.of_all.low < 1 < found.of_all.high < 1.05


def test_of_two_that_do_the_same_work_one_stays(reduced: Any) -> None:
    """Neither is missed while the other is there, so both are removed at first."""

    def rate(settings: Mapping[str, Any]) -> float:
        either = "b" in settings or "c" in settings
        return 1 + 0.5 * settings.get("a", 0) + 0.3 * either

    found, asked = reduced(rate)
    assert _left(found) in ({"a", "b"}, {"a", "c"})
    assert asked == ["n-worth", "n-left-1", "n-less-4", "n-less-3", "n-less-2", "n-left-2"]


@pytest.mark.parametrize(
    ("seconds", "measured", "count"),
    [(505, ["n-worth", "n-left-1", "n-less-4", "n-left-3"], 3), (100, ["n-worth", "n-left-1"], 4)],
)
def test_without_time_settings_are_not_removed_one_by_one(
    reduced: Any, seconds: float, measured: list[str], count: int
) -> None:
    """25 trials for what each is worth, 15 for removing three at once, and 10 for one, of 10 s."""

    def rate(settings: Mapping[str, Any]) -> float:
        return 1 + 0.5 * settings.get("a", 0) + 0.3 * ("b" in settings or "c" in settings)

    found, asked = reduced(rate, seconds)
    assert asked == measured
    assert len(_left(found)) == count


def test_where_any_of_them_is_enough_one_is_left(reduced: Any) -> None:
    found, asked = reduced(lambda settings: 1.5 if settings else 1)
    assert len(_left(found)) == 1
    assert asked == ["n-worth", "n-left-1"]


def test_where_all_matter_nothing_more_is_measured(reduced: Any) -> None:
    found, asked = reduced(lambda settings: 1 + 0.5 * sum(settings.values()))
    assert _left(found) == set(NAMES)
    assert (asked, found.of_all, found.gain) == (["n-worth"], None, gain("start", 1.5))
