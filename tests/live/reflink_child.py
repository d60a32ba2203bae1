"""A child that freezes a dataset on its folder's file system and clones it, in a mount namespace of its own.

    python -m live.reflink_child FOLDER BYTES

Writes one JSON object: how it was cloned, in how many seconds, and how many bytes of disk that took.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from mydyno.lab.stack.datadir import clone_tree
from mydyno.machine.local import LocalHost

_FILES = 16
_MIB = 1 << 20


def main(folder: Path, size: int) -> None:
    data, home = folder / "frozen" / "data", folder / "trial"
    data.mkdir(parents=True)
    home.mkdir()
    for number in range(_FILES):
        with (data / f"t{number}.ibd").open("wb") as file:
            for _ in range(size // _FILES // _MIB):
                file.write(os.urandom(_MIB))
    before = _free(folder)
    clone = clone_tree(LocalHost(), data, home / "data", size)
    taken = before - _free(folder)
    for frozen in data.iterdir():
        assert (home / "data" / frozen.name).stat().st_size == frozen.stat().st_size
    print(json.dumps({"how": clone.how, "seconds": clone.seconds, "taken": taken}))


def _free(folder: Path) -> int:
    os.sync()
    space = os.statvfs(folder)
    return space.f_bavail * space.f_frsize


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
