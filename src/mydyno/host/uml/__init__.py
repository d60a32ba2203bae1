"""User-Mode Linux: a real kernel as an ordinary process, on this machine's own root file system.

No root, no image and no KVM are needed: only a kernel, which `kernels` keeps and fetches.
"""

from mydyno.host.uml.host import UmlHost
from mydyno.host.uml.kernels import UmlKernel, UmlKernels
from mydyno.host.uml.machine import UmlMachine

__all__ = ["UmlHost", "UmlKernel", "UmlKernels", "UmlMachine"]
