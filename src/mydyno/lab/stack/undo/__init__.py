"""The ways back, as data: what the journal keeps and what undoing it does; one file for each.

Each is idempotent (undoing twice, or something that never came to be, does nothing) and refuses
whatever does not look like mydyno's own: a journal must never become a way to delete at large.
docs/reference/safety.md tells what each one checks.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, TypeAdapter

from mydyno.lab.stack.mount_root import MOUNT_ROOT
from mydyno.lab.stack.undo.base import PRIVATE_NAME
from mydyno.lab.stack.undo.detach_loops import DetachLoops
from mydyno.lab.stack.undo.end_processes import EndProcesses
from mydyno.lab.stack.undo.lift_throttle import LiftThrottle
from mydyno.lab.stack.undo.remove_mount_root import RemoveMountRoot
from mydyno.lab.stack.undo.remove_tree import RemoveTree
from mydyno.lab.stack.undo.restore_sysfs import RestoreSysfs
from mydyno.lab.stack.undo.restore_variables import RestoreVariables
from mydyno.lab.stack.undo.stop_array import StopArray
from mydyno.lab.stack.undo.unmount import Unmount

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
