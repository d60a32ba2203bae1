"""Removal of settings, on servers whose rates are known: a function of their settings, with a noise of 1%."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from lab.results.builders import experiment, phase, save, trial

from mydyno.lab.results.records import PointRecord
from mydyno.lab.results.run import Run
from mydyno.lab.results.store import Lab
from mydyno.lab.spec.search import Search
from mydyno.tune.confirm import Confirmation
from mydyno.tune.experiment import FACTOR, Base
from mydyno.tune.history import SERVER_CONFIG, Candidate
from mydyno.tune.reduce import Reduced, reduce
from mydyno.tune.space import Space
from mydyno.tune.task import Task
from tune.builders import gain

NAMES = ("a", "b", "c", "d")
Rate = Callable[[Mapping[str, Any]], float]


@dataclass
class KnownServers:
    lab: Lab
    rate: Rate
    hosts = 1
    asked: list[str] = field(default_factory=list)

    def refused(self, text: str) -> str | None:
        return None

    def seconds(self, text: str) -> float:
        return 0.0

    def recovery_seconds(self, text: str, level: str) -> float:
        return 0.0

    def measure(self, text: str) -> Run:
        document = yaml.safe_load(text)
        name, levels, noise = document["experiment"], document["factors"][FACTOR], random.Random(text)
        self.asked.append(name)
        points = tuple(
            PointRecord(point_id=f"p{at}", levels={FACTOR: each}, title=each)
            for at, each in enumerate(levels)
        )
        record = replace(
            experiment(f"{len(self.asked):016}"), name=name, factors={FACTOR: tuple(levels)}, points=points
        )
        run = self.lab.run(record, "{}")
        for block in range(document["design"]["repeats"]):
            for at, (title, settings) in enumerate(levels.items()):
                rate = 1000 * self.rate(settings[SERVER_CONFIG]) * noise.gauss(1, 0.01)
                number = block * len(levels) + at
                own = replace(trial(number + 1), block=block, point_id=f"p{at}", levels={FACTOR: title})
                save(run, replace(own, phases=(phase(0, 10, rate),)))
        return self.lab.find_run(run.folder.name)


@pytest.fixture
def reduced(tmp_path: Path) -> Iterator[Callable[[Rate], tuple[Reduced, list[str]]]]:
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

        def made(rate: Rate) -> tuple[Reduced, list[str]]:
            bench = KnownServers(lab, rate)
            return reduce(task, bench, confirmed, 1, lambda text: None), bench.asked

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


def test_where_any_of_them_is_enough_one_is_left(reduced: Any) -> None:
    found, asked = reduced(lambda settings: 1.5 if settings else 1)
    assert len(_left(found)) == 1
    assert asked == ["n-worth", "n-left-1"]


def test_where_all_matter_nothing_more_is_measured(reduced: Any) -> None:
    found, asked = reduced(lambda settings: 1 + 0.5 * sum(settings.values()))
    assert _left(found) == set(NAMES)
    assert (asked, found.of_all, found.gain) == (["n-worth"], None, gain("start", 1.5))
