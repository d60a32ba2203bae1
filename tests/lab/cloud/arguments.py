"""What the resources of the three providers take: argument -> whether it is required.

From the documentation of hashicorp/azurerm 4, hashicorp/aws 5, hashicorp/google 6 and hashicorp/local 2, for
the resources that mydyno writes and the arguments that it may write. Below a block stand its own arguments.
"""

from __future__ import annotations

from typing import Any

_PLACED = {"name": True, "resource_group_name": True, "location": True}

ARGUMENTS: dict[str, dict[str, Any]] = {
    "azurerm_resource_group": {"name": True, "location": True},
    "azurerm_virtual_network": {**_PLACED, "address_space": True},
    "azurerm_subnet": {
        "name": True,
        "resource_group_name": True,
        "virtual_network_name": True,
        "address_prefixes": True,
    },
    "azurerm_public_ip": {**_PLACED, "allocation_method": True, "sku": False, "zones": False},
    "azurerm_network_security_group": _PLACED,
    "azurerm_network_security_rule": {
        **dict.fromkeys(("name", "resource_group_name", "network_security_group_name"), True),
        **dict.fromkeys(("priority", "direction", "access", "protocol"), True),
        **dict.fromkeys(("source_address_prefix", "source_port_range"), False),
        **dict.fromkeys(("destination_address_prefix", "destination_port_range"), False),
    },
    "azurerm_network_interface": {
        **_PLACED,
        "accelerated_networking_enabled": False,
        "ip_configuration": {
            "name": True,
            "subnet_id": False,
            "private_ip_address_allocation": True,
            "public_ip_address_id": False,
        },
    },
    "azurerm_network_interface_security_group_association": {
        "network_interface_id": True,
        "network_security_group_id": True,
    },
    "azurerm_linux_virtual_machine": {
        **_PLACED,
        "size": True,
        "network_interface_ids": True,
        **dict.fromkeys(("zone", "admin_username", "disable_password_authentication", "custom_data"), False),
        "admin_ssh_key": {"username": True, "public_key": True},
        "os_disk": {"caching": True, "storage_account_type": False, "disk_size_gb": False},
        "source_image_reference": {"publisher": True, "offer": True, "sku": True, "version": True},
    },
    "azurerm_managed_disk": {
        **_PLACED,
        "storage_account_type": True,
        "create_option": True,
        **dict.fromkeys(("disk_size_gb", "zone", "disk_iops_read_write"), False),
    },
    "azurerm_virtual_machine_data_disk_attachment": {
        "virtual_machine_id": True,
        "managed_disk_id": True,
        "lun": True,
        "caching": True,
    },
    "aws_vpc": {"cidr_block": False, "tags": False},
    "aws_subnet": {
        "vpc_id": True,
        **dict.fromkeys(("cidr_block", "availability_zone", "map_public_ip_on_launch", "tags"), False),
    },
    "aws_internet_gateway": {"vpc_id": False, "tags": False},
    "aws_route_table": {"vpc_id": True, "tags": False},
    "aws_route": {"route_table_id": True, "destination_cidr_block": False, "gateway_id": False},
    "aws_route_table_association": {"route_table_id": True, "subnet_id": False},
    "aws_security_group": {"name": False, "vpc_id": False, "tags": False},
    "aws_vpc_security_group_ingress_rule": {
        **dict.fromkeys(("security_group_id", "ip_protocol"), True),
        **dict.fromkeys(("cidr_ipv4", "cidr_ipv6", "from_port", "to_port"), False),
    },
    "aws_vpc_security_group_egress_rule": {
        **dict.fromkeys(("security_group_id", "ip_protocol"), True),
        "cidr_ipv4": False,
    },
    "aws_instance": {
        **dict.fromkeys(("ami", "instance_type", "subnet_id", "vpc_security_group_ids"), False),
        **dict.fromkeys(("ebs_optimized", "user_data_base64", "tags"), False),
        "metadata_options": {"http_tokens": False},
        "root_block_device": {"volume_type": False, "volume_size": False},
    },
    "aws_ebs_volume": {
        "availability_zone": True,
        **dict.fromkeys(("type", "size", "iops", "tags"), False),
    },
    "aws_volume_attachment": {
        **dict.fromkeys(("device_name", "instance_id", "volume_id"), True),
        "stop_instance_before_detaching": False,
    },
    "google_compute_network": {"name": True, "auto_create_subnetworks": False},
    "google_compute_subnetwork": {"name": True, "network": True, "ip_cidr_range": False, "region": False},
    "google_compute_firewall": {
        "name": True,
        "network": True,
        "source_ranges": False,
        "allow": {"protocol": True, "ports": False},
    },
    "google_compute_disk": {"name": True, "zone": False, "type": False, "size": False},
    "google_compute_instance": {
        **dict.fromkeys(("name", "machine_type"), True),
        **dict.fromkeys(("zone", "metadata"), False),
        "boot_disk": {"initialize_params": {"image": False, "size": False, "type": False}},
        "attached_disk": {"source": True, "device_name": False},
        "network_interface": {"subnetwork": False, "access_config": {}},
    },
    "local_file": {"filename": True, "content": False, "file_permission": False},
}


def _body(arguments: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of a block with these arguments, and no others."""
    required = [name for name, needed in arguments.items() if needed is True]
    properties = {
        name: {"type": "array", "minItems": 1, "items": _body(inside)} if isinstance(inside, dict) else {}
        for name, inside in arguments.items()
    }
    return {
        "type": "object",
        "properties": {"//": {"type": "string"}, **properties},
        "required": required,
        "additionalProperties": False,
    }


SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["terraform", "provider", "resource", "output"],
    "additionalProperties": False,
    "properties": {
        "//": {"type": "string"},
        "terraform": {
            "type": "object",
            "required": ["required_version", "required_providers"],
            "properties": {
                "required_providers": {
                    "additionalProperties": {
                        "type": "object",
                        "required": ["source", "version"],
                        "properties": {"source": {"pattern": "^hashicorp/[a-z]+$"}},
                    }
                }
            },
        },
        "provider": {"type": "object", "minProperties": 1},
        "data": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "aws_ssm_parameter": {"additionalProperties": _body({"name": True})},
            },
        },
        "resource": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                kind: {"type": "object", "minProperties": 1, "additionalProperties": _body(arguments)}
                for kind, arguments in ARGUMENTS.items()
            },
        },
        "output": {"type": "object", "additionalProperties": _body({"value": True})},
    },
}
"""Of main.tf.json. Each resource is an object: a list of blocks would be another resource."""
