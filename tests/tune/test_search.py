"""Heats within a budget, on servers whose rates are known."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from mydyno.core.errors import UsageError
from mydyno.lab.results.store import Lab
from mydyno.lab.spec.search import Prices
from mydyno.lab.spec.search import Search as Spec
from mydyno.tune.confirm import confirm
from mydyno.tune.experiment import Base
from mydyno.tune.history import SERVER_CONFIG, Settings
from mydyno.tune.journal import Journal
from mydyno.tune.reduce import reduce
from mydyno.tune.search import Search
from mydyno.tune.space import Dimension, Space
from mydyno.tune.task import Budget, Task
from tune.known_servers import KnownServers

NAMES = ("a", "b", "c", "d")
SHEET = {"sheet": {SERVER_CONFIG: {"a": 1}}}


def _rate(settings: Mapping[str, Any]) -> float:
    return 1 + 0.5 * settings.get("a", 0) + 0.1 * settings.get("c", 0)


def _task(references: Mapping[str, Settings]) -> Task:
    space = Space(tuple(Dimension(f"server.config.{name}", (0, 1, 2, 3), True) for name in NAMES))
    shipped = {each.path: 0 for each in space.dimensions}
    base = Base("n", "n.yaml", {}, {}, {}, 1, False)
    spec = Spec(space={"server.config.a": [0, 1]}, sampler="random")
    return Task(base, spec, space, shipped, shipped, references, "release", "print")


@pytest.mark.parametrize("minutes", [15, 25])
def test_heats_confirmation_and_removal_end_within_the_budget(tmp_path: Path, minutes: int) -> None:
    task, said = _task(SHEET), list[str]()
    with Lab.open(tmp_path, write=True) as lab:
        bench = KnownServers(lab, _rate)
        journal = Journal(tmp_path, task.folder)
        search = Search(task, bench, journal, Budget(None, minutes * 60, lambda: bench.now), said.append)
        search.run()
        heats = bench.now
        confirmed = confirm(
            task, bench, list(search.scores.values()), search.blocked, search.seconds_left, said.append
        )
        reduce(task, bench, confirmed[-1], len(confirmed), search.seconds_left, said.append)
        assert search.spent_seconds == heats
        assert 0.7 * 60 * minutes < bench.now <= 60 * minutes
        assert "the heats end: confirmation and removal take about" in "\n".join(said)


def test_a_search_without_confirmation_has_the_whole_budget_for_heats(tmp_path: Path) -> None:
    task = _task(SHEET)
    with Lab.open(tmp_path, write=True) as lab:
        bench = KnownServers(lab, _rate)
        journal, budget = Journal(tmp_path, task.folder), Budget(None, 600.0, lambda: bench.now)
        Search(task, bench, journal, budget, lambda text: None, confirms=False).run()
        assert 480 < bench.now <= 600


def test_a_continued_search_counts_the_time_of_earlier_starts(tmp_path: Path) -> None:
    task = _task(SHEET)
    with Lab.open(tmp_path, write=True) as lab:
        bench = KnownServers(lab, _rate)
        for minutes in (5, 5, 10):
            journal = Journal(tmp_path, task.folder)
            budget = Budget(None, minutes * 60, lambda: bench.now)
            Search(task, bench, journal, budget, lambda text: None, confirms=False).run()
            assert 60 * minutes - 120 < bench.now <= 60 * minutes


def test_a_budget_for_less_than_references_and_confirmation_is_refused(tmp_path: Path) -> None:
    task = _task(SHEET)
    with Lab.open(tmp_path, write=True) as lab:
        bench = KnownServers(lab, _rate)
        budget = Budget(None, 100.0, lambda: bench.now)
        with pytest.raises(
            UsageError, match="about 10m 10s: the references, confirmation, removal"
        ) as refused:
            Search(task, bench, Journal(tmp_path, task.folder), budget, lambda text: None).run()
        assert refused.value.hint is not None
        assert "--budget 16m" in refused.value.hint
        assert bench.asked == []


def test_of_servers_that_are_as_fast_the_one_with_the_least_memory_is_the_cheapest(tmp_path: Path) -> None:
    pool = "server.config.innodb_buffer_pool_size"
    space = Space((Dimension(pool, ("256M", "512M", "1G"), True),))
    base = Base("n", "n.yaml", {}, {}, {"innodb_buffer_pool_size": "1G"}, 1, False)
    spec = Spec(
        space={pool: ["256M", "512M", "1G"]},
        sampler="random",
        objectives=("cost",),
        prices=Prices(memory=4.0),
    )
    task = Task(base, spec, space, {pool: "1G"}, {}, {}, "release", "print")
    with Lab.open(tmp_path, write=True) as lab:
        bench = KnownServers(lab, lambda settings: 1.0)
        search = Search(task, bench, Journal(tmp_path, task.folder), Budget(2), lambda text: None)
        search.run()
        [confirmed] = confirm(
            task, bench, list(search.scores.values()), False, search.seconds_left, lambda text: None
        )
    assert confirmed.candidate.settings == {pool: "256M"}
    [against_start] = confirmed.against
    assert against_start.ratio == pytest.approx(4.0, rel=0.05)
    assert against_start.better


def test_without_references_the_first_heat_is_of_candidates(tmp_path: Path) -> None:
    task = _task({})
    with Lab.open(tmp_path, write=True) as lab:
        bench = KnownServers(lab, _rate)
        search = Search(task, bench, Journal(tmp_path, task.folder), Budget(6), lambda text: None)
        search.run()
        assert search.tried == 6
        assert {each.origin for each in search.candidates.values()} == {"start", "random"}
