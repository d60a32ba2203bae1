"""Where each option of a server comes from, over all its option files and what they include: pure.

A server reads its files in order, an included one in the place of the line that includes it, those of a
folder by name; of an option that is said several times the last one counts, whatever its group.
Sources: MySQL Reference Manual, "Using Option Files" and "Program Option Modifiers"; MariaDB Knowledge
Base, "Configuring MariaDB with Option Files".

The format is that of MySQL Reference Manual, "Using Option Files" and MariaDB Knowledge Base, "Configuring
MariaDB with Option Files"; what they leave open (where a `#` ends a line, what a backslash means) is as
mysys/my_default.c of both does it.
"""

import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mydyno.core.server_variables import OFF_WORDS, ON_WORDS, option_name
from mydyno.core.server_version import Version

Read = Callable[[str], str | None]
"""The text of a file; None when it is missing or may not be read."""
Listing = Callable[[str], Sequence[str] | None]
"""The names in a folder; None when it is missing or may not be read."""

_DEEPEST = 10
"""Files that include each other deeper are left out by the servers, too (mysys/my_default.c)."""
_KNOWN_STARTS = ("/etc/my.cnf", "/etc/mysql/my.cnf", "~/.my.cnf")
CHOOSE_FILES = frozenset({"defaults_file", "defaults_extra_file", "defaults_group_suffix", "no_defaults"})
"""Plain names of the options that choose option files; no file can have them."""
_STARTS = re.compile(r"^Default options are read from the following files in the given order:\n(.+)$", re.M)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "s": " ", '"': '"', "'": "'", "\\": "\\"}
_QUOTES = "'\""
_DIRECTIVES = ("includedir", "include")


@dataclass(frozen=True)
class WrittenOption:
    """`name = value` in a group, the name as it is written. `value` None: there was no equals sign."""

    line: int
    group: str
    name: str
    value: str | None


@dataclass(frozen=True)
class Include:
    """`!include FILE` or `!includedir FOLDER`."""

    line: int
    path: str
    is_folder: bool


@dataclass(frozen=True)
class Mistake:
    """A line that no server understands. `fatal`: no server starts with it."""

    line: int
    why: str
    fatal: bool


Item = WrittenOption | Include | Mistake


def items(text: str) -> Iterator[Item]:
    """What an option file says, in its order; lines are counted from 1."""
    group: str | None = None
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        if line[0] == "!":
            yield _directive(number, line)
        elif line[0] == "[":
            name, closed, _ = line[1:].partition("]")
            group = name.strip() if closed else group
            if not closed:
                yield Mistake(number, f"the group {line} has no closing bracket", fatal=True)
        elif group is None:
            yield Mistake(number, "an option before the first [group]", fatal=True)
        else:
            name, equals, value = _without_comment(line).partition("=")
            yield WrittenOption(number, group, name.strip(), _value(value.strip()) if equals else None)


def _directive(number: int, line: str) -> Item:
    words = line[1:].split(None, 1)
    if len(words) < 2 or words[0] not in _DIRECTIVES:
        return Mistake(number, f"{line} is not a directive that servers know", fatal=False)
    return Include(number, words[1], is_folder=words[0] == "includedir")


def _without_comment(line: str) -> str:
    """Up to a `#` outside quotes."""
    quote, escaped = "", False
    for position, character in enumerate(line):
        if character in _QUOTES and not escaped:
            quote = character if not quote else "" if quote == character else quote
        if character == "#" and not quote:
            return line[:position]
        escaped = bool(quote) and character == "\\" and not escaped
    return line


def _value(written: str) -> str:
    """Quotes around it and backslashes in it taken for what they mean."""
    if len(written) > 1 and written[0] in _QUOTES and written[-1] == written[0]:
        written = written[1:-1]
    parts: list[str] = []
    characters = iter(written)
    for character in characters:
        if character != "\\":
            parts.append(character)
            continue
        after = next(characters, "")
        parts.append(_ESCAPES.get(after, "\\" + after))
    return "".join(parts)


@dataclass(frozen=True)
class OptionLine:
    """An option that the server reads."""

    file: str
    line: int
    group: str
    name: str
    """The variable's plain name: small letters, underscores, no loose-, skip- or enable-."""
    value: str | None
    """None: the name alone, which switches on."""

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Fault:
    """A line that the server does not understand, or a file that it cannot have."""

    place: str
    why: str
    fatal: bool = False
    """Whether no server starts with it."""


@dataclass(frozen=True)
class OptionFiles:
    """All that a server reads, in its order."""

    files: tuple[str, ...]
    folders: tuple[str, ...]
    """Of `!includedir`, in the order in which they are read: what lies in the last one wins over all
    before it, though not over lines below its `!includedir`."""
    lines: tuple[OptionLine, ...]
    faults: tuple[Fault, ...]

    def of(self, name: str) -> tuple[OptionLine, ...]:
        """Every line that says this variable; the last one counts."""
        return tuple(line for line in self.lines if line.name == name)

    def effective(self, name: str) -> OptionLine | None:
        """The line that counts; None when no file says it."""
        lines = self.of(name)
        return lines[-1] if lines else None

    def overridden(self, name: str) -> tuple[OptionLine, ...]:
        """The lines that say it and lose."""
        return self.of(name)[:-1]


