"""Receipts: what of a lab's journal this user's mydyno has written, kept outside the lab.

A journal travels with its lab, and its writer could have `mydyno cleanup` send a password to another server,
set a disk's queue or stop an array. So a way back that names anything but what mydyno has made has a file in
mydyno's state folder, written before the journal's line, and is carried out only where that is there:

/var/lib/mydyno/receipts/SHA256     or ~/.local/state/mydyno, or $MYDYNO_STATE; for its owner's eyes only
"""

import hashlib
import os
import stat
from contextlib import suppress
from pathlib import Path

from mydyno.core.beneath import read_below
from mydyno.core.durable import sync, write_synced
from mydyno.core.errors import LabError
from mydyno.core.folders import state_folder
from mydyno.core.writing import writing_hint


def write(lab: Path, way_back: str) -> None:
    """Keeps on disk that `way_back` (its JSON) of the journal in `lab` is ours. Raises LabError."""
    folder = receipts_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = _text(lab, way_back)
        write_synced(folder, folder / _name(text), text)
        sync(folder)
    except OSError as error:
        raise LabError(
            f"{folder} cannot be written, and cleaning up after a killed run needs it: {error.strerror}",
            writing_hint(error, folder) or "set MYDYNO_STATE to another folder",
        ) from error


def is_ours(lab: Path, way_back: str) -> bool:
    """Whether this user's mydyno has written it. Another user's folder says nothing."""
    folder = receipts_folder()
    text = _text(lab, way_back)
    try:
        about = folder.stat()
        if about.st_uid != os.geteuid() or about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return False
        return read_below(folder, folder / _name(text)) == text
    except OSError:
        return False


def remove(lab: Path, way_back: str) -> None:
    """It has been carried out. One that stays after a failure here allows what does nothing any more."""
    with suppress(OSError):
        (receipts_folder() / _name(_text(lab, way_back))).unlink()


def receipts_folder() -> Path:
    return state_folder() / "receipts"


def _text(lab: Path, way_back: str) -> bytes:
    return f"{lab}\n{way_back}\n".encode("utf-8", "surrogateescape")


def _name(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()
