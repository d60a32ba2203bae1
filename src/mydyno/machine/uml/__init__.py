"""User-Mode Linux: a real kernel as an ordinary process, on this machine's own root file system.

No root, no image and no KVM are needed: only a kernel, which `kernels` keeps and fetches.
"""

from mydyno.machine.uml.host import UmlHost
from mydyno.machine.uml.kernels import UmlKernel, UmlKernels
from mydyno.machine.uml.machine import UmlMachine

__all__ = ["UmlHost", "UmlKernel", "UmlKernels", "UmlMachine"]