def option_files(
    read: Read,
    listing: Listing,
    start_files: Sequence[str],
    groups: Collection[str],
    known: Collection[str] = (),
) -> OptionFiles:
    """What a server that begins with `start_files` reads of `groups`.

    `known`: plain names of the server's variables, by which `skip_name_resolve` is distinguished from "no
    name_resolve" and an abbreviation from a whole name.
    """
    reading = _Reading(read, listing, frozenset(groups), frozenset(known))
    for path in start_files:
        reading.file(path, included_by=None, depth=0)
    return OptionFiles(
        tuple(reading.files), tuple(reading.folders), tuple(reading.lines), tuple(reading.faults)
    )


def start_files(help_text: str | None = None, home: str | None = None) -> tuple[str, ...]:
    """The files that `mysqld --verbose --help` says it begins with; without its text, the usual ones.

    `home`: of the server's user; without one, files below ~ are left out.
    """
    line = _STARTS.search(help_text or "")
    named = line[1].split() if line else _KNOWN_STARTS
    at_home = (name.replace("~", home, 1) if home and name.startswith("~/") else name for name in named)
    return tuple(dict.fromkeys(name for name in at_home if not name.startswith("~")))


def command_line_options(arguments: Iterable[str]) -> dict[str, str]:
    """Plain name -> value ('' without one) of the options among a server's arguments."""
    options = (argument.removeprefix("--").partition("=") for argument in arguments if argument[:2] == "--")
    return {option_name(name).removeprefix("loose_"): value for name, _, value in options}


def chosen_files(options: Mapping[str, str], usual: tuple[str, ...]) -> tuple[str, ...]:
    """The files that a server with these `options` begins with, instead of the `usual` ones."""
    if "no_defaults" in options:
        return ()
    if options.get("defaults_file"):
        return (options["defaults_file"],)
    extra = options.get("defaults_extra_file")
    if not extra:
        return usual
    # An extra file is read after the global ones and before the user's own.
    own = tuple(path for path in usual if path.endswith("/.my.cnf"))
    return (*(path for path in usual if path not in own), extra, *own)


def server_groups(version: Version, suffix: str | None = None) -> frozenset[str]:
    """The groups that a server of this release reads; `suffix` is --defaults-group-suffix."""
    series = f"{version.numbers[0]}.{version.numbers[1]}"
    groups = {"mysqld", "server", f"mysqld-{series}"}
    if version.is_mariadb:
        groups |= {
            "mariadb",
            f"mariadb-{series}",
            "mariadbd",
            f"mariadbd-{series}",
            "client-server",
            "galera",
        }
    return frozenset(groups | {f"{group}{suffix}" for group in groups} if suffix else groups)


def meant(written: str, value: str | None, known: Collection[str] = ()) -> tuple[str, str | None]:
    """The plain name and the value that an option means: `skip-log-bin` is log_bin = OFF."""
    name = option_name(written).removeprefix("loose_")
    if name in known:
        return name, value
    for prefix, switched in (("skip_", "OFF"), ("disable_", "OFF"), ("enable_", "ON")):
        plain = name.removeprefix(prefix)
        if plain != name and (plain in known or not known):
            return plain, _switched(value, switched)
    begun = [each for each in known if each.startswith(name)]
    return (begun[0] if len(begun) == 1 else name), value


def _switched(value: str | None, word: str) -> str:
    """`skip-x = OFF` is x = ON."""
    if value is not None and value.casefold() in OFF_WORDS:
        return "ON" if word == "OFF" else "OFF"
    return word if value is None or value.casefold() in ON_WORDS else value


@dataclass
class _Reading:
    read: Read
    listing: Listing
    groups: frozenset[str]
    known: frozenset[str]
    files: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    lines: list[OptionLine] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def file(self, path: str, included_by: str | None, depth: int) -> None:
        text = self.read(path)
        if text is None:
            if included_by is not None:
                self.faults.append(Fault(included_by, f"{path} is not there or may not be read"))
            return
        self.files.append(path)
        for item in items(text):
            place = f"{path}:{item.line}"
            if isinstance(item, Mistake):
                self.faults.append(Fault(place, item.why, item.fatal))
            elif isinstance(item, Include):
                self._include(item, place, depth + 1)
            elif item.group in self.groups:
                name, value = meant(item.name, item.value, self.known)
                self.lines.append(OptionLine(path, item.line, item.group, name, value))

    def _include(self, item: Include, place: str, depth: int) -> None:
        if depth > _DEEPEST:
            self.faults.append(Fault(place, f"files include each other more than {_DEEPEST} deep"))
        elif not item.is_folder:
            self.file(item.path, place, depth)
        elif (names := self.listing(item.path)) is None:
            self.faults.append(Fault(place, f"{item.path} is not there or may not be read"))
        else:
            self.folders.append(item.path)
            for name in sorted(name for name in names if name.endswith(".cnf")):
                self.file(posixpath.join(item.path, name), place, depth)
