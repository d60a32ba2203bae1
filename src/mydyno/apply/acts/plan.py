"""Which acts bring a change about now, each with the value that it finds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mydyno.advise.change import Change, SetArray, SetQueue, SetSysctl, SetSysfs
from mydyno.apply.acts import LiveAct, WriteKernelFile
from mydyno.apply.acts.kernel_file import read_kernel_file
from mydyno.apply.means import Means


def live_acts(changes: Sequence[Change], means: Means, restart: bool) -> tuple[LiveAct, ...]:
    """The acts in the order in which they are to be done, after all files have been replaced.

    What is in force already needs none. `restart`: whether the server may be restarted for what nothing else
    brings. Raises ApplyError when a present value cannot be read.
    """
    return tuple(act for change in changes for act in _acts(change, means) if act.before != act.after)


def present(change: Change, means: Means) -> str | None:
    """The value in force now, as the change's `was` writes it; None: it cannot be told from here."""
    path = _kernel_path(change)
    return None if path is None else read_kernel_file(means.place(path))


def _acts(change: Change, means: Means) -> Iterator[LiveAct]:
    if isinstance(change, SetSysctl | SetQueue | SetArray | SetSysfs) and (path := _kernel_path(change)):
        yield WriteKernelFile(
            path=path, before=read_kernel_file(means.place(path)), after=" ".join(change.value.split())
        )


def _kernel_path(change: Change) -> str | None:
    match change:
        case SetSysctl():
            return f"/proc/sys/{change.name.replace('.', '/')}"
        case SetQueue():
            return f"/sys/block/{change.disk}/queue/{change.attribute}"
        case SetArray():
            return f"/sys/block/{change.array}/md/{change.attribute}"
        case SetSysfs():
            return change.path
        case _:
            return None
