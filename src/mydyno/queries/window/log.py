"""What a window needs of a slow log, whether it is a file or a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Amount:
    """What has been caught so far."""

    bytes: int
    entries: int | None
    """None: they are not counted while they come."""


class Log(Protocol):
    """Its methods are called in this order. All raise HostError or ServerError when it cannot be reached."""

    @property
    def name(self) -> str:
        """For messages: `/var/log/mysql/slow.log on this machine`."""

    def room(self) -> int | None:
        """Bytes that its file system has left; None: that cannot be seen."""

    def begin(self) -> None:
        """What is logged from now on is caught."""

    def amount(self) -> Amount:
        """What has been caught by now."""

    def end(self) -> None:
        """What is logged from now on is not caught."""

    def settle(self) -> tuple[str, ...]:
        """After the settings have been restored: finds the end of an entry that was being written at the end.
        Gives a sentence for each problem."""

    def blocks(self) -> Iterator[bytes]:
        """The text of the entries caught, whole ones."""

    def close(self) -> None:
        """Lets go of its files."""
