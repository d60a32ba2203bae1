"""What the driver wants of each foreign program."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from mydyno.lab.load import messages
from mydyno.lab.load.external.admin import Admin
from mydyno.lab.load.external.program import Ended, Line, Program
from mydyno.lab.load.external.watch import Clock
from mydyno.lab.load.job import Phase


@dataclass(frozen=True)
class Cut:
    """How a phase was ended from outside: by a request to stop, or because it was stopped (`why`)."""

    interrupted: bool = False
    why: str | None = None


@dataclass(frozen=True)
class Start:
    """A phase that begins: its number, what it is, the clock, and the CPU seconds of the child so far."""

    index: int
    phase: Phase
    clock: Clock
    cpu_s: Callable[[], tuple[float, float]]


class PhaseListener(Protocol):
    """Hears the program of one phase."""

    @property
    def latest_end_ns(self) -> int | None:
        """When it must have ended, on the driver's clock; None when that is not known."""

    def hear(self, line: Line) -> Iterator[messages.Message]: ...

    def end(self, ended: Ended, cut: Cut) -> Iterator[messages.Message]:
        """What is known once the program has ended; the last message is the phase's PhaseEnd."""


@dataclass(frozen=True)
class Step:
    """One run of the program during preparation; `progress` makes stage and count of a line of output."""

    argv: Sequence[str]
    progress: Callable[[str], messages.Progress | None]


class ForeignProgram(ABC):
    """A foreign program with its options."""

    program: Program
    schema: str | None = None
    """The schema that must be there before the program runs; None when it makes its own."""

    @abstractmethod
    def check(self, phase: Phase) -> None:
        """Raises UsageError for a phase that the program cannot do."""

    @abstractmethod
    def argv(self, phase: Phase) -> Sequence[str]: ...

    @abstractmethod
    def listener(self, start: Start) -> PhaseListener: ...

    def before(self, admin: Admin) -> None:  # noqa: B027
        """Raises EngineError when a run would destroy what mydyno did not make."""

    def missing(self, admin: Admin) -> bool:
        """Whether a table is missing or has another number of rows than wanted."""
        return False

    def preparation(self, admin: Admin) -> Sequence[Step]:
        """The runs that create all tables again. Raises EngineError for tables that are not ours."""
        return ()

    def prepared(self, admin: Admin) -> list[messages.Table]:
        """Marks what was made as ours and counts it."""
        return []

    def tidy(self, admin: Admin) -> None:  # noqa: B027
        """Removes what a run that was ended from outside has left."""
