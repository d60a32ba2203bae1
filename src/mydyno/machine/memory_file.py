"""A file of this machine that is on no disk: what it holds is gone with the last process that has it open."""

from __future__ import annotations

import os

OWNER_ONLY = 0o600
READABLE = 0o444


class MemoryFile:
    """Anonymous memory (memfd_create(2)) that children inherit as a descriptor and open as a file.

    Give `descriptor` as one of `pass_fds` to a child that opens `path`. Programs of another user need
    the mode READABLE. Clients of MySQL and MariaDB ignore an option file that anybody may write.
    """

    def __init__(self, content: bytes, mode: int = OWNER_ONLY) -> None:
        self.descriptor = os.memfd_create("held", 0)
        os.write(self.descriptor, content)
        os.fchmod(self.descriptor, mode)

    @property
    def path(self) -> str:
        return f"/proc/self/fd/{self.descriptor}"

    def wipe(self) -> None:
        """Empties it, for the processes that have it too, and closes it. May be called twice."""
        if self.descriptor >= 0:
            os.ftruncate(self.descriptor, 0)
            os.close(self.descriptor)
            self.descriptor = -1
