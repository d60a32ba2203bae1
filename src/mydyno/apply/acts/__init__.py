"""What takes effect now, one kind of act a file, as data: what the journal keeps and the transaction does.

`plan.py` chooses the acts that a change needs: a new kind is a file here, in `LiveAct` and a case there.
"""

from mydyno.apply.acts.global_variables import SetGlobals
from mydyno.apply.acts.held_variables import HoldVariables
from mydyno.apply.acts.kernel_file import WriteKernelFile
from mydyno.apply.acts.persisted_variables import PersistVariables
from mydyno.apply.acts.read_unit import ReadUnit
from mydyno.apply.acts.remount import Remount
from mydyno.apply.acts.restart import RestartServer

LiveAct = WriteKernelFile | Remount | ReadUnit | RestartServer | PersistVariables | SetGlobals | HoldVariables

__all__ = [
    "HoldVariables",
    "LiveAct",
    "PersistVariables",
    "ReadUnit",
    "Remount",
    "RestartServer",
    "SetGlobals",
    "WriteKernelFile",
]
