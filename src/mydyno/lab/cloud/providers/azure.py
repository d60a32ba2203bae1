"""Azure: managed disks, attached by LUN.

Arguments: hashicorp/azurerm 4, documentation of linux_virtual_machine, managed_disk,
virtual_machine_data_disk_attachment, network_interface and network_security_rule.
"""

from __future__ import annotations

from collections.abc import Mapping

from mydyno.lab.cloud.machine import USER, Caching, CloudDisk, CloudMachine
from mydyno.lab.cloud.providers import common
from mydyno.lab.cloud.tofu import Expression, Value

CREDENTIALS = "`az login`, and the subscription in ARM_SUBSCRIPTION_ID"

_CACHING: Mapping[Caching, str] = {"none": "None", "read-only": "ReadOnly", "read-write": "ReadWrite"}
_WHY_NONE = (
    "The guides of 2015 for MySQL on Azure have None for every data disk, and so has this machine: a host's "
    "cache would be measured in place of the disks. Microsoft's guide to premium storage now has ReadOnly "
    "for data files, since cached reads do not count towards a disk's IOPS, and None for logs; ReadOnly is "
    "also what an attached premium disk has when nothing is said."
)
_GROUP = Expression("azurerm_resource_group.machine.name")
_LOCATION = Expression("azurerm_resource_group.machine.location")


def disk_names(disk: CloudDisk) -> tuple[str, str]:
    """Links by LUN: azure-vm-utils' for SCSI and NVMe, WALinuxAgent's (66-azure-storage.rules) for SCSI."""
    return f"/dev/disk/azure/data/by-lun/{disk.number}", f"/dev/disk/azure/scsi1/lun{disk.number}"


def document(machine: CloudMachine) -> Mapping[str, Value]:
    resources: dict[str, Value] = {
        "azurerm_resource_group": {"machine": {"name": machine.name, "location": machine.region}},
        **_network(machine),
        "azurerm_linux_virtual_machine": {"machine": _machine(machine)},
        "azurerm_managed_disk": {
            common.resource_name(disk.name): _disk(machine, disk) for disk in machine.disks
        },
        "azurerm_virtual_machine_data_disk_attachment": {
            common.resource_name(disk.name): _attachment(disk) for disk in machine.disks
        },
    }
    return common.document(
        machine,
        ("azurerm", {"source": "hashicorp/azurerm", "version": "~> 4.0"}),
        {"features": {}},
        resources,
        Expression("azurerm_public_ip.machine.ip_address"),
    )


def _placed(name: str) -> dict[str, Value]:
    return {"name": name, "resource_group_name": _GROUP, "location": _LOCATION}


def _network(machine: CloudMachine) -> dict[str, Value]:
    rule: dict[str, Value] = {
        "name": "ssh",
        "resource_group_name": _GROUP,
        "network_security_group_name": Expression("azurerm_network_security_group.machine.name"),
        "priority": 100,
        "direction": "Inbound",
        "access": "Allow",
        "protocol": "Tcp",
        "source_address_prefix": machine.ssh_from,
        "source_port_range": "*",
        "destination_address_prefix": "*",
        "destination_port_range": "22",
    }
    address: dict[str, Value] = {
        "name": "internal",
        "subnet_id": Expression("azurerm_subnet.machine.id"),
        "private_ip_address_allocation": "Dynamic",
        "public_ip_address_id": Expression("azurerm_public_ip.machine.id"),
    }
    return {
        "azurerm_virtual_network": {"machine": {**_placed(machine.name), "address_space": [common.NETWORK]}},
        "azurerm_subnet": {
            "machine": {
                "name": machine.name,
                "resource_group_name": _GROUP,
                "virtual_network_name": Expression("azurerm_virtual_network.machine.name"),
                "address_prefixes": [common.NETWORK],
            }
        },
        "azurerm_public_ip": {
            "machine": {
                **_placed(machine.name),
                "allocation_method": "Static",
                "sku": "Standard",
                "zones": [machine.zone],
            }
        },
        "azurerm_network_security_group": {"machine": _placed(machine.name)},
        "azurerm_network_security_rule": {"ssh": rule},
        "azurerm_network_interface": {
            "machine": {
                **_placed(machine.name),
                "accelerated_networking_enabled": True,
                "ip_configuration": [address],
            }
        },
        "azurerm_network_interface_security_group_association": {
            "machine": {
                "network_interface_id": Expression("azurerm_network_interface.machine.id"),
                "network_security_group_id": Expression("azurerm_network_security_group.machine.id"),
            }
        },
    }


def _machine(machine: CloudMachine) -> Mapping[str, Value]:
    publisher, offer, sku, version = machine.image.reference.split(":")
    return {
        **_placed(machine.name),
        "zone": machine.zone,
        "size": machine.size,
        "network_interface_ids": [Expression("azurerm_network_interface.machine.id")],
        "admin_username": USER,
        "admin_ssh_key": [{"username": USER, "public_key": machine.public_key}],
        "disable_password_authentication": True,
        "custom_data": Expression(f"base64encode({common.USER_DATA})"),
        "source_image_reference": [{"publisher": publisher, "offer": offer, "sku": sku, "version": version}],
        "os_disk": [
            {
                "caching": "ReadWrite",
                "storage_account_type": "Premium_LRS",
                "disk_size_gb": common.SYSTEM_DISK_GIB,
            }
        ],
    }


def _disk(machine: CloudMachine, disk: CloudDisk) -> Mapping[str, Value]:
    ordered: dict[str, Value] = (
        {"disk_iops_read_write": disk.iops} if machine.kind.provisioned is not None else {}
    )
    return {
        **_placed(f"{machine.name}-{disk.name}"),
        "zone": machine.zone,
        "storage_account_type": machine.disk_kind,
        "create_option": "Empty",
        "disk_size_gb": disk.gib,
        **ordered,
    }


def _attachment(disk: CloudDisk) -> Mapping[str, Value]:
    resource = common.resource_name(disk.name)
    why: dict[str, Value] = {"//": _WHY_NONE} if disk.number == 0 and disk.caching == "none" else {}
    return {
        **why,
        "virtual_machine_id": Expression("azurerm_linux_virtual_machine.machine.id"),
        "managed_disk_id": Expression(f"azurerm_managed_disk.{resource}.id"),
        "lun": disk.number,
        "caching": _CACHING[disk.caching],
    }
