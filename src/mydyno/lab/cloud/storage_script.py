"""The shell script that builds an experiment's volumes on the disks of a cloud machine.

It runs at each boot. A disk is found by its LUN or by the identity of the disk itself, never by /dev/sdX or
/dev/nvmeXn1, which change from boot to boot. Blank disks become arrays and file systems with the same
command lines as in every other environment; what the script finds built is assembled and mounted; a disk
that carries anything else is left alone, and the script fails. Every word that comes from the experiment is
quoted for the shell.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence

from mydyno.lab.cloud.machine import USER, CloudDisk, CloudVolume
from mydyno.lab.spec.arrays import alignment, array_of, stripe_of
from mydyno.lab.stack.storage.filesystem import mkfs_command
from mydyno.lab.stack.storage.md import create_command

DiskNames = Callable[[CloudDisk], Sequence[str]]
"""The links that a provider's images may have for a disk."""

_WAIT_SECONDS = 600
"""Disks are attached after the machine has started."""

_FUNCTIONS = f"""\
say() {{
    echo "mydyno-storage: $*" >&2
}}

# Prints the device of the first of these links that is there; disks come after the machine has started.
disk() {{
    waited=0
    while [ "$waited" -lt {_WAIT_SECONDS} ]; do
        for link; do
            if [ -b "$link" ]; then
                readlink -f "$link"
                return
            fi
        done
        sleep 1
        waited=$((waited + 1))
    done
    say "no disk $1 after {_WAIT_SECONDS} s"
    return 1
}}

# Fails for a device that carries anything.
blank() {{
    for each; do
        if [ -n "$(wipefs --no-act --noheadings "$each")" ]; then
            say "$each carries something: it is not formatted"
            return 1
        fi
    done
}}

# Prints the array that a disk is a member of, if any. One that is not complete is taken apart first.
array_of() {{
    for holder in "/sys/class/block/${{1##*/}}/holders/"md*; do
        if [ -e "$holder" ]; then
            if [ "$(cat "$holder/md/array_state")" = inactive ]; then
                mdadm --stop "/dev/${{holder##*/}}" >&2
            else
                echo "/dev/${{holder##*/}}"
            fi
            return
        fi
    done
}}

# Sets a file of sysfs: FILE VALUE.
set_queue() {{
    echo "$2" >"$1" || {{ say "$1 does not take $2"; return 1; }}
}}
"""


class _Variable(str):
    """A word of the script that is the value of the shell variable of this name."""


def storage_script(volumes: Iterable[CloudVolume], disk_names: DiskNames) -> str:
    """The whole script, for /bin/sh."""
    parts = [
        "#!/bin/sh",
        "# Made by `mydyno cloud export`: builds the experiment's volumes, or assembles them after a reboot.",
        "set -eu",
        "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
        "",
        _FUNCTIONS,
    ]
    for volume in volumes:
        parts += [*_volume(volume, disk_names), ""]
    return "\n".join(parts).rstrip() + "\n"


def _volume(volume: CloudVolume, disk_names: DiskNames) -> Iterator[str]:
    members = [_Variable(disk.name.replace("-", "_")) for disk in volume.disks]
    yield f"# {volume.name}: {volume.described}"
    for disk, member in zip(volume.disks, members, strict=True):
        yield f"{member}=$(disk {_line(disk_names(disk))})"
    device = members[0]
    if volume.wanted.raid != "none":
        device = _Variable(f"{volume.name}_array")
        yield from _array(volume, members, device)
    yield from _file_system(volume, members, device)
    yield from _queues(volume, members, device)
    yield from _mount(volume, device)


def _array(volume: CloudVolume, members: Sequence[_Variable], device: _Variable) -> Iterator[str]:
    wanted, node = volume.wanted, f"/dev/md/mydyno-{volume.name}"
    argv = create_command(
        node,
        array_of(wanted),
        members,
        bitmap=wanted.bitmap,
        policy=wanted.consistency_policy,
        assume_clean=wanted.initial_sync == "assume-clean",
    )
    yield f"{device}=$(array_of {_line(members[:1])})"
    yield f'if [ -z "${device}" ]; then'
    yield f"    if mdadm --examine {_line(members[:1])} >/dev/null 2>&1; then"
    yield f"        mdadm --assemble {_line([node, *members])}"
    yield "    else"
    yield f"        blank {_line(members)}"
    yield f"        {_line(argv)}"
    if wanted.initial_sync == "await":
        # Without anything to wait for, mdadm ends with 1.
        yield f"        mdadm --wait {node} || true"
    yield "    fi"
    yield f"    {device}=$(array_of {_line(members[:1])})"
    yield "fi"


def _file_system(volume: CloudVolume, members: Sequence[_Variable], device: _Variable) -> Iterator[str]:
    wanted = volume.wanted
    devices = [device] if wanted.raid != "none" else list(members)
    aligned = alignment(wanted.filesystem, stripe_of(array_of(wanted)), wanted.mkfs)
    yield f"kind=$(blkid -p -s TYPE -o value {_line([device])} || true)"
    yield f'if [ "$kind" != {wanted.filesystem} ]; then'
    yield f"    blank {_line(devices)}"
    yield f"    {_line(mkfs_command(wanted, devices, aligned))}"
    yield "fi"
    if wanted.filesystem == "btrfs" and len(devices) > 1:
        yield f"btrfs device scan {_line(devices)}"


def _queues(volume: CloudVolume, members: Sequence[_Variable], device: _Variable) -> Iterator[str]:
    wanted = volume.wanted
    settings = {"scheduler": wanted.scheduler, "nr_requests": wanted.queue_depth}
    given = {name: value for name, value in settings.items() if value is not None}
    if wanted.scheduler in ("bfq", "kyber"):
        yield f"modprobe --quiet {'bfq' if wanted.scheduler == 'bfq' else 'kyber-iosched'} || true"
    if given:
        yield f"for each in {_line(members)}; do"
        # A scheduler comes with a queue length of its own, so the length is set after it.
        for name, value in given.items():
            yield f'    set_queue "/sys/class/block/${{each##*/}}/queue/{name}" {value}'
        yield "done"
    if wanted.readahead is not None and wanted.filesystem != "btrfs":
        yield f"blockdev --setra {wanted.readahead // 512} {_line([device])}"


def _mount(volume: CloudVolume, device: _Variable) -> Iterator[str]:
    wanted, place = volume.wanted, volume.mount_point
    options = ["-o", ",".join(wanted.mount)] if wanted.mount else []
    yield f"mkdir -p {place}"
    yield f"if ! mountpoint -q {place}; then"
    yield f"    mount {_line(['-t', wanted.filesystem, *options, device, place])}"
    yield "fi"
    if wanted.readahead is not None and wanted.filesystem == "btrfs":
        uuid = f"$(findmnt -n -o UUID {place})"
        yield f'set_queue "/sys/fs/btrfs/{uuid}/bdi/read_ahead_kb" {wanted.readahead // 1024}'
    yield f"chown {USER}: {place}"


def _line(words: Iterable[str]) -> str:
    """Words of a command line, quoted."""
    return " ".join(f'"${word}"' if isinstance(word, _Variable) else shlex.quote(word) for word in words)
