"""The options that name a lab, and opening it for a command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mydyno.cli import options, screen
from mydyno.core.errors import UsageError

if TYPE_CHECKING:
    from mydyno.lab.results.database import Upgrade
    from mydyno.lab.results.store import Lab


@dataclass(frozen=True)
class LabOptions:
    """--lab and --trust."""

    folder: options.Lab = options.DEFAULT_LAB
    trust: options.Trust = False

    def open(self, *, write: bool = False) -> Lab:
        return open_lab(self.folder, write=write, trust=self.trust)

    @contextmanager
    def reading(self) -> Iterator[Lab]:
        """The lab for reading only; numbers in it that cannot be right are explained."""
        from mydyno.lab.results.sound import numbers_explained

        with numbers_explained(self.database), self.open() as opened:
            yield opened

    @property
    def database(self) -> Path:
        from mydyno.lab.results.store import DATABASE

        return self.folder / DATABASE

    def must_exist(self) -> None:
        if not self.folder.is_dir():
            raise UsageError(f"there is no lab at {self.folder}", "name it with --lab FOLDER")


def open_lab(path: Path, *, write: bool, trust: bool) -> Lab:
    """As `Lab.open`; an upgrade is reported on standard error. `trust`: --trust was given."""
    from mydyno.lab.results.store import Lab

    lab = Lab.open(path, write=write, trust=trust)
    if lab.upgrade is not None:
        screen.echo(_upgraded(path, lab.upgrade), err=True)
    return lab


def _upgraded(path: Path, upgrade: Upgrade) -> str:
    if upgrade.backup is None:
        return (
            f"note: the lab {path} is of format {upgrade.before}, which is read through a copy upgraded to "
            f"{upgrade.after}; the lab stays as it is ({upgrade.why_not})"
        )
    return (
        f"note: the lab {path} was of format {upgrade.before} and is now of format {upgrade.after}; its "
        f"former database is kept in {upgrade.backup}: remove it when all is well"
    )
