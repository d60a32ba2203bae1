"""Removing the empty folder that local environments mount on."""

from __future__ import annotations

from typing import Literal

from mydyno.lab.stack.mount_root import MOUNT_ROOT, remove_unheld
from mydyno.lab.stack.undo.base import WayBack


class RemoveMountRoot(WayBack):
    """Remove /run/mydyno when it is empty and no other run of mydyno uses it."""

    kind: Literal["remove-mount-root"] = "remove-mount-root"

    def carry_out(self) -> None:
        """Never fails: what is in use or not empty stays, and its user removes it."""
        remove_unheld()

    def sentence(self) -> str:
        return f"made sure that {MOUNT_ROOT} is gone, or used by another run"
