"""A value in a file of the kernel: a sysctl, a disk's queue, an array's cache, huge pages."""

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, field_validator

from mydyno.apply.act import Act, Look, State
from mydyno.apply.allowed import SYSCTLS
from mydyno.apply.apply_context import AS_ROOT, ApplyContext
from mydyno.core.errors import ApplyError
from mydyno.machine.environment import chosen

_OURS = re.compile(
    r"/sys/block/[A-Za-z0-9][A-Za-z0-9!._-]*/(queue/(scheduler|read_ahead_kb|nr_requests)|md/stripe_cache_size)"
    r"|/sys/kernel/mm/transparent_hugepage/(enabled|defrag)"
)
_SYSCTL_FILES = frozenset(f"/proc/sys/{name.replace('.', '/')}" for name in SYSCTLS)
_Value = Annotated[str, Field(pattern=r"^[^\x00-\x08\x0a-\x1f\x7f]*$")]


class WriteKernelFile(Act):
    """Write `after` into the file. A choice (`mq-deadline [none]`) is read as the word in brackets."""

    kind: Literal["kernel file"] = "kernel file"
    path: str
    before: _Value
    after: _Value

    @field_validator("path")
    @classmethod
    def _is_ours(cls, path: str) -> str:
        if path not in _SYSCTL_FILES and _OURS.fullmatch(path) is None:
            raise ValueError(f"refused to write {path!a}: mydyno changes nothing there")
        return path

    def do(self, context: ApplyContext) -> None:
        """Raises ApplyError for a value that the kernel refuses."""
        place = context.place(self.path)
        # A device that has gone has taken its queue along; nothing is left to restore.
        if not place.exists() or read_kernel_file(place) == self.after:
            return
        try:
            place.write_text(self.after)
        except OSError as error:
            raise ApplyError(
                f"{self.path} does not take {self.after!r}: {error.strerror}", AS_ROOT
            ) from error

    def look(self, context: ApplyContext) -> Look:
        if not context.place(self.path).exists():
            return Look("unseen", f"{self.path} is gone")
        now = read_kernel_file(context.place(self.path))
        state: State = "after" if now == self.after else "before" if now == self.before else "elsewhere"
        return Look(state, f"{self.path} says {now}")

    def sentence(self) -> str:
        return f"{self.path}: {self.after} (was {self.before})"


def read_kernel_file(path: Path) -> str:
    """The bracketed word of a choice, or the whole of a plain value with single blanks. Raises ApplyError."""
    try:
        text = path.read_text()
    except OSError as error:
        raise ApplyError(f"{path} cannot be read: {error.strerror}") from error
    return chosen(text) or " ".join(text.split())
