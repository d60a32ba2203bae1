"""The experiment for the finished machine: the same question and load, its server there, over ssh.

One machine has one array. So factors that vary the storage or the host are fixed to one level each, and
the experiment of the machine has what varies besides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mydyno.core.document.problems import SpecErrors
from mydyno.core.document.yaml_text import Text, block, comment
from mydyno.core.errors import UsageError
from mydyno.core.nearest import did_you_mean
from mydyno.lab import spec
from mydyno.lab.cloud.machine import CloudMachine
from mydyno.lab.spec import Experiment, Variant
from mydyno.lab.spec.factors import Factor

_OF_THE_MACHINE = ("storage", "host")


@dataclass(frozen=True)
class Fixed:
    """An experiment at one level of each factor that shapes the machine."""

    experiment: Experiment
    levels: Mapping[str, str]
    variant: Variant

    @property
    def workload_file(self) -> str | None:
        """The workload file that the experiment reads, relative to its own folder."""
        workload: Any = self.variant.tree.plain().get("workload")
        path: str | None = (workload.get("file") or {}).get("path")
        return path

    @property
    def has_fio(self) -> bool:
        """Whether fio is the load, which over ssh has no volume to run on (lab/trial/drivers.py)."""
        return self.variant.workload.fio_options is not None


def fix(experiment: Experiment, levels: Mapping[str, str]) -> Fixed:
    """The experiment with these levels (factor to level) of the factors that shape its machine.

    Raises UsageError for a factor that needs a level and has none, and for an unknown one.
    """
    shaping = {factor.name: factor for factor in experiment.factors if _shapes_machine(factor)}
    for name, level in levels.items():
        if name not in shaping:
            raise UsageError(
                f"--level {name}={level}: no factor of that name varies storage or host",
                did_you_mean(name, shaping, f"there are: {', '.join(shaping) or 'none'}"),
            )
        known = [each.name for each in shaping[name].levels]
        if level not in known:
            raise UsageError(
                f"--level {name}={level}: the factor has no such level",
                did_you_mean(level, known, f"one of {', '.join(known)}"),
            )
    chosen = dict(levels)
    for name, factor in shaping.items():
        if name not in chosen and len(factor.levels) > 1:
            levels_there = ", ".join(each.name for each in factor.levels)
            raise UsageError(
                f"{experiment.file}: the factor {name} varies storage or host, and one machine has one",
                f"--level {name}=LEVEL; its levels: {levels_there}",
            )
        chosen.setdefault(name, factor.levels[0].name)
    return Fixed(experiment, chosen, experiment.variant(chosen))


def _shapes_machine(factor: Factor) -> bool:
    paths = (path for level in factor.levels for path in level.settings)
    return any(path.split(".")[0] in _OF_THE_MACHINE for path in paths)


def experiment_text(fixed: Fixed, machine: CloudMachine) -> str:
    """The experiment file. Raises UsageError when it could not run over ssh."""
    text = "\n".join(_lines(fixed, machine)) + "\n"
    try:
        spec.loads(text, fixed.experiment.file)
    except SpecErrors as error:
        problems = "; ".join(problem.what for problem in error.problems)
        raise UsageError(
            f"{fixed.experiment.file} cannot run on another machine as it is: {problems}",
            "docs/reference/hosts.md says what runs over ssh; change the experiment",
        ) from error
    return text


def _lines(fixed: Fixed, machine: CloudMachine) -> Iterator[str]:
    yield "# Made by `mydyno cloud export`. Runs over ssh, once the machine is there:"
    yield "#   mydyno run experiment.yaml --hosts hosts.yaml"
    for volume in machine.volumes:
        yield from comment(f"{volume.name}: {volume.described}, on {volume.mount_point}")
    for name, level in fixed.levels.items():
        yield from comment(f"{name}: {level}")
    for note in machine.notes:
        yield from comment(note)
    yield from block(_document(fixed, machine), 0)


def _document(fixed: Fixed, machine: CloudMachine) -> Mapping[str, Any]:
    document: dict[str, Any] = fixed.variant.tree.plain()
    setup = {key: value for key, value in document.get("setup", {}).items() if key not in ("storage", "host")}
    document["setup"] = {"host": f"ssh:{machine.name}", **setup}
    factors = {name: value for name, value in document.pop("factors", {}).items() if name not in fixed.levels}
    document.pop("sizes", None)
    claims = [claim for claim in document.pop("claims", []) if claim["factor"] not in fixed.levels]
    ordered = ("experiment", "question", "source", "setup")
    head = {key: document.pop(key) for key in ordered if key in document}
    more = {"factors": factors} if factors else {}
    whole = {**head, **more, **document, **({"claims": claims} if claims else {})}
    return {name: _as_read(value) for name, value in whole.items()}


def _as_read(value: Any) -> Any:
    """With texts that YAML would read as numbers marked as texts."""
    if isinstance(value, Mapping):
        return {name: _as_read(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_as_read(item) for item in value]
    return Text(value) if isinstance(value, str) and _is_number(value) else value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
