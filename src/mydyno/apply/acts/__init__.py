"""What takes effect now, one kind of act a file, as data: what the journal keeps and the transaction does.

`plan.py` tells which acts a change needs. A new kind is a file here, its class in `LiveAct`, its case there.
"""

from __future__ import annotations

from mydyno.apply.acts.kernel_file import WriteKernelFile

LiveAct = WriteKernelFile

__all__ = ["LiveAct", "WriteKernelFile"]
