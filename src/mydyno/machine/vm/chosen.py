"""Which root and which kernel a guest boots."""

from mydyno.core.errors import HostError, MissingToolError
from mydyno.machine.images import ImageStore, KernelImage, RootImage
from mydyno.machine.images.suites import SUITES, machine_suite
from mydyno.machine.local import LocalHost

_HOW = "mydyno images build"


def chosen_root(store: ImageStore) -> RootImage:
    """The root of this machine's own suite; else the newest one. Raises MissingToolError without any."""
    own = store.root(machine_suite(LocalHost()) or "")
    if own is not None:
        return own
    roots = [image for image in store.images() if image.kind == "root"]
    newest = max(roots, key=lambda image: image.built, default=None)
    root = store.root(newest.suite) if newest else None
    if root is None:
        raise MissingToolError("no root is built for guests of host vm", f"build one (a minute): {_HOW}")
    return root


def chosen_kernel(store: ImageStore, version: str | None, suite: str) -> KernelImage:
    """The kernel `version` (6.1, or with its third number 6.1.192), or when None that of `suite`.

    Raises MissingToolError when it is not built, HostError when it is another third number.
    """
    wanted = version or SUITES.get(suite)
    if wanted is None:
        raise MissingToolError(f"{suite} has no settled kernel", "say which one: host.kernel")
    series = ".".join(wanted.split(".")[:2])
    kernel = store.kernel(series)
    if kernel is None:
        raise MissingToolError(
            f"the kernel {series} is not built for guests of host vm",
            f"build it (half a minute): {_HOW} --kernel {series}",
        )
    if wanted != series and kernel.manifest.package_version.partition("-")[0] != wanted:
        raise HostError(
            f"the kernel {wanted} is requested, and the one that is built is"
            f" {kernel.manifest.package_version}",
            f"host.kernel: {series} takes what there is",
        )
    return kernel
