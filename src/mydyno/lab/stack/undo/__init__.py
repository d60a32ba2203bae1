"""The ways back, as data: what the journal keeps and what undoing it does; one file for each.

Each is idempotent (undoing twice, or something that never came to be, does nothing) and refuses
whatever does not look like mydyno's own: a journal must never become a way to delete at large.
docs/reference/safety.md says what each one checks.
"""

from typing import Annotated

from pydantic import Field, TypeAdapter

from mydyno.lab.stack.undo.base import PRIVATE_NAME
from mydyno.lab.stack.undo.block_devices import DetachLoops, LiftThrottle, RestoreSysfs, StopArray
from mydyno.lab.stack.undo.mounts import MOUNT_ROOT, RemoveMountRoot, Unmount
from mydyno.lab.stack.undo.private import EndProcesses, RemoveTree
from mydyno.lab.stack.undo.restore_variables import RestoreVariables

Undo = Annotated[
    EndProcesses
    | RemoveTree
    | DetachLoops
    | Unmount
    | StopArray
    | LiftThrottle
    | RestoreSysfs
    | RestoreVariables
    | RemoveMountRoot,
    Field(discriminator="kind"),
]
UNDO: TypeAdapter[Undo] = TypeAdapter(Undo)

__all__ = [
    "MOUNT_ROOT",
    "PRIVATE_NAME",
    "UNDO",
    "DetachLoops",
    "EndProcesses",
    "LiftThrottle",
    "RemoveMountRoot",
    "RemoveTree",
    "RestoreSysfs",
    "RestoreVariables",
    "StopArray",
    "Undo",
    "Unmount",
]
