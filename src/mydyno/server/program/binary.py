"""Finding a server binary and asking it what it is and what it knows."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from mydyno.core import environment
from mydyno.core.errors import MissingToolError, ServerError
from mydyno.core.server_variables import option_name
from mydyno.core.server_version import Version, parse_version
from mydyno.machine.protocol import Host
from mydyno.server.program.command import server_command
from mydyno.server.program.errorlog import telling_lines

SERVER_NAMES = ("mariadbd", "mysqld")

_MESSAGES = "english/errmsg.sys"
"""Where the error messages are in a share folder; every server has the English ones."""

# sbin is not in an ordinary user's PATH on Debian; the rest is where archives and other packagers put it.
_FOLDERS = (
    *("/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/usr/libexec", "/usr/local/mysql/bin"),
    *("/usr/local/mariadb/bin", "/opt/mysql/bin", "/opt/mariadb/bin"),
)

_INSTALL_HINT = (
    "install one: `apt-get install mariadb-server-core` gives the binary alone, without a service; "
    f"or set {environment.SERVER.name} or `server.binary` to the path of one"
)


_LIBRARIES = {
    "libaio.so.1": "apt-get install libaio1; since Debian 13 and Ubuntu 24.04 libaio1t64, and a link "
    "libaio.so.1 to its libaio.so.1t64",
    "libatomic.so.1": "apt-get install libatomic1",
    "libcrypt.so.1": "apt-get install libcrypt1",
    "libnuma.so.1": "apt-get install libnuma1",
}
"""How to install the shared libraries that servers in archives need."""

_inspected: dict[tuple[str, Path, int, int], ServerBinary] = {}
_RULE = re.compile(r"^-{10,} -{5,}\s*$", re.MULTILINE)
_NO_DEFAULT = "(No default value)"
_MAGIC = b"\x7fELF"
_HEADER = struct.Struct("<4sBB12xH")  # magic, class, byte order, then the machine at byte 18
_LITTLE = 1

_MACHINES = {
    3: "x86",
    8: "mips",
    20: "powerpc",
    21: "ppc64le",
    22: "s390x",
    40: "arm",
    62: "x86_64",
    183: "aarch64",
    243: "riscv64",
    258: "loongarch64",
}
"""e_machine -> name. Source: the registry of ELF machines in the System V ABI (gABI, chapter 4)."""

# A 64-bit kernel runs programs of its 32-bit ancestor, when their libraries are there.
_RUNS_TOO = {"x86_64": {"x86"}, "aarch64": {"arm"}}


@dataclass(frozen=True)
class ServerBinary:
    """A server program: where it is, what release, and every option with its default (None: no default)."""

    path: Path
    """As the server itself sees it."""
    version: Version
    options: Mapping[str, str | None]
    root: Path | None = None
    """The private root that its files are in and that it runs in; None: this machine's own."""
    folder: Path | None = None
    """The folder with all its files, which a guest has to be shown; None: they are of a system."""
    checksum: str | None = None
    """SHA-256 of the program, which distinguishes two builds of one version; None: it is in a guest's
    image."""
    here: bool = True
    """Whether its files are this machine's, or what sees them; else what is compiled in is right."""

    @property
    def build(self) -> str:
        """What a dataset or a run belongs to: the release, and which build of it."""
        return f"{self.version} {self.checksum}" if self.checksum else str(self.version)

    def outside(self, path: Path) -> Path:
        """Where this machine finds a file of the binary's own."""
        return _outside(self.root, path)

    @property
    def file(self) -> Path:
        """The program as this machine finds it."""
        return self.outside(self.path)

    @property
    def share_folder(self) -> Path | None:
        """The folder of messages, character sets and system table scripts that belongs to this binary, as
        the server itself sees it."""
        if not self.here:
            return None
        candidates = _share_folders(self.path)
        if charsets := self.options.get("character_sets_dir"):
            candidates.append(Path(charsets).parent)
        # Some archives leave out the character sets.
        marks = ("charsets", _MESSAGES)
        return next(
            (folder for folder in candidates if any(self.outside(folder / mark).exists() for mark in marks)),
            None,
        )


