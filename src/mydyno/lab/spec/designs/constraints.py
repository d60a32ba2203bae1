"""exclude, only: which of the combinations an experiment leaves out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mydyno.core.document.problems import Findings
from mydyno.core.document.tree import Mapping, find
from mydyno.lab.spec.conditions import Condition, read_conditions
from mydyno.lab.spec.designs.full import Levels
from mydyno.lab.spec.factors import FactorSource


@dataclass(frozen=True)
class Constraints:
    """What `exclude` and `only` of a design leave."""

    exclude: tuple[Condition, ...] = ()
    only: tuple[Condition, ...] = ()

    def allow(self, levels: Levels) -> bool:
        wanted = not self.only or any(each.holds(levels) for each in self.only)
        return wanted and not any(each.holds(levels) for each in self.exclude)

    def __bool__(self) -> bool:
        return bool(self.exclude or self.only)


def read_constraints(tree: Mapping, factors: Sequence[FactorSource], findings: Findings) -> Constraints:
    """Those of the document; one that is wrong leaves nothing out and goes to `findings`."""
    known = {factor.name: tuple(level.name for level in factor.levels) for factor in factors}
    found: dict[str, tuple[Condition, ...]] = {}
    for key in ("exclude", "only"):
        node = find(tree, ("design", key))
        if node is not None:
            found[key] = read_conditions(node, f"design.{key}", known, findings) or ()
    return Constraints(**found)
