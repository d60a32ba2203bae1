"""Google Cloud: persistent disks, found by the name that each is attached by.

Arguments: hashicorp/google 6, documentation of compute_instance, compute_disk and compute_firewall.
"""

from __future__ import annotations

from collections.abc import Mapping

from mydyno.lab.cloud.machine import CloudDisk, CloudMachine
from mydyno.lab.cloud.providers import common
from mydyno.lab.cloud.tofu import Expression, Value

CREDENTIALS = "`gcloud auth application-default login`, and the project in GOOGLE_PROJECT"


def disk_names(disk: CloudDisk) -> tuple[str, str]:
    """The link of Google's guest environment, and that of systemd's 60-persistent-storage.rules."""
    return f"/dev/disk/by-id/google-{disk.name}", f"/dev/disk/by-id/scsi-0Google_PersistentDisk_{disk.name}"


def document(machine: CloudMachine) -> Mapping[str, Value]:
    resources: dict[str, Value] = {
        **_network(machine),
        "google_compute_disk": {
            common.resource_name(disk.name): _disk(machine, disk) for disk in machine.disks
        },
        "google_compute_instance": {"machine": _machine(machine)},
    }
    return common.document(
        machine,
        ("google", {"source": "hashicorp/google", "version": "~> 6.0"}),
        {"region": machine.region, "zone": machine.zone},
        resources,
        Expression("google_compute_instance.machine.network_interface[0].access_config[0].nat_ip"),
    )


def _network(machine: CloudMachine) -> dict[str, Value]:
    network = Expression("google_compute_network.machine.id")
    return {
        "google_compute_network": {"machine": {"name": machine.name, "auto_create_subnetworks": False}},
        "google_compute_subnetwork": {
            "machine": {
                "name": machine.name,
                "network": network,
                "region": machine.region,
                "ip_cidr_range": common.NETWORK,
            }
        },
        "google_compute_firewall": {
            "ssh": {
                "name": machine.name,
                "network": network,
                "source_ranges": [machine.ssh_from],
                "allow": [{"protocol": "tcp", "ports": ["22"]}],
            }
        },
    }


def _disk(machine: CloudMachine, disk: CloudDisk) -> Mapping[str, Value]:
    return {
        "name": f"{machine.name}-{disk.name}",
        "zone": machine.zone,
        "type": machine.disk_kind,
        "size": disk.gib,
    }


def _machine(machine: CloudMachine) -> Mapping[str, Value]:
    attached: list[Value] = [
        {
            "source": Expression(f"google_compute_disk.{common.resource_name(disk.name)}.id"),
            "device_name": disk.name,
        }
        for disk in machine.disks
    ]
    system: dict[str, Value] = {
        "image": machine.image.reference,
        "size": common.SYSTEM_DISK_GIB,
        "type": "pd-balanced",
    }
    return {
        "name": machine.name,
        "zone": machine.zone,
        "machine_type": machine.size,
        "boot_disk": [{"initialize_params": [system]}],
        "attached_disk": attached,
        "network_interface": [
            {"subnetwork": Expression("google_compute_subnetwork.machine.id"), "access_config": [{}]}
        ],
        "metadata": {"user-data": Expression(common.USER_DATA), "block-project-ssh-keys": "true"},
    }
