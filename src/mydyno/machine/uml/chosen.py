"""Which kernel a guest gets: the one that the experiment asks for, else one that is here."""

from __future__ import annotations

from mydyno.core.errors import UsageError
from mydyno.machine.images.build import Progress
from mydyno.machine.uml.fetch import default_version, fetch_kernel
from mydyno.machine.uml.kernels import UmlKernel, UmlKernels


def chosen_kernel(kernels: UmlKernels, wanted: str | None, progress: Progress) -> UmlKernel:
    """The kernel `version`, like 6.1 or 6.1.176; None: this machine's suite's, else the newest here.

    One that is not here is fetched. Raises UsageError for a version that cannot be had, MissingToolError
    and HostError when it cannot be fetched.
    """
    if wanted is None:
        version = default_version()
        here = kernels.all()
        return kernels.kernel(version) or (here[-1] if here else fetch_kernel(kernels, version, progress))
    version = ".".join(wanted.split(".")[:2])
    kernel = fetch_kernel(kernels, version, progress)
    if wanted not in (version, kernel.manifest.release):
        raise UsageError(
            f"there is no User-Mode Linux kernel {wanted}: here is {kernel.manifest.release}",
            f"take {version} or {kernel.manifest.release}",
        )
    return kernel
