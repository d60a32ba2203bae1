"""Detaching loop devices whose files are mydyno's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from mydyno.core.errors import UndoError
from mydyno.lab.stack.undo.base import PRIVATE_NAME, WayBack, comes_true, in_private_folder, run_tool

# How the kernel marks the file of a loop device that was deleted while it was attached.
_DELETED = " (deleted)"

# A device that nobody holds detaches at once; a file system that is just being unmounted still writes.
_DETACH_SECONDS = 30.0


class DetachLoops(WayBack):
    """Detach every loop device whose backing file lies in this private folder."""

    kind: Literal["detach-loops"] = "detach-loops"
    folder: Path

    def carry_out(self) -> None:
        """Raises UndoError when the folder is not ours, or a device stays in use."""
        if PRIVATE_NAME.fullmatch(self.folder.name) is None or not in_private_folder(self.folder):
            raise UndoError(f"refused to detach loop devices of {self.folder}: it is not a folder of mydyno")
        for device in self._ours():
            # A device that is open is only marked here, and goes with its last user; one that was
            # marked before may go at this very moment.
            try:
                run_tool(["losetup", "--detach", str(device)])
            except UndoError:
                if device in self._ours():
                    raise
            if not comes_true(lambda device=device: device not in self._ours(), _DETACH_SECONDS):  # type: ignore[misc]
                raise UndoError(
                    f"{device} stays attached to a file in {self.folder}: something still uses it",
                    "it goes by itself when the last mount or process that holds it has gone",
                )

    def sentence(self) -> str:
        return f"made sure that no loop device is attached to a file in {self.folder}"

    def _ours(self) -> list[Path]:
        return [device for device, file in attached_loops().items() if file.is_relative_to(self.folder)]


def attached_loops() -> dict[Path, Path]:
    """Every attached loop device of this machine and its backing file. Raises UndoError."""
    listed = run_tool(["losetup", "--json", "--list", "--output", "NAME,BACK-FILE"])
    return parse_loops(listed)


def parse_loops(listed: str) -> dict[Path, Path]:
    """`losetup --json` -> device to backing file, a deleted file under the name it had.

    It writes nothing at all when no device is attached.
    """
    if not listed.strip():
        return {}
    return {
        Path(each["name"]): Path(each["back-file"].removesuffix(_DELETED))
        for each in json.loads(listed)["loopdevices"]
        if each["back-file"]
    }
