"""factors: what varies. Each factor has levels; each level sets one or more dotted paths."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Mapping as AbstractMapping
from dataclasses import dataclass, replace

from pydantic import Field

from mydyno.core.document.base import Section
from mydyno.core.document.problems import Findings, Position
from mydyno.core.document.tree import Entry, Location, Mapping, Node, Plain, Scalar, Sequence
from mydyno.core.plurals import plural
from mydyno.lab.spec.conditions import Condition, read_condition
from mydyno.lab.spec.paths import FACTOR_ROOTS, location_of, nearest_path

_PATH_ALLOWED = "a path into the setup or the workload, as server.config.max_connections or workload.pause"
FACTOR_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


_VERSIONS: tuple[Location, ...] = (("setup", "host", "kernel"), ("setup", "server", "release"))
"""Values that are numbers to YAML and texts to people: 5.10 is not 5.1."""
_SHORT: dict[Location, str] = {("setup", "host"): "kind", ("setup", "server", "external"): "dsn"}
"""Sections that may be written as one word, and the key that it stands for: a path may lead below them."""


class Level(Section):
    """One level of a factor."""

    name: str = Field(description="The level as it is called in tables and charts.")
    settings: dict[str, Plain] = Field(description="Dotted path to value.")


class Factor(Section):
    """Something that varies, with its levels in the order written."""

    name: str = Field(description="The dotted path, or the name of a factor that sets several paths at once.")
    levels: tuple[Level, ...]
    when: Condition | None = Field(
        default=None, description="Of a nested factor: the levels of others that it applies to."
    )

    def applies(self, point: AbstractMapping[str, str]) -> bool:
        """Whether this factor has a level at a point (factor to level)."""
        return self.when is None or self.when.holds(point)


@dataclass(frozen=True)
class Setting:
    """One path that a level or an overlay sets, and the place in the file that says so."""

    path: str
    location: Location
    entry: Entry

    @classmethod
    def of(cls, path: str, location: Location, entry: Entry) -> Setting:
        """With versions as text, and words that are short for a section spelt out."""
        return cls(path, location, Entry(entry.key, as_written(entry.value, location)))


@dataclass(frozen=True)
class LevelSource:
    name: str
    position: Position
    settings: tuple[Setting, ...]

    @property
    def level(self) -> Level:
        return Level(name=self.name, settings={each.path: each.entry.value.plain() for each in self.settings})


@dataclass(frozen=True)
class FactorSource:
    """A factor with its places in the file."""

    name: str
    position: Position
    levels: tuple[LevelSource, ...]
    when: Condition | None = None

    @property
    def factor(self) -> Factor:
        levels = tuple(source.level for source in self.levels)
        return Factor(name=self.name, levels=levels, when=self.when)


def read_factors(root: Mapping, findings: Findings) -> tuple[FactorSource, ...]:
    """The factors of the document; those that are wrong are left out and go to `findings`."""
    section = root.get("factors")
    if section is None:
        return ()
    if not isinstance(section, Mapping):
        findings.add(section.position, "factors is not a mapping", section.describe(), "FACTOR: LEVELS")
        return ()
    factors: list[FactorSource] = []
    for name, entry in section.entries.items():
        if (factor := _read_factor(name, entry, factors, findings)) is not None:
            factors.append(factor)
    return tuple(_without_overlaps(factors, findings))


def _read_factor(
    name: str, entry: Entry, before: list[FactorSource], findings: Findings
) -> FactorSource | None:
    """`before`: the factors that stand above it, in which it may be nested."""
    value, when = entry.value, None
    if isinstance(value, Mapping) and value.entries.keys() == {"when", "levels"}:
        known = {factor.name: tuple(level.name for level in factor.levels) for factor in before}
        when = read_condition(value.entries["when"].value, f"{name}.when", known, findings)
        if when is None:
            return None
        entry = Entry(entry.key, value.entries["levels"].value)
    levels = _read_levels(name, entry, findings)
    return FactorSource(name, entry.key, levels, when) if levels else None


def _read_levels(name: str, entry: Entry, findings: Findings) -> tuple[LevelSource, ...]:
    location = location_of(name)
    value = entry.value
    if location is not None and location[0] not in ("setup", *FACTOR_ROOTS):
        findings.add(entry.key, f"{location[0]} cannot be a factor", name, _PATH_ALLOWED)
        return ()
    if location is None and ("." in name or isinstance(value, Sequence)):
        findings.add(entry.key, "unknown path", name, _PATH_ALLOWED, nearest_path(name, *FACTOR_ROOTS))
        return ()
    if location is None and not FACTOR_NAME.fullmatch(name):
        findings.add(entry.key, "a factor cannot be called that", name, "letters, digits, - and _")
        return ()
    if location is not None and isinstance(value, Sequence):
        levels = [
            LevelSource(
                _level_name(item), item.position, (Setting.of(name, location, Entry(entry.key, item)),)
            )
            for item in value.items
        ]
    elif location is not None and isinstance(value, Mapping):
        levels = [
            LevelSource(level, each.key, (Setting.of(name, location, each),))
            for level, each in value.entries.items()
        ]
    elif isinstance(value, Mapping):
        levels = list(_named_levels(name, value, findings))
        if len(levels) < len(value.entries):
            return ()
    else:
        allowed = "a list of levels, or a mapping of level names"
        findings.add(value.position, f"{name} has no levels", value.describe(), allowed)
        return ()
    return _checked_levels(name, entry, levels, findings)


def _named_levels(factor: str, value: Mapping, findings: Findings) -> Iterator[LevelSource]:
    for level, each in value.entries.items():
        if not isinstance(each.value, Mapping) or not each.value.entries:
            allowed = "{PATH: VALUE}, as {server.config.max_connections: 450}"
            nearest = nearest_path(factor, *FACTOR_ROOTS)
            findings.add(
                each.value.position,
                f"level {level} of {factor} sets no path",
                each.value.describe(),
                allowed,
                nearest,
            )
            continue
        settings = read_settings(each.value, FACTOR_ROOTS, _PATH_ALLOWED, findings)
        if len(settings) == len(each.value.entries):
            yield LevelSource(level, each.key, settings)


def _checked_levels(
    name: str, entry: Entry, levels: list[LevelSource], findings: Findings
) -> tuple[LevelSource, ...]:
    if len(levels) < 2:
        message = f"{name} has {len(levels) or 'no'} {plural(len(levels), 'level')}"
        findings.add(
            entry.value.position,
            message,
            entry.value.describe(),
            "two levels or more; a value that does not vary belongs in the setup or the workload",
        )
        return ()
    seen: dict[str, LevelSource] = {}
    for level in levels:
        if level.name in seen:
            findings.add(level.position, f"{name} has this level twice", level.name, "each level once")
            return ()
        if not level.name.strip() or len(level.name) > 200:
            findings.add(
                level.position, f"a level of {name} cannot be called that", level.name, "1 to 200 characters"
            )
            return ()
        seen[level.name] = level
    return tuple(levels)


def read_settings(
    mapping: Mapping, roots: tuple[str, ...], allowed: str, findings: Findings
) -> tuple[Setting, ...]:
    """The `PATH: VALUE` pairs of a level or an overlay; a path that leads nowhere is left out."""
    settings: list[Setting] = []
    for path, entry in mapping.entries.items():
        location = location_of(path)
        if location is None or location[0] not in ("setup", *roots):
            findings.add(entry.key, "unknown path", path, allowed, nearest_path(path, *roots))
            continue
        clash = next((one for one in settings if overlap(one.location, location)), None)
        if clash is not None:
            findings.add(entry.key, f"{path} and {clash.path} set the same key", allowed="one of them")
            continue
        settings.append(Setting.of(path, location, entry))
    return tuple(settings)


def overlap(one: Location, other: Location) -> bool:
    """Whether the two are the same or one contains the other."""
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def _without_overlaps(factors: list[FactorSource], findings: Findings) -> list[FactorSource]:
    """The factors that set no path which an earlier one sets."""
    kept: list[FactorSource] = []
    for factor in factors:
        taken = [setting.location for earlier in kept for setting in _settings(earlier)]
        clash = next(
            (one for one in _settings(factor) if any(overlap(one.location, other) for other in taken)), None
        )
        if clash is None:
            kept.append(factor)
            continue
        earlier = next(
            one for one in kept if any(overlap(each.location, clash.location) for each in _settings(one))
        )
        message = f"factors {earlier.name} and {factor.name} both set {clash.path}"
        findings.add(factor.position, message, allowed="each path in one factor")
    return kept


def _settings(factor: FactorSource) -> list[Setting]:
    return [setting for level in factor.levels for setting in level.settings]


def _level_name(node: Node) -> str:
    return node.describe().strip()


def spelt_out(tree: Mapping) -> Mapping:
    """The whole document, as `as_written` makes its parts."""
    written = as_written(tree)
    assert isinstance(written, Mapping)
    return written


def as_written(node: Node, at: Location = ()) -> Node:
    """The value at `at` with versions as the text in the file, and words spelt out as sections."""
    if isinstance(node, Scalar):
        if at in _VERSIONS and isinstance(node.value, int | float) and not isinstance(node.value, bool):
            return replace(node, value=node.text)
        if at in _SHORT and isinstance(node.value, str):
            return Mapping({_SHORT[at]: Entry(node.position, node)}, node.position)
        return node
    if isinstance(node, Mapping) and any(at == place[: len(at)] for place in (*_VERSIONS, *_SHORT)):
        entries = {
            key: replace(entry, value=as_written(entry.value, (*at, key)))
            for key, entry in node.entries.items()
        }
        return Mapping(entries, node.position)
    return node
