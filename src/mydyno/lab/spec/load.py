"""From a file to an Experiment, or to all the problems that it has."""

from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from mydyno.core.document.base import Section
from mydyno.core.document.problems import Findings, Problem, SpecErrors
from mydyno.core.document.source import parse, read_text
from mydyno.core.document.spec_folder import files_in
from mydyno.core.document.translate import translate
from mydyno.core.document.tree import Location, Mapping, find, locate
from mydyno.core.nearest import nearest
from mydyno.lab.spec.checks import (
    IdleKeys,
    meaning_of,
    one_spelling,
    refuse_cache_without_tables,
    refuse_claims_of_nothing,
    refuse_empty_values,
    refuse_equal_levels,
    refuse_on_external,
    refuse_programs_elsewhere,
    refuse_raw_alone,
    refuse_too_many_connections,
)
from mydyno.lab.spec.design import read_points
from mydyno.lab.spec.designs import Chosen, choose
from mydyno.lab.spec.designs.levels import read_constraints
from mydyno.lab.spec.experiment import Experiment, Source
from mydyno.lab.spec.factors import read_factors, spelt_out
from mydyno.lab.spec.load_hosts import refuse_generators
from mydyno.lab.spec.setup import Setup
from mydyno.lab.spec.sizes import apply, read_sizes
from mydyno.lab.spec.workload import Workload

_Section = TypeVar("_Section", bound=Section)

_UNKNOWN_KEY = ": unknown key"


def load(path: Path, size: str | None = None) -> Experiment:
    """The experiment in the file at `path`, with the overlay `size` laid over it.

    Raises SpecErrors with every problem of the file, those of sizes that were not chosen included.
    """
    return loads(read_text(path), str(path), size)


def loads(text: str, name: str, size: str | None = None) -> Experiment:
    """As `load`, from text; `name` stands for the file in messages."""
    with files_in(Path(name).parent):
        return _loads(text, name, size)


def _refuse_imports(tree: Mapping, name: str) -> None:
    """A file for `mydyno import` has another key in front, and none of its keys would be understood here."""
    entry = tree.entries.get("import")
    if entry is not None and "experiment" not in tree.entries:
        message = "this file describes results that were measured elsewhere, not an experiment"
        raise SpecErrors([Problem(name, entry.key, message, nearest=f"mydyno import {name}")])


def _loads(text: str, name: str, size: str | None) -> Experiment:
    findings = Findings(name)
    written = parse(text, name)
    _refuse_imports(written, name)
    tree = spelt_out(one_spelling(refuse_empty_values(written, findings), findings))
    sizes = read_sizes(tree, findings)
    trees: dict[str | None, Mapping] = {None: tree}
    trees |= {each: apply(tree, settings) for each, settings in sizes.items()}
    experiments = {
        each: _read(_source(name, text, each, tuple(sizes), laid_over, findings), findings)
        for each, laid_over in trees.items()
    }
    if size not in trees:
        findings.problems.append(_no_such_size(tree, name, str(size), tuple(sizes)))
    chosen = experiments.get(size)
    if findings.problems or chosen is None:
        raise SpecErrors(_without_echoes(findings.problems))
    return chosen


def _source(
    name: str, text: str, size: str | None, sizes: tuple[str, ...], tree: Mapping, findings: Findings
) -> Source:
    factors = read_factors(tree, findings)
    constraints = read_constraints(tree, factors, findings)
    points = read_points(tree)
    chosen = choose(factors, points, constraints, tree, findings) if points else None
    return Source(name, text, size, sizes, tree, factors, constraints, chosen or Chosen())


def _read(source: Source, findings: Findings) -> Experiment | None:
    """The experiment in `source`; None, with reasons in `findings`, when it is wrong."""
    experiment: Experiment | None = None
    try:
        experiment = Experiment.read(source)
    except ValidationError as error:
        findings.problems += translate(error, Experiment, (), source.tree, findings.file)
    _check_points(source, findings)
    if source.size is None:  # A size may leave levels out, and the claims about them with them.
        refuse_claims_of_nothing(source.tree, source.factors, findings)
    return experiment


def _check_points(source: Source, findings: Findings) -> None:
    """Every point has to make a setup and a workload that fit each other."""
    factors = source.factors
    meanings: dict[tuple[str | None, ...], str] = {}
    idle = IdleKeys()
    for levels in source.chosen.combinations:
        laid_over = source.with_levels(levels)
        variant = _variant(laid_over, findings)
        if variant is not None:
            refuse_too_many_connections(*variant, laid_over, findings)
            refuse_programs_elsewhere(*variant, laid_over, findings)
            refuse_raw_alone(*variant, laid_over, findings)
            refuse_generators(*variant, laid_over, findings)
            refuse_on_external(*variant, laid_over, findings)
            refuse_cache_without_tables(*variant, laid_over, findings)
            idle.look(variant[0], laid_over)
            meanings[tuple(levels.get(factor.name) for factor in factors)] = meaning_of(*variant)
    idle.report(findings)
    for index in range(len(factors)):
        refuse_equal_levels(factors, index, meanings, findings)


def _variant(tree: Mapping, findings: Findings) -> tuple[Setup, Workload] | None:
    setup = _section(Setup, ("setup",), tree, findings)
    workload = _section(Workload, ("workload",), tree, findings)
    return None if setup is None or workload is None else (setup, workload)


def _section(section: type[_Section], at: Location, tree: Mapping, findings: Findings) -> _Section | None:
    node = find(tree, at)
    if node is None and section is Workload:
        return None
    try:
        return section.model_validate({} if node is None else node.plain())
    except ValidationError as error:
        findings.problems += translate(error, section, at, tree, findings.file)
        return None


def _no_such_size(tree: Mapping, file: str, size: str, sizes: tuple[str, ...]) -> Problem:
    allowed = ", ".join(sizes) if sizes else "no size, since the file has none"
    position = locate(tree, ("sizes",)).key
    return Problem(file, position, "unknown size", size, allowed, nearest(size, sizes))


def _without_echoes(problems: list[Problem]) -> list[Problem]:
    """Leaves out what follows from another problem: a key is not missing that is empty or misspelt."""
    empty = {problem.message.split()[0] for problem in problems if problem.message.endswith("has no value")}
    misspelt = {
        f"{problem.message.removesuffix(_UNKNOWN_KEY)}.{problem.nearest}".removeprefix("the file.")
        for problem in problems
        if problem.message.endswith(_UNKNOWN_KEY)
    }
    echoes = {f"{key} is missing" for key in empty | misspelt}
    return [problem for problem in problems if problem.message.replace(": ", ".") not in echoes]
