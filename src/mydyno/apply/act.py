"""One act: a step that can be done, read back and reversed, as data that a journal can keep."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from mydyno.apply.apply_context import ApplyContext
from mydyno.core.errors import ApplyError

State = Literal["before", "after", "elsewhere", "unseen"]

# Names in acts become words of SQL and of commands, so they are checked when a journal is read.
VariableName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_.]*$")]
UnitName = Annotated[str, Field(pattern=r"^[A-Za-z0-9:_][A-Za-z0-9:_.\\@-]*\.service$")]
"""A service of systemd (systemd.unit(5)); a leading dash would make it an option of systemctl."""
PropertyName = Annotated[str, Field(pattern=r"^[A-Za-z]+$")]
PathFromRoot = Annotated[str, Field(pattern=r"^/[^\x00-\x1f\x7f]*$")]
MountOption = Annotated[str, Field(pattern=r"^[^\s,\x00-\x1f\x7f]+$")]
LockName = Annotated[str, Field(pattern=r"^[A-Za-z0-9:_.-]+$")]


@dataclass(frozen=True)
class Look:
    """What the live system says of an act, read back from it.

    `elsewhere`: neither what was nor what the act brings, so another program has changed it. `unseen`: the
    act leaves nothing to read (a restart, a daemon-reload).
    """

    state: State
    says: str
    """What was read, for people: `vm.swappiness is 60`."""


class Act(BaseModel, ABC):
    """A step from `before` to `after`, both in its fields: the way back is known before the first step.

    Going back is doing the reversed act. Acts are done in one order, forwards and backwards alike (files,
    then what makes the system read them), so a restart on the way back finds the old files.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str
    needs_server: ClassVar[bool] = False
    """Whether it, and its way back, log in to the server."""
    before: Any
    after: Any

    @model_validator(mode="after")
    def _of_the_same_names(self) -> Self:
        before, after = self.before, self.after
        if isinstance(before, dict) and isinstance(after, dict) and before.keys() != after.keys():
            raise ValueError("`before` and `after` do not have the same names")
        return self

    @abstractmethod
    def do(self, context: ApplyContext) -> None:
        """Brings `after`, from whatever state a killed process has left, and again when it is there already.

        Raises ApplyError with what refused.
        """

    @abstractmethod
    def look(self, context: ApplyContext) -> Look:
        """Reads back the present state. Raises ApplyError when it cannot be read."""

    def reversed(self) -> Self:
        """The act whose `after` is this one's `before`."""
        return self.model_copy(update={"before": self.after, "after": self.before})

    def take_back(self, context: ApplyContext) -> str | None:
        """Restores `before` after a failure or a kill. Gives a sentence when another program has changed it
        since and it is therefore left. Raises ApplyError.

        A value of the kernel or the server may be ours and rounded, so most acts write it in any case.
        """
        self.reversed().do(context)
        return None

    @abstractmethod
    def sentence(self) -> str:
        """What it does, with the old and the new value: `vm.swappiness = 1 (was 60)`."""


def must_be_possible(acts: Iterable[Act], context: ApplyContext) -> None:
    """Raises ApplyError for an act on this machine where only an image's files may change."""
    for act in acts if context.files_only else ():
        if act.kind != "file":
            raise ApplyError(
                f"refused: it would change this machine and not {context.root}: {act.sentence()}"
            )
