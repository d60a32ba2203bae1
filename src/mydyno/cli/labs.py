"""Opening a lab for a command, with what people have to know about it told."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mydyno.cli import screen

if TYPE_CHECKING:
    from mydyno.lab.results.store import Lab
    from mydyno.lab.results.upgrade import Upgrade


def open_lab(path: Path, *, write: bool, trust: bool) -> Lab:
    """As `Lab.open`; an upgrade is told on standard error. `trust`: --trust was given."""
    from mydyno.lab.results.store import Lab

    lab = Lab.open(path, write=write, trust=trust)
    if lab.upgrade is not None:
        screen.echo(_told(path, lab.upgrade), err=True)
    return lab


def _told(path: Path, upgrade: Upgrade) -> str:
    if upgrade.backup is None:
        return (
            f"note: the lab {path} is of format {upgrade.before}, which is read through a copy upgraded to "
            f"{upgrade.after}; the lab stays as it is ({upgrade.why_not})"
        )
    return (
        f"note: the lab {path} was of format {upgrade.before} and is now of format {upgrade.after}; its "
        f"database as it was is kept in {upgrade.backup}: remove it when all is well"
    )
