"""One combination of factor levels, complete: everything that a trial of it needs."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from mydyno.core.facts import HostFacts
from mydyno.spec import ConfigValue, Experiment, Problem, Server, Setup, SpecErrors, Variant, Workload


class Point(BaseModel):
    """`id` is p1, p2, ... in the order in which the file names the levels; the last factor varies fastest."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    levels: dict[str, str]
    """Factor -> level, as written in the file."""
    setup: Setup
    workload: Workload

    @property
    def title(self) -> str:
        """For people: `thread_cache_size = 8`; empty for an experiment without factors."""
        return ", ".join(f"{factor.rpartition('.')[2]} = {level}" for factor, level in self.levels.items())


def points_of(experiment: Experiment, facts: HostFacts) -> list[tuple[Point, Variant]]:
    """Every point with where the file describes it; shares of memory are worked out for the machine.

    Raises SpecErrors when the machine's memory is not known and a value is a share of it.
    """
    points: list[tuple[Point, Variant]] = []
    problems: list[Problem] = []
    for number, levels in enumerate(experiment.combinations(), start=1):
        variant = experiment.variant(levels)
        config = variant.setup.server.config
        shares = [name for name, value in config.items() if value.share_of_memory is not None]
        if facts.memory_bytes is None and shares:
            message = "the machine's memory is not known, so nothing can be a share of it"
            problems += [variant.problem(_config(name), message, "a size, as 2G") for name in shares]
            continue
        resolved = {name: _resolved(value, facts) for name, value in config.items()}
        server: Server = variant.setup.server.model_copy(update={"config": resolved})
        setup = variant.setup.model_copy(update={"server": server})
        point = Point(id=f"p{number}", levels=levels, setup=setup, workload=variant.workload)
        points.append((point, variant))
    if problems:
        raise SpecErrors(problems)
    return points


def _resolved(value: ConfigValue, facts: HostFacts) -> ConfigValue:
    return value.resolved(facts.memory_bytes) if facts.memory_bytes is not None else value


def _config(name: str) -> tuple[str, ...]:
    return ("setup", "server", "config", name)
