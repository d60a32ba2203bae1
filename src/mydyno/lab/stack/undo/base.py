"""What every way back shares: its shape as data, what is mydyno's own, and how its commands are run."""

import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from mydyno.core.errors import MydynoError, UndoError
from mydyno.core.record import Record
from mydyno.machine.local import LocalHost

PRIVATE_NAME = re.compile(r"mydyno-[0-9a-f]{12}")
"""The name of every folder that mydyno makes for itself; 48 random bits, so no other program's matches."""

_POLL_SECONDS = 0.01


class WayBack(Record, ABC):
    """One way back. Carrying it out twice, or when the act never happened, does nothing."""

    needs_receipt: ClassVar[bool] = False
    """Whether it names anything but what mydyno makes under its own names (receipts.py)."""

    @abstractmethod
    def carry_out(self) -> tuple[str, ...] | None:
        """Gives a sentence for each value that another program has changed and that is left as it is.

        Raises UndoError when what is named is not mydyno's own, or will not go.
        """

    @abstractmethod
    def sentence(self) -> str:
        """What has been made sure of, for `mydyno cleanup`."""

    def sysfs(self) -> tuple[tuple[Path, str], ...]:
        """Files of sysfs and the values that they get back. Another machine's agent has to be given them;
        processes, mounts, arrays and files of a session it removes by itself (crates/agent, storage.rs)."""
        return ()


def in_private_folder(path: Path) -> bool:
    """Whether `path` is a private folder or lies in one, by names alone: no link is followed."""
    return (
        path.is_absolute()
        and ".." not in path.parts
        and any(PRIVATE_NAME.fullmatch(part) for part in path.parts)
    )


def run_tool(argv: Sequence[str]) -> str:
    """The output of a command of this machine. Raises UndoError with what it said when it failed."""
    try:
        done = LocalHost().run(argv)
    except MydynoError as error:
        raise UndoError(f"{argv[0]} could not be run: {error.message}", error.hint) from error
    if done.returncode != 0:
        output = done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}"
        raise UndoError(
            f"`{' '.join(argv)}` failed: {output.splitlines()[-1]}", "was it made by root? clean up as root"
        )
    return done.stdout


def comes_true(condition: Callable[[], bool], seconds: float) -> bool:
    """Waits until `condition` holds, at most `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True
