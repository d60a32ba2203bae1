"""Loop devices over sparse files, for tests that need real block devices; they need root."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

MIB = 1 << 20

needs_loops = pytest.mark.skipif(
    os.geteuid() != 0 or not Path("/dev/loop-control").exists(),
    reason="attaching loop devices needs root and a kernel with loop devices",
)


def sparse_file(path: Path, size: int = 64 * MIB) -> Path:
    with path.open("wb") as file:
        file.truncate(size)
    return path


def attach(file: Path, *options: str) -> Path:
    """Attaches a loop device; whoever attaches it detaches it."""
    command = ["losetup", "--find", "--show", *options, str(file)]
    return Path(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip())


@contextmanager
def attached(file: Path, *options: str) -> Iterator[Path]:
    """A loop device over `file` that is detached at the end, if the test has not done so."""
    device = attach(file, *options)
    try:
        yield device
    finally:
        if backing_file(device) == str(file):
            subprocess.run(["losetup", "--detach", str(device)], check=True)


def backing_file(device: Path) -> str | None:
    """The file that a loop device is attached to now; None when it is free."""
    try:
        return Path(f"/sys/block/{device.name}/loop/backing_file").read_text().strip()
    except OSError:
        return None


def device_number(device: Path) -> str:
    """MAJOR:MINOR."""
    return Path(f"/sys/block/{device.name}/dev").read_text().strip()
