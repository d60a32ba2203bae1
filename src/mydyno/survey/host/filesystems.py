"""The file systems that the server's files lie on, each with its devices."""

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mydyno.core.server_variables import OFF_WORDS, ON_WORDS
from mydyno.machine.block_tree import BlockTree
from mydyno.machine.environment import Mount, filesystem_under
from mydyno.survey.facts import FileSystem, Unread, Use
from mydyno.survey.facts.storage import Files
from mydyno.survey.host.machine import Machine

_NUMBERS = "/sys/block/*/dev", "/sys/block/*/*/dev"


def places(variables: Mapping[str, str]) -> dict[Files, str]:
    """Where a server of these variables has each kind of its files; without what it does not write.

    A relative path begins at the data directory (MySQL Reference Manual, "InnoDB Startup Options and System
    Variables", "The Slow Query Log").
    """
    data = variables.get("datadir", "")
    if not data:
        return {}

    def at(name: str) -> str | None:
        value = variables.get(name)
        return posixpath.normpath(posixpath.join(data, value)) if value else None

    paths: dict[Files, str | None] = {"data": posixpath.normpath(data)}
    if variables.get("have_innodb", "YES").casefold() != "disabled":
        paths["redo log"] = at("innodb_log_group_home_dir")
        paths["undo"] = at("innodb_undo_directory")
    if variables.get("log_bin", "OFF").casefold() not in OFF_WORDS:
        base = at("log_bin_basename")
        paths["binary log"] = posixpath.dirname(base) if base else None
    scratch = variables.get("tmpdir", "").split(":")[0]
    paths["temporary files"] = posixpath.normpath(posixpath.join(data, scratch)) if scratch else None
    if variables.get("slow_query_log", "OFF").casefold() in ON_WORDS:
        log = at("slow_query_log_file")
        paths["slow log"] = posixpath.dirname(log) if log else None
    return {files: path for files, path in paths.items() if path is not None}


def files_of(variables: Mapping[str, str]) -> dict[Files, str]:
    """One file of those kinds whose rights or size matter, by its path."""
    paths = places(variables)
    data, log = paths.get("data"), variables.get("slow_query_log_file")
    files: dict[Files, str] = {}
    if data:
        files["data"] = posixpath.join(data, "ibdata1")
    if "slow log" in paths and data and log:
        files["slow log"] = posixpath.normpath(posixpath.join(data, log))
    return files


@dataclass(frozen=True)
class Mounted:
    """Mounts and their devices, before disks and volumes are known by more than their names."""

    uses: tuple[Use, ...]
    filesystems: tuple[FileSystem, ...]
    devices: Mapping[str, tuple[str, ...]]
    """Mount point -> every block device between it and the disks, from the top."""


def read_filesystems(
    machine: Machine,
    tree: BlockTree,
    kinds: Mapping[Files, str],
    files_of_kind: Mapping[Files, str],
    *,
    root: str,
    mountinfo_of: str,
    unread: list[Unread],
) -> Mounted:
    """`root` comes before the server's paths where it sees other mounts than we do; `mountinfo_of`: the
    folder of the process whose mounts count."""
    mountinfo = machine.read_text(f"{mountinfo_of}/mountinfo")
    numbers = _numbers(machine)
    uses: list[Use] = []
    mounts: dict[str, Mount] = {}
    for files, path in kinds.items():
        seen = machine.real_path(root + path)
        real = seen.removeprefix(root) or "/"
        mount = filesystem_under(Path(real), mountinfo)
        if mount is None:
            why = machine.refused.get(f"{mountinfo_of}/mountinfo", "no mount is above it")
            unread.append(Unread(what=f"the file system of {path} ({files})", why=why, hint="sudo"))
            continue
        mounts[mount.mount_point] = mount
        rights = _rights(machine, files, seen, root, files_of_kind)
        no_cow = _no_copy_on_write(machine, seen) if mount.kind == "btrfs" else None
        point = mount.mount_point
        uses.append(Use(files=files, path=path, mount_point=point, no_copy_on_write=no_cow, **rights))
    devices = {point: tuple(tree.chain(_device(machine, mount, numbers))) for point, mount in mounts.items()}
    filesystems = (
        _filesystem(machine, mount, root + point, tree, devices[point], unread)
        for point, mount in mounts.items()
    )
    return Mounted(tuple(uses), tuple(filesystems), devices)


def _filesystem(
    machine: Machine, mount: Mount, path: str, tree: BlockTree, devices: Sequence[str], unread: list[Unread]
) -> FileSystem:
    space = _space(machine, path)
    if space is None:
        what = f"the free space under {mount.mount_point}"
        unread.append(Unread(what=what, why="stat could not read it", hint="sudo"))
    block, total, free, available, inodes, free_inodes = space or (None,) * 6

    def size(blocks: int | None) -> int | None:
        return None if blocks is None or block is None else blocks * block

    return FileSystem(
        mount_point=mount.mount_point,
        kind=mount.kind,
        source=mount.source,
        options=mount.options,
        size_bytes=size(total),
        free_bytes=size(available),
        inodes=inodes or None,
        free_inodes=free_inodes if inodes else None,
        reserved_bytes=None if free is None or available is None else size(free - available),
        disks=tuple(dict.fromkeys(disk for name in devices[:1] for disk in tree.disks(name))),
        array=next((name for name in devices if name.startswith("md")), None),
    )


def _space(machine: Machine, path: str) -> tuple[int, ...] | None:
    """Block size; blocks: all, free, free for ordinary users; inodes: all, free (stat(1), statfs(2))."""
    words = _output(machine, "stat", "--file-system", "--format=%S %b %f %a %c %d", path)
    return tuple(map(int, words)) if len(words) == 6 else None


def _no_copy_on_write(machine: Machine, path: str) -> bool | None:
    words = _output(machine, "lsattr", "-d", path)
    return "C" in words[0] if words else None


def _rights(
    machine: Machine, files: Files, folder: str, root: str, files_of_kind: Mapping[Files, str]
) -> dict[str, Any]:
    """Owner and modes of the data, mode and size of the slow log, as far as stat(1) may read them."""
    if files not in files_of_kind:
        return {}
    rights: dict[str, Any] = {}
    if files == "data" and (words := _stat(machine, folder)):
        rights = {"owner": words[0], "mode": int(words[1], 8)}
    if words := _stat(machine, root + files_of_kind[files]):
        rights["file_mode"] = int(words[1], 8)
        if files == "slow log":
            rights["file_bytes"] = int(words[2])
    return rights


def _stat(machine: Machine, path: str) -> list[str]:
    """Owner, permission bits in octal, bytes; empty: not to be had."""
    words = _output(machine, "stat", "--dereference", "--format=%U %a %s", path)
    return words if len(words) == 3 else []


def _output(machine: Machine, *argv: str) -> list[str]:
    """The words that a command prints; none when it fails."""
    done = machine.run(argv)
    return done.stdout.split() if done is not None and done.returncode == 0 else []


def _numbers(machine: Machine) -> dict[str, str]:
    """MAJOR:MINOR -> kernel name."""
    files = [path for pattern in _NUMBERS for path in machine.glob(pattern)]
    machine.fetch(files)
    return {(machine.read_text(path) or "").strip(): path.split("/")[-2] for path in files}


def _device(machine: Machine, mount: Mount, numbers: Mapping[str, str]) -> str:
    """The kernel name of what is mounted; btrfs and overlays have a number of no device."""
    if mount.device in numbers:
        return numbers[mount.device]
    return posixpath.basename(machine.real_path(mount.source)) if mount.source.startswith("/dev/") else ""
