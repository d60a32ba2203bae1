"""Variables of a binary joined with the catalogue, and what changed between two binaries. Pure."""

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from mydyno.core.server_variables import CONTROLLED
from mydyno.core.server_version import Version
from mydyno.lab.stack.server.ask_running import RunningVariable
from mydyno.server.program.binary import ServerBinary
from mydyno.server.variables import Row, catalogue
from mydyno.server.variables.release import Family, Release
from mydyno.server.variables.row import NewDefault, same_value
from mydyno.server.variables.settings import number

_NOT_RUNNING: Mapping[str, RunningVariable] = MappingProxyType({})
_OF_THE_BUILD = (
    "version", "system_time_zone", "server_uid", "large_files_support", "open_files_limit",
    "lower_case_file_system", "lower_case_table_names",
)  # fmt: skip
"""What differs from build to build and from machine to machine whatever the release."""
_OF_A_PLUGIN = ("ON", "OFF", "FORCE")
"""What the table of options shows for loading a plugin; switches of the server itself are TRUE and FALSE."""


@dataclass(frozen=True)
class Variable:
    """One variable, as far as it is known for one binary."""

    name: str
    listed: bool
    """Whether this binary has it."""
    default: str | None
    """As the binary lists it; None: it has none, or not this variable."""
    row: Row | None
    """None: the catalogue has none."""
    running: RunningVariable | None
    """None: no running server was read."""


@dataclass(frozen=True)
class Replaced:
    """A removed one, with what replaces it."""

    name: str
    by: str
    why: str | None


@dataclass(frozen=True)
class DefaultChange:
    name: str
    before: str | None
    after: str | None
    since: str | None
    """The release that changed it, where the catalogue knows."""


@dataclass(frozen=True)
class Changes:
    """Between two binaries, each part sorted by name."""

    replaced: tuple[Replaced, ...]
    removed: tuple[Variable, ...]
    """As the later binary sees them."""
    defaults: tuple[DefaultChange, ...]
    added: tuple[Variable, ...]


def matching(
    binary: ServerBinary, pattern: str | None, running: Mapping[str, RunningVariable] = _NOT_RUNNING
) -> list[Variable]:
    """The variables that `pattern` names, by name; without one, those that the binary lists.

    A pattern is a part of a name, or a whole one with * and ? (SQL's % counts as *).
    """
    names = set(binary.options)
    if pattern is not None:
        names = {name for name in names | set(catalogue().variables) if _fits(name, pattern)}
    return [_variable(binary, name, running) for name in sorted(names)]


def changes(before: ServerBinary, after: ServerBinary, pattern: str | None = None) -> Changes:
    """What changes from one binary to the other."""
    fitting = {
        name
        for name in set(before.options) | set(after.options)
        if (pattern is None or _fits(name, pattern)) and not _loads_a_plugin(name, before, after)
    }
    gone = sorted(name for name in fitting if name not in after.options)
    new = sorted(name for name in fitting if name not in before.options)
    both = sorted(fitting.intersection(before.options, after.options))
    replaced = [each for each in (_replacement(name, after) for name in gone) if each is not None]
    stand_ins = {each.name for each in replaced}
    return Changes(
        replaced=tuple(replaced),
        removed=tuple(_variable(after, name) for name in gone if name not in stand_ins),
        defaults=tuple(
            each for each in (_default_change(name, before, after) for name in both) if each is not None
        ),
        added=tuple(_variable(after, name) for name in new),
    )


def _variable(
    binary: ServerBinary, name: str, running: Mapping[str, RunningVariable] = _NOT_RUNNING
) -> Variable:
    return Variable(
        name=name,
        listed=name in binary.options,
        default=binary.options.get(name),
        row=catalogue().get(name),
        running=running.get(name),
    )


def _fits(name: str, pattern: str) -> bool:
    plain = pattern.strip().lower().replace("-", "_").replace("%", "*")
    return fnmatch.fnmatchcase(name, plain) if set(plain) & set("*?[") else plain in name


def _loads_a_plugin(name: str, before: ServerBinary, after: ServerBinary) -> bool:
    """Whether the option only says if a plugin is loaded, as those of many tables of information_schema."""
    shown = after.options.get(name) or before.options.get(name)
    return shown in _OF_A_PLUGIN and name not in catalogue()


def _replacement(name: str, after: ServerBinary) -> Replaced | None:
    row = catalogue().get(name)
    for becomes in row.becomes if row else ():
        if becomes.holds(after.version) and becomes.name in after.options:
            return Replaced(name, becomes.name, about(Family.of(after.version), becomes.because))
    return None


def about(family: Family, text: str | None) -> str | None:
    """The parts of a reason that are not about the other family alone; None when nothing is left."""
    other = next(each for each in Family if each is not family)
    parts = (text or "").split("; ")
    return "; ".join(part for part in parts if family.label in part or other.label not in part) or None


def _default_change(name: str, before: ServerBinary, after: ServerBinary) -> DefaultChange | None:
    old, new = before.options[name], after.options[name]
    row = catalogue().get(name)
    family = Family.of(after.version)
    own = [each for each in row.defaults if each.on is family] if row is not None else []
    passed = [each for each in own if _between(each.since, before, after)]
    if name in CONTROLLED or name.startswith(_OF_THE_BUILD):
        return None
    if passed and (old is None or _same(old, new)):
        # What a binary works out when it starts it does not list: innodb_flush_method, log_bin.
        return DefaultChange(name, passed[0].was, passed[-1].to, str(passed[-1].since))
    if old is None and own and before.version.is_mariadb == after.version.is_mariadb:
        old = default_at(own, before.version)
    if _same(old, new):
        return None
    if (row is not None and row.unit == "path") or any((text or "").startswith("/") for text in (old, new)):
        return None
    return DefaultChange(name, old, new, str(passed[-1].since) if passed else None)


def default_at(defaults: Sequence[NewDefault], version: Version) -> str:
    """What the catalogue says that the default is in a release of the family of `defaults`."""
    begun = [each for each in defaults if each.since.numbers <= version.numbers]
    return begun[-1].to if begun else defaults[0].was


def _between(release: Release, before: ServerBinary, after: ServerBinary) -> bool:
    same_family = before.version.is_mariadb == after.version.is_mariadb
    begun = not same_family or release.numbers > before.version.numbers
    return begun and release.numbers <= after.version.numbers


def _same(old: str | None, new: str | None) -> bool:
    if old is None or new is None:
        return (old or "") == (new or "")
    if same_value(old, new):
        return True
    return number(old) is not None and number(old) == number(new)
