"""Stopping an md array that mydyno has assembled."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal

from mydyno.core.errors import UndoError
from mydyno.lab.stack.undo.base import WayBack, in_private_folder, run_tool
from mydyno.lab.stack.undo.detach_loops import attached_loops


class StopArray(WayBack):
    """Stop this array, all of whose members are devices that the record names.

    `members` are loop devices over files of ours, or real devices by the names that the experiment gave.
    """

    kind: Literal["stop-array"] = "stop-array"
    needs_receipt: ClassVar[bool] = True
    array: Path
    members: tuple[Path, ...]

    def carry_out(self) -> None:
        """Raises UndoError when the array has a member that is not ours, or will not stop."""
        folder = Path("/sys/block") / self.array.resolve().name
        if not (folder / "md").is_dir() or _text(folder / "md" / "array_state") in (None, "clear"):
            return
        named = {member.resolve().name for member in self.members}
        slaves = {slave.name for slave in (folder / "slaves").iterdir()}
        if foreign := sorted(slaves - named):
            raise UndoError(
                f"refused to stop {self.array}: its members {', '.join(foreign)} were not added by mydyno"
            )
        loops = attached_loops() if any(name.startswith("loop") for name in slaves) else {}
        for slave in sorted(slaves):
            file = loops.get(Path("/dev") / slave)
            if slave.startswith("loop") and (file is None or not in_private_folder(file)):
                raise UndoError(f"refused to stop {self.array}: the file of {slave}, {file}, is not mydyno's")
        run_tool(["mdadm", "--stop", str(self.array)])

    def sentence(self) -> str:
        return f"made sure that the array {self.array} is stopped"


def _text(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None
