"""What all shares that is fetched or built for the cache: watched programs, tools, the date."""

import shutil
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from mydyno.core.errors import HostError, MissingToolError
from mydyno.machine.local import LocalHost

Progress = Callable[[str], None]
"""Hears what is being done, a short phrase each time that changes."""

EPOCH = 1_000_000_000
"""The time stamp (seconds since 1970) of whatever would else carry the moment of its building."""

DOCUMENTS = ("doc", "man", "info", "locale", "gtk-doc", "lintian", "bash-completion", "zsh")
"""Folders of /usr/share that nothing that runs by itself needs."""

_PACKAGES = {
    "mmdebstrap": "mmdebstrap",
    "mkfs.erofs": "erofs-utils",
    "apt-get": "apt",
    "dpkg-deb": "dpkg",
    "tar": "tar",
    "unshare": "util-linux",
    "newuidmap": "uidmap",
    "bwrap": "bubblewrap",
}
_LOOK_EVERY_SECONDS = 0.5
_PATIENCE_SECONDS = 10.0


def need(*programs: str) -> None:
    """Raises MissingToolError that names every missing program's Debian package."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        packages = " ".join(dict.fromkeys(_PACKAGES[program] for program in missing))
        raise MissingToolError(
            f"this needs {', '.join(missing)}, not found in PATH",
            f"apt-get install --no-install-recommends {packages}",
        )


def watch(
    argv: Sequence[str],
    log: Path,
    progress: Progress,
    *,
    what: str,
    hint: str = "can this machine reach its package sources? `apt-get update` shows it",
) -> None:
    """Runs a program to its end, its output in `log`, and passes `progress` each last line of it.

    Raises HostError with the end of the log when it fails. Whatever comes between, Ctrl-C too, ends the
    program first kindly and then by force.
    """
    progress(what)
    log.touch()
    before, shown = len(_lines(log)), ""
    process = LocalHost().start(argv, output=log)
    try:
        while (code := process.wait(_LOOK_EVERY_SECONDS)) is None:
            line = _last_step(_lines(log)[before:])
            if line != shown:
                shown = line
                progress(f"{what}: {line}")
    finally:
        if process.returncode() is None:
            process.terminate()
            if process.wait(_PATIENCE_SECONDS) is None:
                process.kill()
                process.wait(_PATIENCE_SECONDS)
    if code != 0:
        tail = "\n".join(f"  | {line}" for line in _lines(log)[-12:])
        raise HostError(f"{what} failed: {argv[0]} ended with {code}\n{tail}", hint)


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _last_step(lines: list[str]) -> str:
    """What mmdebstrap and apt write as information: `I: installing packages...`, `Get:1 http...`."""
    steps = [line for line in lines if line.startswith(("I: ", "Get:"))]
    return steps[-1].partition(" ")[2].rstrip(".") if steps else ""


def _lines(log: Path) -> list[str]:
    return [line for line in log.read_text(errors="replace").replace("\r", "\n").splitlines() if line.strip()]
