"""Copying, moving and syncing whole folders."""

import errno
import os
import shutil
from contextlib import closing, suppress
from pathlib import Path

from mydyno.core.errors import LabError
from mydyno.core.writing import writing
from mydyno.machine.local import LocalHost
from mydyno.machine.protocol import Host

# A day: the copy of a dataset of any size that a run could use, and still an end to a hung disk.
LONGEST_COPY_SECONDS = 86400.0
_PORTION = 1 << 20


def copy_tree(host: Host, source: Path, target: Path) -> None:
    """Copies a folder with owners, modes and times; shares blocks where the file system can (reflink).

    `target` must not exist. Raises LabError.
    """
    done = host.run(
        ["cp", "-a", "--reflink=auto", "--sparse=auto", "-T", str(source), str(target)],
        timeout_seconds=LONGEST_COPY_SECONDS,
    )
    if done.returncode != 0:
        messages = done.stderr.strip().splitlines()
        raise LabError(
            f"cannot copy {source} to {target}: {messages[-1] if messages else 'cp printed no message'}",
            "is there space left, and was the lab made by the user that runs mydyno now?",
        )


def send_tree(host: Host, source: Path, target: Path) -> None:
    """Copies the folder `source` of this machine to the new folder `target` of another. Raises LabError."""
    host.make_folder(target)
    # A dataset is mostly zeros: log files and free pages.
    pack = ["tar", "--create", "--sparse", "--use-compress-program=gzip -1", "-C", str(source), "."]
    unpack = ["tar", "--extract", "--gzip", "--no-same-owner", "-C", str(target)]
    with closing(LocalHost().open(pack)) as packed, closing(host.open(unpack)) as there:
        with suppress(BrokenPipeError), there.stdin:
            shutil.copyfileobj(packed.stdout, there.stdin, _PORTION)
        code = there.wait(LONGEST_COPY_SECONDS)
        failed = there.errors() if code != 0 else "" if packed.wait(10.0) == 0 else packed.errors()
    if failed or code != 0:
        raise LabError(
            f"{source} could not be sent to {host.name}: {failed.strip() or 'tar did not end'}",
            "is there space left on that machine?",
        )


def move_tree(host: Host, source: Path, target: Path) -> None:
    """Renames a folder, or copies it when `target` is on another file system (the source stays then)."""
    with writing(target):
        try:
            source.rename(target)
            return
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
    copy_tree(host, source, target)


def sync_tree(host: Host, path: Path) -> None:
    """Writes everything under `path` to disk, so that no later measurement pays for it. Raises LabError."""
    done = host.run(["sync", "--file-system", str(path)], timeout_seconds=LONGEST_COPY_SECONDS)
    if done.returncode != 0:
        raise LabError(f"{path} could not be synced: {done.stderr.strip()}")


def size_of_tree(path: Path) -> int:
    """Bytes that the folder's files take on disk; shared blocks are counted for each file."""
    return sum(
        (Path(folder) / name).lstat().st_blocks * 512 for folder, _, names in os.walk(path) for name in names
    )
