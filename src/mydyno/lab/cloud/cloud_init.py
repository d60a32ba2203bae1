"""The user data of a cloud machine: its user, limits, packages, and the service that builds the volumes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from mydyno.core.document.yaml_text import inline
from mydyno.lab.cloud.machine import USER, CloudMachine
from mydyno.lab.cloud.storage_script import DiskNames, storage_script
from mydyno.lab.stack.storage.tools import PACKAGES

_STORAGE = "/usr/local/sbin/mydyno-storage"
_PACKAGES = "/usr/local/sbin/mydyno-packages"
_UNIT = "mydyno-storage.service"
_SYSCTL = "/etc/sysctl.d/90-mydyno.conf"

_NR_OPEN = 1048576
"""fs.nr_open of every kernel since 2.6.25: no process may have a higher limit of open files (proc(5))."""

_SERVICE = f"""\
[Unit]
Description=Volumes of a mydyno experiment

[Service]
Type=oneshot
RemainAfterExit=yes
TimeoutStartSec=infinity
ExecStart={_STORAGE}

[Install]
WantedBy=multi-user.target
"""


@dataclass(frozen=True)
class _File:
    path: str
    content: str
    mode: str = "0644"


def cloud_init(machine: CloudMachine, disk_names: DiskNames) -> str:
    """The cloud-config, which holds no secret: a public key, and nothing that opens anything."""
    return "\n".join(_lines(machine, disk_names)) + "\n"


def _lines(machine: CloudMachine, disk_names: DiskNames) -> Iterator[str]:
    yield "#cloud-config"
    yield "# Made by `mydyno cloud export`."
    yield "users:"
    yield f"  - name: {USER}"
    yield "    shell: /bin/bash"
    yield "    lock_passwd: true"
    yield "    sudo: ALL=(ALL) NOPASSWD:ALL"
    yield f"    ssh_authorized_keys: {inline([machine.public_key])}"
    yield "ssh_pwauth: false"
    yield "disable_root: true"
    # Updates would install while something is measured.
    yield "package_update: false"
    yield "package_upgrade: false"
    yield "write_files:"
    for file in _files(machine, disk_names):
        yield from _written(file)
    yield "runcmd:"
    if machine.nofile > _NR_OPEN:
        yield f"  - [sysctl, --load={_SYSCTL}]"
    yield f"  - [{_PACKAGES}]"
    yield "  - [systemctl, daemon-reload]"
    yield f"  - [systemctl, enable, --now, {_UNIT}]"


def _files(machine: CloudMachine, disk_names: DiskNames) -> Iterator[_File]:
    yield _File("/etc/security/limits.d/90-mydyno.conf", "".join(_limits(machine)))
    if machine.nofile > _NR_OPEN:
        yield _File(_SYSCTL, f"fs.nr_open = {machine.nofile}\n")
    yield _File(_PACKAGES, _package_script(packages_of(machine)), "0755")
    yield _File(_STORAGE, storage_script(machine.volumes, disk_names), "0755")
    yield _File(f"/etc/systemd/system/{_UNIT}", _SERVICE)


def _limits(machine: CloudMachine) -> Iterator[str]:
    """What pam_limits gives a session of ssh, and with it the server of a trial."""
    for name, value in (("nofile", machine.nofile), ("nproc", machine.nproc)):
        if value is not None:
            yield f"{USER} - {name} {value}\n"


def packages_of(machine: CloudMachine) -> tuple[str, ...]:
    """What must be installed there: the server's binary, mdadm, makers of file systems."""
    tools = ["mdadm"] if any(volume.wanted.raid != "none" for volume in machine.volumes) else []
    tools += [f"mkfs.{volume.wanted.filesystem}" for volume in machine.volumes]
    needed = (PACKAGES[tool] for tool in tools)
    return tuple(dict.fromkeys([machine.server_package, *machine.more_packages, *needed]))


def _package_script(packages: tuple[str, ...]) -> str:
    return f"""\
#!/bin/sh
# Made by `mydyno cloud export`: installs what is missing. The packages have binaries and no service.
set -eu
missing=
for package in {" ".join(packages)}; do
    status=$(dpkg-query --show --showformat='${{db:Status-Status}}' "$package" 2>/dev/null || true)
    if [ "$status" != installed ]; then
        missing="$missing $package"
    fi
done
if [ -n "$missing" ]; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get -o DPkg::Lock::Timeout=600 update
    # The list is of words without spaces.
    apt-get -o DPkg::Lock::Timeout=600 install --yes --no-install-recommends $missing
fi
"""


def _written(file: _File) -> Iterator[str]:
    yield f"  - path: {file.path}"
    yield f'    permissions: "{file.mode}"'
    if all(line.isprintable() for line in file.content.split("\n")):
        yield "    content: |"
        for line in file.content.rstrip("\n").split("\n"):
            yield f"      {line}" if line else ""
    else:
        yield f"    content: {json.dumps(file.content)}"
