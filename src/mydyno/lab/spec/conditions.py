"""Which combinations of levels are meant: `{array: [raid5, raid10], pool: 2G}`."""

from collections.abc import Mapping as AbstractMapping
from collections.abc import Sequence as AbstractSequence

from pydantic import Field

from mydyno.core.document.base import Section
from mydyno.core.document.problems import Findings
from mydyno.core.document.tree import Entry, Mapping, Node, Sequence
from mydyno.core.factors import last_part
from mydyno.core.nearest import nearest

Known = AbstractMapping[str, tuple[str, ...]]
"""Factor -> its levels."""

_ALLOWED = "{FACTOR: LEVEL} or {FACTOR: [LEVEL, ...]}"


class Condition(Section):
    """Factor levels that have to come together."""

    levels: dict[str, tuple[str, ...]] = Field(description="Factor to the levels that are meant.")

    def holds(self, point: AbstractMapping[str, str]) -> bool:
        """Whether a point (factor to level) is one of those; a factor that it does not have is never met."""
        return all(point.get(factor) in levels for factor, levels in self.levels.items())


def read_conditions(node: Node, name: str, known: Known, findings: Findings) -> tuple[Condition, ...] | None:
    """A list of conditions; None, with reasons in `findings`, when something is wrong with one."""
    if not isinstance(node, Sequence) or not node.items:
        findings.add(node.position, f"{name} is not a list", node.describe(), f"a list, as [{_ALLOWED}]")
        return None
    read = [read_condition(item, name, known, findings) for item in node.items]
    found = tuple(one for one in read if one is not None)
    return found if len(found) == len(read) else None


def read_condition(node: Node, name: str, known: Known, findings: Findings) -> Condition | None:
    """One condition over the factors that are `known`; None, with reasons in `findings`, when it is wrong."""
    if not isinstance(node, Mapping) or not node.entries:
        findings.add(node.position, f"{name} names no factor", node.describe(), _ALLOWED)
        return None
    levels: dict[str, tuple[str, ...]] = {}
    for written, entry in node.entries.items():
        factor = _factor(written, entry, name, known, findings)
        found = _levels(factor, entry.value, known, findings) if factor else None
        if factor and found:
            levels[factor] = found
    return Condition(levels=levels) if len(levels) == len(node.entries) else None


def _factor(written: str, entry: Entry, name: str, known: Known, findings: Findings) -> str | None:
    """The factor of that name, or whose last part it is, as with `mydyno report --columns`."""
    found = [factor for factor in known if written in (factor, last_part(factor))]
    if len(found) == 1:
        return found[0]
    none = f"none, since there is no factor{' above it' if name.endswith('.when') else ''}"
    message = f"{name}: the end of several factors" if found else f"{name}: unknown factor"
    words = [*known, *map(last_part, known)]
    findings.add(
        entry.key, message, written, ", ".join(known) or none,
        nearest(written, words) if not found else None,
    )  # fmt: skip
    return None


def _levels(factor: str, node: Node, known: Known, findings: Findings) -> tuple[str, ...] | None:
    items = node.items if isinstance(node, Sequence) else (node,)
    named = [(item, item.describe().strip()) for item in items]
    wrong = [(item, level) for item, level in named if level not in known[factor]]
    for item, level in wrong:
        allowed = ", ".join(known[factor])
        findings.add(item.position, f"{factor}: unknown level", level, allowed, nearest(level, known[factor]))
    if not items:
        findings.add(node.position, f"no level of {factor} is named", node.describe(), _ALLOWED)
    return tuple(dict.fromkeys(level for _, level in named)) if items and not wrong else None


def short_names(names: AbstractSequence[str]) -> list[str]:
    """The last part of each, or all of it where two end alike."""
    ends = [last_part(name) for name in names]
    return [end if ends.count(end) == 1 else name for name, end in zip(names, ends, strict=True)]
