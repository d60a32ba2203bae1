"""The sides of a rehearsal: what differs between them, and the settings that each release takes of a file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from mydyno.core.errors import UsageError
from mydyno.core.server_variables import CONTROLLED, option_name
from mydyno.lab.stack import ServerBinary, understand
from mydyno.server.program.config import refusal
from mydyno.survey.facts.option_files import option_files, server_groups

_TWO = "two or more of --releases, two or more of --settings, or --schema-change"


@dataclass(frozen=True)
class Side:
    """One of the servers that replay the trace; the first of all is the baseline."""

    name: str
    """A level of the experiment's factor."""
    release: str
    settings_file: Path | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    """Under the names of this release."""
    schema_change: Path | None = None
    notes: tuple[str, ...] = ()
    """What was translated or left out of the settings file."""

    @property
    def said(self) -> str:
        parts = [self.release]
        if self.settings_file is not None:
            parts.append(f"settings of {self.settings_file.name}")
        if self.schema_change is not None:
            parts.append(f"after {self.schema_change.name}")
        return ", ".join(parts)


def sides_of(
    releases: Sequence[str], settings: Sequence[Path], schema_change: Path | None
) -> tuple[Side, ...]:
    """Sides that differ in one respect. Raises UsageError when there are not two, or two respects."""
    names = tuple(releases) or ("system",)
    if len(names) > 1 and schema_change is not None:
        raise UsageError("--schema-change compares schemas on one release", "give one release, or no change")
    if len(settings) > 1 and schema_change is not None:
        raise UsageError("--schema-change and several --settings are two differences", "give one of them")
    if len(names) > 1 and len(settings) not in (0, 1, len(names)):
        raise UsageError(
            f"{len(settings)} settings files for {len(names)} releases", "one for all, or one for each"
        )
    if len(names) > 1:
        files: list[Path | None] = [*settings] or [None]
        files = files * len(names) if len(files) == 1 else files
        sides = [Side(name, name, file) for name, file in zip(names, files, strict=True)]
    elif len(settings) > 1:
        sides = [Side(file.stem, names[0], file) for file in settings]
    elif schema_change is not None:
        plain = Side("as it is", names[0], settings[0] if settings else None)
        sides = [plain, replace(plain, name=schema_change.stem, schema_change=schema_change)]
    else:
        raise UsageError("a rehearsal compares two sides, and there is one", _TWO)
    return tuple(_named_apart(sides))


def _named_apart(sides: Sequence[Side]) -> Sequence[Side]:
    """The same release twice is a rehearsal of nothing, which has to be silent."""
    names: list[str] = []
    apart = []
    for side in sides:
        name, number = side.name, 2
        while name in names:
            name, number = f"{side.name} ({number})", number + 1
        names.append(name)
        apart.append(replace(side, name=name))
    return apart


def with_settings(side: Side, binary: ServerBinary) -> Side:
    """The side with what its release takes of the settings file, translated by the catalogue.

    Places, ports and other settings that mydyno controls are left out, and so is what the release does not
    know: the server of an upgrade would not start with it. Raises UsageError for a file with faults.
    """
    if side.settings_file is None:
        return side
    path = str(side.settings_file)
    read = option_files(
        lambda name: _text(Path(name)),
        lambda name: _names(Path(name)),
        (path,),
        server_groups(binary.version),
        binary.options.keys(),
    )
    if not read.files:
        raise UsageError(f"--settings {path} cannot be read", "an option file with a group [mysqld]")
    if (fault := next((each for each in read.faults if each.fatal), None)) is not None:
        raise UsageError(f"{fault.place}: {fault.why}", "servers refuse the file, too")
    config: dict[str, str] = {}
    notes: list[str] = []
    for line in read.lines:
        name = option_name(line.name)
        value = "ON" if line.value is None else line.value
        if name in CONTROLLED or refusal(name, value) is not None:
            notes.append(f"{name} is left out: a private server has separate places and ports")
            continue
        config.pop(name, None)
        config[name] = value
    understood = understand(binary, config)
    for problem in understood.problems:
        config.pop(problem.name, None)
        notes.append(f"{problem.name} is left out: {problem.why}")
    notes += [str(note) for note in understood.notes]
    return replace(side, settings=config, notes=tuple(dict.fromkeys(notes)))


def _text(path: Path) -> str | None:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return None


def _names(path: Path) -> list[str] | None:
    try:
        return [each.name for each in path.iterdir()]
    except OSError:
        return None
