"""What the documents of all providers share."""

from __future__ import annotations

from collections.abc import Mapping

from mydyno.lab.cloud.machine import MOUNTS, USER, CloudMachine
from mydyno.lab.cloud.tofu import Expression, Joined, Value

NETWORK = "10.0.0.0/24"
"""Of the machine alone."""
USER_DATA = 'file("${path.module}/cloud-init.yaml")'
SYSTEM_DISK_GIB = 32

_LOCAL = {"source": "hashicorp/local", "version": "~> 2.4"}


def document(
    machine: CloudMachine,
    requirement: tuple[str, Mapping[str, Value]],
    configuration: Mapping[str, Value],
    resources: Mapping[str, Value],
    address: Expression,
    more: Mapping[str, Value] | None = None,
) -> Mapping[str, Value]:
    """`requirement`: the provider's name and source; `address`: the machine's, once it is there."""
    name, source = requirement
    return {
        "//": "Made by `mydyno cloud export`. README.md says how to use and how to destroy it.",
        "terraform": {
            "required_version": ">= 1.6",
            "required_providers": {name: source, "local": _LOCAL},
        },
        "provider": {name: configuration},
        **(more or {}),
        "resource": {**resources, "local_file": {"hosts": hosts_file(machine, address)}},
        "output": {"address": {"value": address}},
    }


def hosts_file(machine: CloudMachine, address: Expression) -> Mapping[str, Value]:
    """hosts.yaml, next to the configuration: written when the machine has an address, removed with it."""
    folder = f"{MOUNTS}/data/mydyno"
    parts = (f"hosts:\n  {machine.name}:\n    destination: {USER}@", address, f"\n    folder: {folder}\n")
    return {
        "filename": Joined((Expression("path.module"), "/hosts.yaml")),
        "content": Joined(parts),
        "file_permission": "0644",
    }


def resource_name(disk_name: str) -> str:
    """`data_0`, of the disk `data-0`."""
    return disk_name.replace("-", "_")
