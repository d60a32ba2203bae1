"""How fast the data's disk is, measured: a short fio on a file without a name.

The file is made next to the data directory and unlinked while it is held open, before anything is written
to it: whatever ends the measuring, be it Ctrl-C or a power cut, frees the space. Only its first instant, as
an empty file, could leave a name behind.
"""

import json
import posixpath
import secrets
from collections.abc import Mapping

from mydyno.core.units import format_bytes
from mydyno.survey.facts import DiskSpeed, Storage, Unread
from mydyno.survey.host.machine import Machine
from mydyno.survey.server.interval import Report

_BLOCK_BYTES = 16384
_DEPTH = 32
_SECONDS = 6
_SYNC_SECONDS = 4
_LARGEST, _LEAST = 1 << 30, 64 << 20
_SHARE_OF_FREE = 8
"""Of the free space it takes one part in so many."""
_PATIENCE_SECONDS = 300.0
_SCRIPT = """
: > "$1" && exec 3<> "$1" || exit 1
rm -f -- "$1"
dd if=/dev/urandom of=/proc/self/fd/3 bs=1M count="$2" conv=notrunc,fsync 2>/dev/null || exit 2
shift 2
exec fio "$@"
"""
"""Random bytes: a file system that compresses would not write zeros at all."""


def measure(
    machine: Machine, storage: Storage, report: Report, unread: list[Unread]
) -> tuple[DiskSpeed, ...]:
    """Of the file system that the data lies on; empty, with the reason in `unread`, when fio fails."""
    what = "the speed of the data's disk"
    data = next((use for use in storage.uses if use.files == "data"), None)
    filesystem = storage.of("data")
    if data is None or filesystem is None or filesystem.free_bytes is None:
        unread.append(Unread(what=what, why="it is not known where the data lies, or how much is free there"))
        return ()
    size = min(_LARGEST, filesystem.free_bytes // _SHARE_OF_FREE) >> 20 << 20
    if size < _LEAST:
        free = format_bytes(filesystem.free_bytes)
        why = f"{free} are free under {data.mount_point}, too little for a file"
        unread.append(Unread(what=what, why=why))
        return ()
    folder = data.path if data.path == data.mount_point else posixpath.dirname(data.path)
    report(f"measuring the disk under {folder} with fio, with a file of {format_bytes(size)}")
    file = posixpath.join(folder, f"mydyno-{secrets.token_hex(6)}")
    done = machine.run(
        ["sh", "-c", _SCRIPT, "sh", file, str(size >> 20), *_fio(size)], patience_seconds=_PATIENCE_SECONDS
    )
    if done is None or done.returncode != 0:
        lines = [] if done is None else (done.stderr or done.stdout).strip().splitlines()
        why = lines[-1] if lines else "fio did not run"
        is_missing = done is None or done.returncode == 127
        hint = "apt install fio" if is_missing else "sudo, or a file system with O_DIRECT"
        unread.append(Unread(what=what, why=why, hint=hint))
        return ()
    return (_speed(data.mount_point, json.loads(done.stdout[done.stdout.find("{") :])),)


def _fio(size: int) -> list[str]:
    shared = f"--filename=/proc/self/fd/3 --size={size} --output-format=json --thread --direct=1".split()
    shared += ["--time_based", "--norandommap", "--randrepeat=0"]
    deep = [f"--bs={_BLOCK_BYTES}", "--ioengine=libaio", f"--iodepth={_DEPTH}", f"--runtime={_SECONDS}"]
    sync = ["--bs=4096", "--ioengine=psync", "--iodepth=1", "--fdatasync=1", f"--runtime={_SYNC_SECONDS}"]
    return [
        *shared,
        *("--name=read", "--rw=randread", *deep),
        *("--name=write", "--rw=randwrite", "--stonewall", *deep),
        *("--name=sync", "--rw=write", "--stonewall", *sync),
    ]


def _speed(mount_point: str, report: Mapping[str, list[Mapping[str, Mapping[str, float]]]]) -> DiskSpeed:
    read, write, sync = report["jobs"]
    syncs = sync["write"]["total_ios"]
    return DiskSpeed(
        mount_point=mount_point,
        read_iops=round(read["read"]["iops"], 1),
        write_iops=round(write["write"]["iops"], 1),
        sync_seconds=sync["write"]["runtime"] / 1000 / syncs if syncs else None,
        block_bytes=_BLOCK_BYTES,
        depth=_DEPTH,
    )
