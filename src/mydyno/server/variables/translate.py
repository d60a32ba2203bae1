"""Settings written for one release, brought to the server that is to run with them: pure.

A setting that the server knows is passed on as it is. Only a name that it does not know, or lists without
heeding it, is translated: into the variable that does the same there, or into nothing where its value means
nothing there. What is neither is a problem that names the alternative.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from mydyno.core.server_variables import Setting
from mydyno.core.server_version import Version
from mydyno.server.variables.catalogue import Catalogue
from mydyno.server.variables.convert import ConversionError, convert, text_of, whole_number
from mydyno.server.variables.release import Family
from mydyno.server.variables.row import Becomes, Row, same_value


@dataclass(frozen=True)
class Note:
    """What became of one setting, for people; `became` is empty when it was left out."""

    name: str
    value: str
    became: Mapping[str, Setting]
    why: str

    def __str__(self) -> str:
        here = ", ".join(f"{name} = {text_of(value)}" for name, value in self.became.items())
        why = f" ({self.why})" if self.why else ""
        return f"{self.name} = {self.value}: {here + ' here' if here else 'left out here'}{why}"


@dataclass(frozen=True)
class Remark:
    """Something to know of a setting that is passed on as it is."""

    name: str
    value: str
    says: str

    def __str__(self) -> str:
        return f"{self.name} = {self.value}: {self.says}"


@dataclass(frozen=True)
class SettingProblem:
    """One setting that cannot be used: its name as written, why, and names that may have been meant."""

    name: str
    why: str
    nearest: tuple[str, ...] = ()

    def __str__(self) -> str:
        meant = f" (did you mean {' or '.join(self.nearest)}?)" if self.nearest else ""
        return f"{self.name}: {self.why}{meant}"


@dataclass(frozen=True)
class Translation:
    """`settings` are for this server. A name that the table does not know either is passed on."""

    settings: Mapping[str, Setting]
    notes: tuple[Note | Remark, ...]
    problems: tuple[SettingProblem, ...]


@dataclass
class _Work:
    configured: Mapping[str, Setting]
    known: Container[str]
    version: Version
    table: Catalogue
    settings: dict[str, Setting] = field(default_factory=dict)
    made_by: dict[str, str] = field(default_factory=dict)
    """Name here -> the setting that it comes from."""
    consumed: set[str] = field(default_factory=set)
    """Settings that went into another one's translation."""
    notes: list[Note | Remark] = field(default_factory=list)
    problems: list[SettingProblem] = field(default_factory=list)


def translate(
    configured: Mapping[str, Setting], known: Container[str], version: Version, table: Catalogue
) -> Translation:
    """`configured` by plain names -> the settings for a server of `version` that knows the names `known`."""
    work = _Work(configured, known, version, table)
    for name, value in configured.items():
        if name not in work.consumed:
            _one(work, name, value)
    return Translation(work.settings, tuple(work.notes), tuple(work.problems))


def _one(work: _Work, name: str, value: Setting) -> None:
    row = work.table.get(name)
    if row is None:
        _put(work, name, {name: value})
        return
    if why := _refusal(row, value, work.version):
        work.problems.append(SettingProblem(name, why))
    elif name in work.known and not row.ignored(work.version):
        _put(work, name, {name: value})
        _remark(work, name, value, row)
    elif not _renamed(work, name, value, row) and not _dropped(work, name, value, row):
        _missing(work, name, row)


def _refusal(row: Row, value: Setting, version: Version) -> str | None:
    for refused in row.refused:
        meant = refused.holds(version) and same_value(value, refused.value)
        if meant and version.vendor not in refused.except_for:
            return refused.because
    return None


def _refused_there(work: _Work, made: Mapping[str, Setting]) -> str | None:
    """Why this server does not take what a setting became."""
    for name, value in made.items():
        row = work.table.get(name)
        if row is not None and (why := _refusal(row, value, work.version)):
            return f"it is {name} = {text_of(value)} here, and {why}"
    return None


def _remark(work: _Work, name: str, value: Setting, row: Row) -> None:
    for hint in row.hints:
        here = [word for written, word in hint.words.items() if same_value(value, written)]
        if hint.holds(work.version) and (here or not hint.words):
            work.notes.append(Remark(name, text_of(value), hint.says.replace("{here}", "".join(here))))


def _renamed(work: _Work, name: str, value: Setting, row: Row) -> bool:
    """Whether it became other settings, or could not, which is reported."""
    for becomes in row.becomes:
        if not becomes.holds(work.version) or becomes.name not in work.known or becomes.name == name:
            continue
        target = work.table.get(becomes.name)
        if target is not None and target.ignored(work.version):
            continue
        partner = _partner(work, name, becomes)
        try:
            factor = None if partner is None else whole_number(work.configured[partner])
            made = convert(becomes, value, factor)
        except ConversionError as error:
            if any(drop.holds(work.version) and drop.takes(value) for drop in row.dropped):
                return False
            work.problems.append(SettingProblem(name, f"it is {becomes.name} here, and {error}"))
            return True
        if why := _refused_there(work, made):
            work.problems.append(SettingProblem(name, why))
            return True
        also = ""
        if partner is not None and becomes.how == "times":
            work.consumed.add(partner)
            also = f" with {partner} = {text_of(work.configured[partner])}"
        _put(work, name, made)
        work.notes.append(Note(name, text_of(value) + also, made, becomes.because or _since(becomes, work)))
        return True
    return False


def _partner(work: _Work, name: str, becomes: Becomes) -> str | None:
    """The other setting that a product or a share needs, when it is configured."""
    if becomes.by is None or becomes.by == name or becomes.by not in work.configured:
        return None
    return becomes.by


def _since(becomes: Becomes, work: _Work) -> str:
    target = work.table.get(becomes.name)
    family = Family.of(work.version)
    life = target.life(family) if target is not None else None
    if life is None or life.since is None:
        return f"{family.label} calls it so"
    return f"{family.label} calls it so since {life.since}"


def _dropped(work: _Work, name: str, value: Setting, row: Row) -> bool:
    for drop in row.dropped:
        if drop.holds(work.version) and drop.takes(value):
            work.notes.append(Note(name, text_of(value), {}, drop.because))
            return True
    return False


def _missing(work: _Work, name: str, row: Row) -> None:
    if row.where == "running":
        work.problems.append(SettingProblem(name, "only a running server has it: no option sets it at start"))
    elif name in work.known:  # Listed, not heeded, and nothing stands for it.
        work.problems.append(SettingProblem(name, f"this server lists it without heeding it; {_help(row)}"))
    else:
        work.problems.append(SettingProblem(name, f"this server has no such setting; {_help(row)}"))


def _help(row: Row) -> str:
    return "; ".join(filter(None, [row.history(), row.instead]))


def _put(work: _Work, name: str, made: Mapping[str, Setting]) -> None:
    for here, value in made.items():
        other = work.made_by.get(here) or (here if here in work.configured and here != name else None)
        if other is not None and other not in work.consumed and other != name:
            and_also = "which is configured, too" if other == here else f"and so is {other}"
            work.problems.append(SettingProblem(name, f"it is {here} here, {and_also}: one of them"))
            continue
        work.settings[here] = value
        work.made_by[here] = name
