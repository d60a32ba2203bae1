"""Disk images that start as another one and keep only what is written to them."""

from pathlib import Path

from mydyno.core.errors import HostError, MissingToolError
from mydyno.machine.local import LocalHost

QEMU_IMG = "qemu-img"

# Subclusters of 4K, a 32nd of a cluster: a first write of a page reads nothing of the base, and costs a bit
# in a table that is in memory (figures: docs/reference/environments.md). The counts of references may lag,
# since no overlay is opened twice.
_OPTIONS = "extended_l2=on,cluster_size=128k,lazy_refcounts=on"


def make_overlay(base: Path, overlay: Path) -> None:
    """A qcow2 image in the new file `overlay` over the raw image `base`, which is only ever read.

    Raises MissingToolError, HostError.
    """
    argv = [QEMU_IMG, "create", "-q", "-f", "qcow2", "-F", "raw", "-b", str(base), "-o", _OPTIONS]
    try:
        done = LocalHost().run([*argv, str(overlay)])
    except MissingToolError as error:
        raise MissingToolError(
            f"{QEMU_IMG} was not found, and guests' disks are made with it",
            "apt-get install --no-install-recommends qemu-utils",
        ) from error
    if done.returncode != 0:
        raise HostError(f"no overlay of {base} could be made: {done.stderr.strip()}")
