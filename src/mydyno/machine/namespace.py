"""Private namespaces of this machine: the same files and kernel, separate mounts and processes.

setpriv ties unshare to mydyno's life; unshare gives the namespaces and kills the agent, the first
process in them, when it ends itself; with the first process all others go, and with them the mounts.
No mount and no process there outlives mydyno, however it ends.
"""

from __future__ import annotations

import os
from pathlib import Path

from mydyno.core.errors import MissingToolError
from mydyno.machine.identity import server_identity
from mydyno.machine.neutral import inherited_environment
from mydyno.machine.supervised import SupervisedHost


class NamespaceHost(SupervisedHost):
    """This machine with mounts and processes that are private and end with mydyno, or at `close`.

    Files are the machine's own, so it is not ephemeral. Process numbers are those of its namespace.
    """

    def __init__(self, folder: Path) -> None:
        """`folder`, a private one, is in the supervisor's command line as its mark.

        Raises MissingToolError without root, HostError when it does not come up.
        """
        if os.geteuid() != 0:
            raise MissingToolError(
                "private mounts and loop devices need root",
                "run mydyno as root, or take `host: uml`, which needs none",
            )
        super().__init__(
            prefix=[*_PRIVATE, mark(folder), "--"],
            name="local",
            ephemeral=False,
            server_identity=server_identity(),
            environment=inherited_environment(),
        )


_PRIVATE = (
    "unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--mount-proc"
)  # fmt: skip


def mark(folder: Path) -> str:
    """The argument by which the supervisor of this private folder is known."""
    return f"--wd={folder}"
