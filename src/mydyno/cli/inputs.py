"""Files of advice and facts that the user names, and questions before something is changed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mydyno.cli import screen
from mydyno.core.errors import UsageError

if TYPE_CHECKING:
    from mydyno.advisor.advice import Advice
    from mydyno.survey.facts import System


def advice_of(path: Path) -> Advice:
    """Raises UsageError."""
    from mydyno.advisor.advice import read_advice

    return read_advice(_text(path, "mydyno advise --out FILE makes one"), str(path))


def facts_of(path: Path) -> System:
    """Raises UsageError."""
    from mydyno.survey.facts.system import read_system

    return read_system(_text(path, "mydyno facts > FILE makes one"), str(path))


def _text(path: Path, hint: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}", hint) from None


def confirm(question: str, hint: str, problem: str = "standard input is not a terminal") -> None:
    """Ends the program unless the answer is yes. Raises UsageError without a terminal."""
    if not sys.stdin.isatty():
        raise UsageError(problem, hint)
    if not screen.confirm(question):
        screen.echo("Nothing was changed.")
        raise typer.Exit
