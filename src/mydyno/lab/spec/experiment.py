"""The whole experiment file as one value."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping as AbstractMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field, PrivateAttr

from mydyno.core.document.base import Fault, Section, slug
from mydyno.core.document.claims import Claim, claim_faults
from mydyno.core.document.problems import Position, Problem
from mydyno.core.document.spec_folder import files_in
from mydyno.core.document.tree import Location, Mapping, find, locate
from mydyno.lab.analysis.comparability import PropertyName
from mydyno.lab.spec.design import Design
from mydyno.lab.spec.designs.chosen import Chosen
from mydyno.lab.spec.designs.levels import Constraints
from mydyno.lab.spec.factors import Factor, FactorSource
from mydyno.lab.spec.load_hosts import Load
from mydyno.lab.spec.paths import location_of
from mydyno.lab.spec.sampling import Sampling
from mydyno.lab.spec.search import Search
from mydyno.lab.spec.setup import Setup
from mydyno.lab.spec.sizes import apply_level
from mydyno.lab.spec.workload import Workload


@dataclass(frozen=True)
class Source:
    """Where an experiment came from: file, text, and the tree after the chosen size was laid over it."""

    file: str
    text: str
    size: str | None
    sizes: tuple[str, ...]
    tree: Mapping
    factors: tuple[FactorSource, ...]
    constraints: Constraints
    chosen: Chosen
    """Empty when the design or its factors are wrong."""

    def with_levels(self, chosen: AbstractMapping[str, str]) -> Mapping:
        """The tree with the chosen level of each factor laid over it; of a nested one it may have none."""
        tree = self.tree
        for factor in self.factors:
            if factor.name in chosen:
                level = next(level for level in factor.levels if level.name == chosen[factor.name])
                tree = apply_level(tree, level.settings)
        return tree

    def plain(self) -> dict[str, Any]:
        """What the sections are made of, with what needs more than one of them to be read."""
        plain: dict[str, Any] = self.tree.plain()
        if isinstance(design := plain.get("design"), dict):
            read = {key: getattr(self.constraints, key) for key in ("exclude", "only") if key in design}
            plain["design"] = {**design, **read}
        factors = tuple(factor.factor for factor in self.factors)
        return {**plain, "factors": factors, "sizes": self.sizes}


@dataclass(frozen=True)
class Variant:
    """The setup and workload at one combination of levels."""

    setup: Setup
    workload: Workload
    tree: Mapping
    source: Source

    def problem(
        self,
        location: Location,
        message: str,
        allowed: str | None = None,
        nearest: str | None = None,
        *,
        at_key: bool = False,
    ) -> Problem:
        """A problem with what this combination has at `location`, at the place in the file that says it.

        It points at the value, or with `at_key` at the key in front of it.
        """
        node = find(self.tree, location)
        value = node.describe() if node is not None else None
        position = locate(self.tree, location).key if at_key else _place(self.tree, location)
        return Problem(self.source.file, position, message, value, allowed, nearest)


class Experiment(Section):
    """One question about a setup with a workload."""

    synonyms: ClassVar[AbstractMapping[str, str]] = {
        "name": "experiment",
        **{key: f"setup.{key}" for key in ("server", "host", "storage")},
        **dict.fromkeys(("repeats", "repetitions", "iterations", "runs"), "design.repeats"),
        **{key: f"workload.{meant}" for key, meant in Workload.synonyms.items() if "." not in meant},
        "report_interval": "sampling.every",
        "config": "setup.server.config",
    }

    experiment: Annotated[str, AfterValidator(slug)] = Field(
        description="The experiment's name: small letters, digits and single dashes.",
        json_schema_extra={"pattern": "^[a-z0-9]+(-[a-z0-9]+)*$", "maxLength": 64},
        examples=["my-experiment"],
    )
    question: str | None = Field(default=None, description="What it is to answer; the report shows it.")
    source: str | None = Field(default=None, description="Where the question or its numbers come from.")
    setup: Setup = Field(default_factory=Setup, description="The system under test, layer by layer.")
    factors: tuple[Factor, ...] = Field(
        default=(),
        description="What varies: dotted paths into the setup or the workload with a list of levels "
        "(`server.config.thread_cache_size: [8, 450]`) or with named levels (`{small: 8, large: 450}`), or a "
        "named factor whose levels set several paths at once. `{when: {FACTOR: LEVELS}, levels: ...}` is "
        "nested: it varies only there. All combinations are measured, unless `design` says otherwise.",
    )
    workload: Workload = Field(
        description="The load.",
        examples=[{"oltp-read-only": {"tables": 4}, "connections": [1, 8], "each": {"rounds": 100}}],
    )
    load: Load | None = Field(
        default=None,
        description="The machines that drive the load. Without it the load comes from the server's machine.",
    )
    sampling: Sampling = Field(default_factory=Sampling, description="How often counters are read.")
    design: Design = Field(default_factory=Design, description="Points, repetition and order.")
    unequal: tuple[PropertyName, ...] = Field(
        default=(),
        strict=False,
        description="What may differ between the servers of the points although no factor sets it: releases "
        "differ in defaults. Without it such an experiment is refused, since it would compare more than its "
        "factors; the report shows it above the verdict.",
        examples=[["redo_capacity"]],
    )
    claims: tuple[Claim, ...] = Field(
        default=(),
        strict=False,
        description="What a guide, a paper or an advice says of the levels of a factor; the report holds "
        "each claim with what was measured.",
    )
    search: Search | None = Field(
        default=None,
        description="What `mydyno tune` searches (docs/reference/search.md). `mydyno run` leaves it alone.",
    )
    sizes: tuple[str, ...] = Field(
        default=(),
        description="Overlays for `--size`: a name and the dotted paths that it replaces, "
        "as `toy: {workload.connections: [2, 4]}`.",
    )
    _source: Source = PrivateAttr()

    @classmethod
    def faults(cls, raw: AbstractMapping[str, Any]) -> Iterator[Fault]:
        yield from claim_faults(raw.get("claims"), [factor.name for factor in raw.get("factors") or ()])

    @classmethod
    def read(cls, source: Source) -> Experiment:
        """The experiment that `source` describes. Raises pydantic.ValidationError."""
        experiment = cls.model_validate(source.plain(), context={"factors": bool(source.factors)})
        experiment._source = source
        return experiment

    @property
    def name(self) -> str:
        return self.experiment

    @property
    def size(self) -> str | None:
        """The size that was chosen; None for the file as written."""
        return self._source.size

    @property
    def text(self) -> str:
        """The file's text, comments and all."""
        return self._source.text

    @property
    def file(self) -> str:
        """The file's path as it was given."""
        return self._source.file

    def plain(self) -> dict[str, Any]:
        """The file's keys and values, with the chosen size laid over them."""
        written: dict[str, Any] = self._source.tree.plain()
        return written

    def combinations(self) -> Iterator[dict[str, str]]:
        """The points of the design, factor name to level name; the last factor varies fastest.

        A nested factor is missing where it does not apply.
        """
        return iter(self._source.chosen.combinations)

    @property
    def chosen(self) -> Chosen:
        """The points, with the aliases of their effects."""
        return self._source.chosen

    def variant(self, levels: AbstractMapping[str, str]) -> Variant:
        """Setup and workload with `levels` (factor name to level name) in place."""
        tree = self._source.with_levels(levels)
        nothing = Mapping({}, tree.position)
        with files_in(Path(self.file).parent):
            return Variant(
                setup=Setup.model_validate((find(tree, ("setup",)) or nothing).plain()),
                workload=Workload.model_validate((find(tree, ("workload",)) or nothing).plain()),
                tree=tree,
                source=self._source,
            )

    def position(self, path: str) -> Position:
        """Line and column of the value at a path as factors name it (`server.config.max_connections`).

        A path that the file does not have gives the nearest node that encloses it.
        """
        return _place(self._source.tree, location_of(path) or tuple(path.split(".")))


def _place(tree: Mapping, location: Location) -> Position:
    spot = locate(tree, location)
    return spot.node.position if find(tree, location) is not None else spot.key
