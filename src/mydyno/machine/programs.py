"""Finding mydyno's own programs, which are installed next to this Python."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from mydyno.core import environment
from mydyno.core.errors import MissingToolError

_NAMED = {"mydyno-engine": environment.ENGINE, "mydyno-agent": environment.AGENT}


def find_program(name: str) -> Path:
    """The program that its variable names, else next to Python, else on PATH. Raises MissingToolError."""
    variable = _NAMED[name]
    named = variable.read()
    if named:
        path = shutil.which(named)
        if not path:
            raise MissingToolError(
                f"{variable.name} names {named}, which is not a program",
                f"unset it, or give the path of {name}",
            )
        # Absolute: it is started in another folder.
        return Path(path).absolute()
    installed = Path(sys.executable).parent / name
    if installed.exists():
        return installed
    on_path = shutil.which(name)
    if on_path:
        return Path(on_path).absolute()
    raise MissingToolError(
        f"{name} was not found (looked next to {sys.executable} and on PATH)",
        f"install mydyno again with `pip install .`, or name the binary in {variable.name}",
    )
