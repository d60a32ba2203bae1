"""Everything that a run of mydyno could leave on a machine, looked for in one place.

A place is a folder that belongs to one test: its lab, its temporary folder and its home lie below it, so
what other programs, and other tests at the same time, have on this machine does not count.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mydyno.core.folders import cache_folder
from mydyno.lab.stack.undo import PRIVATE_NAME
from mydyno.lab.stack.undo.block_devices import BLKIO_FILES, limits_in
from mydyno.lab.stack.undo.mounts import MOUNT_ROOT

_SHARED = (Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"))
_BLKIO = Path("/sys/fs/cgroup/blkio")
_POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Place:
    """The folder of one test, and what was in the machine's own temporary folders before it."""

    folder: Path
    before: frozenset[Path]
    shared: tuple[Path, ...]
    mount_root: Path

    @classmethod
    def at(cls, folder: Path, shared: tuple[Path, ...] = _SHARED, mount_root: Path = MOUNT_ROOT) -> Place:
        for name in ("lab", "tmp", "home"):
            (folder / name).mkdir()
        (folder / "tmp").chmod(0o755)
        return cls(folder, frozenset(_private_folders(shared)), shared, mount_root)

    @property
    def lab(self) -> Path:
        return self.folder / "lab"

    def environment(self) -> dict[str, str]:
        """For commands that belong to this place; kernels and images stay where they are."""
        return {
            **os.environ,
            "TMPDIR": str(self.folder / "tmp"),
            "HOME": str(self.folder / "home"),
            "MYDYNO_CACHE": str(cache_folder("any").parent),
        }

    def alive(self) -> list[str]:
        """Processes, loop devices, mounts and arrays of this place: what no journal may be needed for."""
        loops = loops_over(self.folder)
        marks = [str(self.folder), *(f"/dev/{loop}" for loop in loops)]
        return [
            *(f"process {pid}: {line}" for pid, line in _processes_that_name(self.folder).items()),
            *(f"loop device {device} over {file}" for device, file in loops.items()),
            *(f"mount {line}" for line in _mounts_of(marks)),
            *(f"array {array}" for array in _arrays_of(set(loops))),
        ]

    def lying(self) -> list[str]:
        """Limits, files and folders: what `mydyno cleanup` takes away."""
        below = [self.folder / "tmp", self.folder / "home", self.lab / "run"]
        files = [entry for folder in below if folder.is_dir() for entry in folder.iterdir()]
        lines = {pid: line for pid, line in _command_lines().items() if pid != os.getpid()}
        strays = [
            path
            for path in _private_folders(self.shared)
            if path not in self.before
            and not any(path.name in line for line in lines.values())
            and not _is_of_another(path, self.folder)
        ]
        return [
            *(f"file {path}" for path in [*files, *strays]),
            *(f"limit of the unattached device {number}" for number in _limits_of_free_loops()),
            *([f"{self.mount_root}, held by nobody"] if _is_unheld(self.mount_root) else []),
        ]

    def all(self) -> list[str]:
        return [*self.alive(), *self.lying()]

    def wait_until_dead(self, seconds: float) -> None:
        """Raises AssertionError naming what still lives after `seconds`."""
        _wait_until_empty(self.alive, seconds)

    def wait_until_clean(self, seconds: float) -> None:
        """The same for everything."""
        _wait_until_empty(self.all, seconds)


def _wait_until_empty(look: Callable[[], list[str]], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while left := look():
        assert time.monotonic() < deadline, f"left after {seconds:g} s:\n  " + "\n  ".join(left)
        time.sleep(_POLL_SECONDS)


def _private_folders(shared: tuple[Path, ...]) -> list[Path]:
    return [
        path
        for folder in shared
        if folder.is_dir()
        for path in folder.iterdir()
        if PRIVATE_NAME.fullmatch(path.name)
    ]


def _is_of_another(private: Path, place: Path) -> bool:
    """Whether it was left by a server whose data was elsewhere: another run of mydyno's that was killed."""
    try:
        text = (private / "my.cnf").read_text()
    except OSError:
        return False
    data = [line.partition("=")[2] for line in text.splitlines() if line.startswith("datadir=")]
    return bool(data) and not any(Path(each).is_relative_to(place) for each in data)


def _processes_that_name(folder: Path) -> dict[int, str]:
    return {
        pid: line for pid, line in _command_lines().items() if pid != os.getpid() and f"{folder}/" in line
    }


def _command_lines() -> dict[int, str]:
    lines = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
            except OSError:
                continue
            if line:
                lines[int(entry.name)] = line
    return lines


def loops_over(folder: Path) -> dict[str, str]:
    found = {}
    for file in Path("/sys/block").glob("loop*/loop/backing_file"):
        try:
            backing = file.read_text().strip()
        except OSError:
            continue
        if backing.startswith(f"{folder}/"):
            found[file.parts[-3]] = backing
    return found


def _mounts_of(marks: list[str]) -> list[str]:
    """Lines of mountinfo that name one of these, in any mount namespace of the machine."""
    seen: set[str] = set()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            namespace = str((entry / "ns" / "mnt").readlink())
            lines = [] if namespace in seen else (entry / "mountinfo").read_text().splitlines()
        except OSError:
            continue
        seen.add(namespace)
        found += [
            f"{namespace} {line}"
            for line in lines
            if any(word == mark or word.startswith(f"{mark}/") for mark in marks for word in line.split(" "))
        ]
    return found


def _arrays_of(loops: set[str]) -> list[str]:
    return [
        folder.parent.name
        for folder in Path("/sys/block").glob("md*/slaves")
        if any(slave.name in loops for slave in folder.iterdir())
    ]


def _limits_of_free_loops() -> list[str]:
    limited: set[str] = set()
    for name in BLKIO_FILES.values():
        if (_BLKIO / name).exists():
            limited.update(limits_in((_BLKIO / name).read_text()))
    numbers = {(folder / "dev").read_text().strip(): folder for folder in Path("/sys/block").glob("loop*")}
    return sorted(
        number
        for number in limited
        if number in numbers and not (numbers[number] / "loop" / "backing_file").exists()
    )


def _is_unheld(mount_root: Path) -> bool:
    try:
        descriptor = os.open(mount_root, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
