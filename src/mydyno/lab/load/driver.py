"""What drives a server: mydyno's own engine or a foreign program. A trial hears both alike."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Protocol, Self

from mydyno.lab.load import messages


class Driver(Protocol):
    """One job under way. Iterate over it once, inside `with`, to hear its messages up to Done.

    What cannot be carried out at all is raised as UsageError, MissingToolError or EngineError; what goes
    wrong during a phase is in its PhaseEnd.
    """

    def __iter__(self) -> Iterator[messages.Message]: ...

    def request_stop(self) -> None:
        """Ask for an early end: the running phase is closed and reported as interrupted."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends everything that was started, whatever happened."""
