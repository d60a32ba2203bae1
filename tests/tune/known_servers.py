"""Servers whose rates are known: a function of their settings, with a noise of 1%."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

import yaml
from lab.results.builders import experiment, phase, save, trial

from mydyno.lab.results.records import PointRecord
from mydyno.lab.results.run import Run
from mydyno.lab.results.store import Lab
from mydyno.tune.experiment import FACTOR
from mydyno.tune.history import SERVER_CONFIG

SECONDS = 10.0
"""Of a trial."""
Rate = Callable[[Mapping[str, Any]], float]


@dataclass
class KnownServers:
    """A bench whose runs are in a lab as any other's. `rate` takes the server's settings by name."""

    lab: Lab
    rate: Rate
    hosts = 1
    asked: list[str] = field(default_factory=list)
    """Names of the experiments in their order."""
    now: float = 0.0

    def refused(self, text: str) -> str | None:
        return None

    def seconds(self, text: str) -> float:
        document = yaml.safe_load(text)
        return SECONDS * document["design"]["repeats"] * len(document["factors"][FACTOR])

    def recovery_seconds(self, text: str, level: str) -> float:
        return 0.0

    def measure(self, text: str) -> Run:
        document = yaml.safe_load(text)
        name, levels, noise = document["experiment"], document["factors"][FACTOR], random.Random(text)
        self.asked.append(name)
        self.now += self.seconds(text)
        points = tuple(
            PointRecord(point_id=f"p{at}", levels={FACTOR: each}, title=each)
            for at, each in enumerate(levels)
        )
        record = replace(
            experiment(sha256(text.encode()).hexdigest()[:16]),
            name=name,
            factors={FACTOR: tuple(levels)},
            points=points,
        )
        run = self.lab.run(record, "{}")
        for block in range(document["design"]["repeats"]):
            for at, (title, settings) in enumerate(levels.items()):
                own = _by_name(settings)
                rate = 1000 * self.rate(own) * noise.gauss(1, 0.01)
                made = replace(
                    trial(block * len(levels) + at + 1),
                    block=block,
                    point_id=f"p{at}",
                    levels={FACTOR: title},
                    settings_in_force={name: str(value) for name, value in own.items()},
                    phases=(phase(0, 10, rate),),
                )
                save(run, made)
        return self.lab.find_run(run.folder.name)


def _by_name(settings: Mapping[str, Any]) -> dict[str, Any]:
    single = {path.removeprefix(f"{SERVER_CONFIG}."): value for path, value in settings.items()}
    return {**single.pop(SERVER_CONFIG, {}), **single}
