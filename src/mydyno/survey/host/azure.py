"""Virtual machines of Microsoft Azure: how the host caches each disk, which only a metadata service reports.

The service is at an address that never leaves the machine, and is queried without a proxy, as its makers
want it (Microsoft, "Azure Instance Metadata Service"). The names under /dev/disk/azure are those of the
rules for udev that waagent and azure-vm-utils install.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterable, Mapping
from typing import Any

from mydyno.survey.facts import Disk, Unread
from mydyno.survey.host.machine import Machine

CLOUD = "Microsoft Azure"
_ASSET_TAG_FILE = "/sys/class/dmi/id/chassis_asset_tag"
_ASSET_TAG = "7783-7084-3265-9085-8269-3286-77"
"""Of every virtual machine of Azure's, of none of Hyper-V's elsewhere."""
_URL = "http://169.254.169.254/metadata/instance/compute/storageProfile?api-version=2021-02-01&format=json"
_SECONDS = 3
_DATA_DISKS = ("/dev/disk/azure/scsi1/lun{}", "/dev/disk/azure/data/by-lun/{}")
_OS_DISK = ("/dev/disk/azure/root", "/dev/disk/azure/os")
_CACHING = ("None", "ReadOnly", "ReadWrite")


def is_azure(machine: Machine) -> bool:
    return (machine.read_text(_ASSET_TAG_FILE) or "").strip() == _ASSET_TAG


def with_host_caching(machine: Machine, disks: Iterable[Disk], unread: list[Unread]) -> tuple[Disk, ...]:
    """The same disks, those of a virtual machine of Azure's with what its host caches."""
    all_disks = tuple(disks)
    if not is_azure(machine):
        return all_disks
    words = f"curl --silent --fail --noproxy * --max-time {_SECONDS} --header".split()
    done = machine.run([*words, "Metadata: true", _URL])
    profile = parse_profile(done.stdout) if done is not None and done.returncode == 0 else None
    if profile is None:
        why = "curl is not there" if done is None else "Azure's metadata service gave no answer"
        what = "how the host caches the disks"
        unread.append(Unread(what=what, why=why, hint="az vm show, storageProfile"))
        return all_disks
    named = {
        posixpath.basename(machine.real_path(link)): caching
        for place, caching in profile.items()
        for link in (_OS_DISK if place == "os" else tuple(path.format(place) for path in _DATA_DISKS))
    }
    return tuple(disk.model_copy(update={"host_caching": named.get(disk.name)}) for disk in all_disks)


def parse_profile(text: str) -> Mapping[str, str] | None:
    """Caching by the number of a data disk (`0`, its LUN) and of `os`. None: no such answer. Pure."""
    try:
        profile: Any = json.loads(text)
        data = {str(disk["lun"]): disk.get("caching") for disk in profile.get("dataDisks") or ()}
        every = {"os": (profile.get("osDisk") or {}).get("caching"), **data}
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return {place: caching for place, caching in every.items() if caching in _CACHING}
