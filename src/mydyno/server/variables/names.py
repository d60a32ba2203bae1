"""The names of settings: which the binary under test knows, and what the others are there."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from mydyno.core.errors import SpecError
from mydyno.core.server_variables import OFF_WORDS, ON_WORDS, Setting, option_name
from mydyno.core.server_version import Version
from mydyno.server.program.binary import ServerBinary
from mydyno.server.program.config import refusal
from mydyno.server.variables import Note, Remark, catalogue, translate
from mydyno.server.variables.translate import SettingProblem as SettingProblem

_SKIPPING = ("skip_", "disable_")
_PLAIN = ("enable_", "loose_")
_READS_WORDS = (5, 6, 0)


class SettingsError(SpecError):
    """All the settings of one configuration that its binary cannot take."""

    def __init__(self, binary: ServerBinary, problems: tuple[SettingProblem, ...]) -> None:
        self.problems = problems
        lines = "\n".join(f"  - {problem}" for problem in problems)
        super().__init__(f"{binary.path} ({binary.version}) cannot be started with these settings:\n{lines}")


@dataclass(frozen=True)
class Understood:
    """What a binary makes of a configuration. `settings` bear the names that it lists."""

    settings: Mapping[str, Setting]
    notes: tuple[Note | Remark, ...]
    """What was translated from another release, and what to know of the rest."""
    problems: tuple[SettingProblem, ...]
    written_as: Mapping[str, str]
    """Name in `settings` -> as the configuration spells it; those of a translation are not among them."""


class Knows(Protocol):
    """A server whose variables are known: a binary, or one that runs."""

    @property
    def version(self) -> Version: ...

    @property
    def options(self) -> Mapping[str, str | None]: ...


def understand(binary: Knows, config: Mapping[str, Setting]) -> Understood:
    """Every setting under the name that this very binary lists; those of other releases translated."""
    problems: list[SettingProblem] = []
    plain: dict[str, Setting] = {}
    written_as: dict[str, str] = {}
    for written, value in config.items():
        name, meant = _resolve(binary, written, value)
        problem = _problem(binary, written, name, value)
        if problem is None and name in written_as:
            problem = SettingProblem(written, f"is the same setting as {written_as[name]}")
        if problem is not None:
            problems.append(problem)
            continue
        written_as[name] = written
        plain[name] = meant
    translated = translate(plain, binary.options, binary.version, catalogue())
    for name, value in translated.settings.items():
        if name not in plain and (why := refusal(name, value)):
            problems.append(SettingProblem(name, why))
    problems += [replace(each, name=written_as[each.name]) for each in translated.problems]
    order = list(config)
    problems.sort(key=lambda problem: order.index(problem.name) if problem.name in config else len(order))
    settings = {name: _switched(binary, name, value) for name, value in translated.settings.items()}
    return Understood(settings, translated.notes, tuple(problems), written_as)


def _switched(binary: Knows, name: str, value: Setting) -> Setting:
    """A switch as a number for MySQL before 5.6, where some do not understand the words: 5.5.34 takes
    `--innodb-file-per-table=ON` for off and `--innodb-adaptive-flushing=OFF` for on."""
    word = str(value).lower()
    old = not binary.version.is_mariadb and binary.version.numbers < _READS_WORDS
    if not old or binary.options.get(name) not in ("TRUE", "FALSE") or word not in ON_WORDS | OFF_WORDS:
        return value
    return int(word in ON_WORDS)


def canonical(binary: ServerBinary, config: Mapping[str, Setting]) -> dict[str, Setting]:
    """The settings under the names that the binary lists: `skip-log-bin` is `log_bin: false`.

    Raises SettingsError with every problem.
    """
    understood = understand(binary, config)
    if understood.problems:
        raise SettingsError(binary, understood.problems)
    return dict(understood.settings)


def _resolve(binary: Knows, written: str, value: Setting) -> tuple[str, Setting]:
    """The plain name and value that `written: value` means.

    `skip_x` is x switched off (MySQL Reference Manual, "Program Option Modifiers"); a name that the
    binary itself lists, like skip_name_resolve, is that name. What the binary does not list may be a
    variable of another release.
    """
    name = option_name(written)
    for known in (binary.options, catalogue().variables):
        if name in known:
            return name, value
        for prefix in _PLAIN:
            if name.startswith(prefix) and name.removeprefix(prefix) in known:
                return name.removeprefix(prefix), value
        for prefix in _SKIPPING:
            switched = name.removeprefix(prefix)
            word = str(value).lower()
            if name.startswith(prefix) and switched in known and word in ON_WORDS | OFF_WORDS:
                return switched, word in OFF_WORDS
    return name, value


def _problem(binary: Knows, written: str, name: str, value: Setting) -> SettingProblem | None:
    why = refusal(name, value)
    if why is not None:
        return SettingProblem(written, why)
    if name in binary.options or name in catalogue():
        return None
    nearest = catalogue().nearest(name, binary.options)
    listed = [each for each in nearest if each in binary.options]
    return SettingProblem(written, "this server has no such setting", tuple(listed or nearest))