def find_binary(path: Path | None = None) -> Path:
    """The server binary: `path` when given, else what MYDYNO_SERVER names, else the system's.

    Raises MissingToolError that lists every place searched.
    """
    named = path or (Path(value) if (value := environment.SERVER.read()) else None)
    if named is not None:
        if not _is_program(named):
            what = "is not a program that may be executed" if named.exists() else "does not exist"
            source = "" if path else f" ({environment.SERVER.name})"
            raise MissingToolError(f"the server binary {named}{source} {what}", _INSTALL_HINT)
        return named.resolve()
    searched = search_folders()
    for name in SERVER_NAMES:
        for folder in searched:
            if _is_program(candidate := folder / name):
                return candidate.resolve()
    raise MissingToolError(
        f"no server binary ({' or '.join(SERVER_NAMES)}) was found in {', '.join(map(str, searched))}",
        _INSTALL_HINT,
    )


def search_folders() -> tuple[Path, ...]:
    """Where the system's server is looked for: PATH, then where packages and archives put servers."""
    folders = [folder for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    return tuple(Path(folder) for folder in dict.fromkeys([*folders, *_FOLDERS]))


def inspect_binary(host: Host, path: Path, root: Path | None = None) -> ServerBinary:
    """Asks the binary for its version and options; the answer is kept while the file stays the same.

    With a private `root`, `path` is one inside it. Raises ServerError when it is not a server or cannot run.
    """
    file = _outside(root, path)
    status = file.stat()
    key = (host.name, file, status.st_mtime_ns, status.st_size)
    if key not in _inspected:
        _inspected[key] = _inspect(host, path, root)
    return _inspected[key]


def binary_there(host: Host) -> ServerBinary:
    """The server that is installed on another machine. Raises MissingToolError, ServerError."""
    line = 'for n in $1; do for d in $2; do [ -x "$d/$n" ] && exec readlink -f -- "$d/$n"; done; done; exit 1'
    folders = dict.fromkeys([*_FOLDERS, "/usr/bin"])
    found = host.run(["sh", "-c", line, "sh", " ".join(SERVER_NAMES), " ".join(folders)])
    if found.returncode != 0:
        raise MissingToolError(
            f"{host.name} has no server binary ({' or '.join(SERVER_NAMES)}) in {', '.join(folders)}",
            "install there the release that this machine has, without a service: `apt-get install "
            "mariadb-server-core`",
        )
    path = Path(found.stdout.strip())
    version = parse_version(_ask(host, path, None, "--no-defaults", "--version"))
    options = parse_options(_ask(host, path, None, *help_arguments(path, version, is_file=host.exists)))
    checksum = host.run(["sha256sum", "--", str(path)]).stdout.partition(" ")[0]
    return ServerBinary(path, version, options, checksum=checksum or None, here=False)


def help_arguments(
    program: Path,
    version: Version,
    root: Path | None = None,
    settings: Iterable[str] = (),
    *,
    is_file: Callable[[Path], bool] = Path.is_file,
) -> tuple[str, ...]:
    """What makes the program print its options and their values, with `settings` (`--name=value`) in force.

    A folder that was compiled in and is not there ends a server before it answers: the one for exports ends
    a MySQL, the one for messages a MariaDB before 10.3. `is_file` asks the machine that the program is on.
    """
    exports = () if version.is_mariadb else ("--loose-secure-file-priv=",)
    folders = (each for each in _share_folders(program) if is_file(_outside(root, each / _MESSAGES)))
    messages = [f"--loose-lc-messages-dir={folder}" for folder in islice(folders, 1)]
    return ("--no-defaults", *exports, *messages, *settings, "--verbose", "--help")


def help_text(
    host: Host, path: Path, version: Version, root: Path | None = None, settings: Iterable[str] = ()
) -> str:
    """What the program prints of its options, their values and its option files, with `settings`
    (`--name=value`) in force. Raises ServerError."""
    return _ask(host, path, root, *help_arguments(path, version, root, settings))


def _share_folders(program: Path) -> list[Path]:
    """Where an installation or an archive has `share`; some have the program next to it."""
    prefixes = (program.parent.parent, program.parent)
    return [prefix / "share" / name for prefix in prefixes for name in ("mysql", "mariadb", "")]


def _outside(root: Path | None, path: Path) -> Path:
    return path if root is None else root / path.relative_to("/")


def _inspect(host: Host, path: Path, root: Path | None) -> ServerBinary:
    file = _outside(root, path)
    if fault := architecture_fault(file):
        raise ServerError(
            f"{file} {fault}", "take a build for this machine's processor, or build it again here"
        )
    version = parse_version(_ask(host, path, root, "--no-defaults", "--version"))
    try:
        options = parse_options(help_text(host, path, version, root))
    except ServerError as error:
        raise ServerError(f"{path}: {error.message}") from error
    with file.open("rb") as program:
        checksum = hashlib.file_digest(program, "sha256").hexdigest()
    return ServerBinary(path, version, options, root, checksum=checksum)


def _ask(host: Host, path: Path, root: Path | None, *arguments: str) -> str:
    command = server_command(host, path, arguments, root=root)
    answer = host.run(command.argv, identity=command.identity, timeout_seconds=30)
    if answer.returncode != 0:
        lines = telling_lines(answer.stderr or answer.stdout) or ("it said nothing",)
        output = "\n  ".join(lines)
        raise ServerError(
            f"{path} {' '.join(arguments)} failed: {output}", _why_it_cannot_run(host, root, output)
        )
    return answer.stdout


def _why_it_cannot_run(host: Host, root: Path | None, output: str) -> str | None:
    if match := re.search(r"loading shared libraries: (\S+):", output):
        if root is not None:
            return f"the private root {root} lacks {match[1]}, and this machine's own is not looked for"
        return f"this machine lacks {match[1]}: {_LIBRARIES.get(match[1], 'install the package that has it')}"
    if "GLIBC" in output:
        return "it was built for a newer system than this one"
    if "Permission denied" in output and host.server_identity is not None:
        user = host.server_identity.name
        return (
            f"servers run as {user} when mydyno is root: put it where {user} may enter every folder above it"
        )
    return None


def _is_program(path: Path) -> bool:
    # A folder in PATH that this user may not enter holds nothing for it; is_file() would raise.
    return os.access(path, os.X_OK) and path.is_file()


def parse_options(help_text: str) -> Mapping[str, str | None]:
    """Option names with their defaults (None: the server has none) from the table that ends the help.

    The table's first column is as wide as its longest name and the second runs to the end of the
    line. Raises ServerError when there is no such table or it is not a server's.
    """
    rule = _RULE.search(help_text)
    options: dict[str, str | None] = {}
    if rule is not None:
        for line in help_text[rule.end() + 1 :].splitlines():
            if not line.strip():
                break
            name, _, value = line.partition(" ")
            options[option_name(name)] = None if value.strip() == _NO_DEFAULT else value.strip()
    if "datadir" not in options or "max_connections" not in options:
        raise ServerError("not a MySQL or MariaDB server: its --verbose --help lists no server options")
    return options


def architecture_fault(program: Path, machine: str | None = None) -> str | None:
    """Why the file cannot run on `machine` (None: this one); None when nothing speaks against it.

    A script is as good as a program: build trees wrap servers in one.
    """
    machine = machine or platform.machine()
    with program.open("rb") as file:
        header = file.read(_HEADER.size)
    if header.startswith(b"#!"):
        return None
    if len(header) < _HEADER.size or not header.startswith(_MAGIC):
        return "is not a program: it is neither an ELF file nor a script"
    _, _, order, number = _HEADER.unpack(header)
    if order != _LITTLE:
        number = int.from_bytes(header[18:20], "big")
    made_for = _MACHINES.get(number, f"machine {number}")
    if made_for == machine or made_for in _RUNS_TOO.get(machine, ()):
        return None
    return f"is a program for {made_for}, and this machine is {machine}"
