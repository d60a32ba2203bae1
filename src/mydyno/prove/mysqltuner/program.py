"""MySQLTuner itself: found in PATH, or fetched from Debian and unpacked, and run against one server.

Its version of 2022 (1.9.9, Debian 12) and that of 2.6.0 divide by innodb_buffer_pool_chunk_size and end
where a server shows 0 there (MariaDB 10.11.12 and later), so one in PATH is taken only when it is as new as
the one that is known to work.
"""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from mydyno.core.errors import EngineError, MissingToolError
from mydyno.machine.images import unpacked
from mydyno.machine.images.build import Progress
from mydyno.machine.images.suites import MOVING_SUITE
from mydyno.machine.local import MemoryFile
from mydyno.server.access.login import Login

PACKAGE = "mysqltuner"
LEAST = (2, 9)
"""Versions since this one live through the servers that mydyno knows."""
_PROGRAM = Path("usr") / "bin" / PACKAGE
_MOST_SECONDS = 300


def find() -> Path | None:
    """The program in PATH or in mydyno's cache, when it is new enough."""
    named = shutil.which(PACKAGE)
    places = [Path(named)] if named else []
    places.append(unpacked.folder_of(PACKAGE) / _PROGRAM)
    return next((place for place in places if place.is_file() and version_of(place) >= LEAST), None)


def version_of(program: Path) -> tuple[int, ...]:
    """As the script itself says it; () where it does not."""
    text = program.read_text(encoding="utf-8", errors="replace")
    match = re.search(r'\$tunerversion\s*=\s*"(\d+(?:\.\d+)*)"', text)
    return tuple(map(int, match[1].split("."))) if match else ()


def fetch(progress: Progress) -> Path:
    """The program, from the suite of Debian that has the newest, unpacked into mydyno's cache.

    Nothing is installed. Raises MissingToolError, HostError.
    """
    if (here := find()) is not None:
        return here

    def check(tree: Path) -> None:
        if version_of(tree / _PROGRAM) < LEAST:
            raise MissingToolError(
                f"Debian {MOVING_SUITE} has no mysqltuner of {LEAST[0]}.{LEAST[1]} or later"
            )

    return unpacked.fetch(PACKAGE, MOVING_SUITE, progress, check) / _PROGRAM


def run(program: Path, login: Login) -> str:
    """What it prints of the server. The password is in an option file in memory.

    Raises MissingToolError without perl or a client, EngineError when it fails.
    """
    for tool in ("perl", "mysql", "mysqladmin"):
        if shutil.which(tool) is None:
            raise MissingToolError(f"MySQLTuner needs {tool}", "apt-get install perl default-mysql-client")
    with tempfile.TemporaryDirectory(prefix="mydyno-tuner-") as name:
        options = MemoryFile(option_file(login).encode())
        command = [
            *("perl", str(program), "--defaults-file", options.path),
            *("--nocolor", "--noask", "--skippassword"),
        ]
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_MOST_SECONDS,
                cwd=name,
                check=False,
                pass_fds=(options.descriptor,),
            )
        except subprocess.TimeoutExpired:
            raise EngineError(f"MySQLTuner did not end within {_MOST_SECONDS} s") from None
        finally:
            options.wipe()
    if done.returncode != 0:
        output = "\n".join(f"  | {line}" for line in done.stderr.splitlines()[-6:])
        raise EngineError(f"MySQLTuner ended with {done.returncode}\n{output}")
    return done.stdout


def option_file(login: Login) -> str:
    """A `[client]` group. The server's clients take `\\` and `"` inside quotes with a backslash in front."""

    def quoted(text: str) -> str:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

    place = (
        {"socket": str(login.socket)} if login.socket else {"host": str(login.host), "port": str(login.port)}
    )
    options = {"user": login.user, "password": login.password.reveal(), **place}
    return "[client]\n" + "".join(f"{name} = {quoted(value)}\n" for name, value in options.items())
