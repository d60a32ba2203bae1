"""AWS: EBS volumes, found by their own identity, which each has as its serial number.

The user data names a volume `@data-0@` until OpenTofu knows its identity. Arguments: hashicorp/aws 5,
documentation of instance, ebs_volume, volume_attachment and vpc_security_group_ingress_rule.
"""

from __future__ import annotations

import string
from collections.abc import Mapping

from mydyno.core.errors import UsageError
from mydyno.lab.cloud.machine import CloudDisk, CloudMachine
from mydyno.lab.cloud.providers import common
from mydyno.lab.cloud.tofu import Expression, Value

CREDENTIALS = "`aws configure`, or AWS_PROFILE"

_DEVICES = (
    *(f"/dev/sd{letter}" for letter in "fghijklmnop"),
    *(f"/dev/xvdb{letter}" for letter in string.ascii_lowercase),
)
"""What attachments are called (Amazon EC2 User Guide, Device names). A Nitro machine shows other names."""


def disk_names(disk: CloudDisk) -> tuple[str]:
    """The link of systemd's 60-persistent-storage.rules: model and serial number of the NVMe disk."""
    return (f"/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_{_mark(disk)}",)


def _mark(disk: CloudDisk) -> str:
    return f"@{disk.name}@"


def document(machine: CloudMachine) -> Mapping[str, Value]:
    resources: dict[str, Value] = {
        **_network(machine),
        "aws_instance": {"machine": _machine(machine)},
        "aws_ebs_volume": {common.resource_name(disk.name): _disk(machine, disk) for disk in machine.disks},
        "aws_volume_attachment": {
            common.resource_name(disk.name): _attachment(disk) for disk in machine.disks
        },
    }
    return common.document(
        machine,
        ("aws", {"source": "hashicorp/aws", "version": "~> 5.40"}),
        {"region": machine.region},
        resources,
        Expression("aws_instance.machine.public_ip"),
        {"data": {"aws_ssm_parameter": {"image": {"name": machine.image.reference}}}},
    )


def _tags(name: str) -> dict[str, Value]:
    return {"tags": {"Name": name}}


def _network(machine: CloudMachine) -> dict[str, Value]:
    network, tags = Expression("aws_vpc.machine.id"), _tags(machine.name)
    subnet, table = Expression("aws_subnet.machine.id"), Expression("aws_route_table.machine.id")
    group = Expression("aws_security_group.machine.id")
    inward: dict[str, Value] = {"ip_protocol": "tcp", "from_port": 22, "to_port": 22}
    address = "cidr_ipv6" if ":" in machine.ssh_from else "cidr_ipv4"
    return {
        "aws_vpc": {"machine": {"cidr_block": common.NETWORK, **tags}},
        "aws_subnet": {
            "machine": {
                "vpc_id": network,
                "cidr_block": common.NETWORK,
                "availability_zone": machine.zone,
                "map_public_ip_on_launch": True,
                **tags,
            }
        },
        "aws_internet_gateway": {"machine": {"vpc_id": network, **tags}},
        "aws_route_table": {"machine": {"vpc_id": network, **tags}},
        "aws_route": {
            "machine": {
                "route_table_id": table,
                "destination_cidr_block": "0.0.0.0/0",
                "gateway_id": Expression("aws_internet_gateway.machine.id"),
            }
        },
        "aws_route_table_association": {"machine": {"subnet_id": subnet, "route_table_id": table}},
        "aws_security_group": {"machine": {"name": machine.name, "vpc_id": network, **tags}},
        "aws_vpc_security_group_ingress_rule": {
            "ssh": {"security_group_id": group, address: machine.ssh_from, **inward}
        },
        "aws_vpc_security_group_egress_rule": {
            "all": {"security_group_id": group, "cidr_ipv4": "0.0.0.0/0", "ip_protocol": "-1"}
        },
    }


def _machine(machine: CloudMachine) -> Mapping[str, Value]:
    return {
        "ami": Expression("data.aws_ssm_parameter.image.value"),
        "instance_type": machine.size,
        "subnet_id": Expression("aws_subnet.machine.id"),
        "vpc_security_group_ids": [Expression("aws_security_group.machine.id")],
        "ebs_optimized": True,
        # At most 16 KiB (Amazon EC2 User Guide, user data), and cloud-init unpacks it.
        "user_data_base64": Expression(f"base64gzip({_user_data(machine)})"),
        "metadata_options": [{"http_tokens": "required"}],
        "root_block_device": [{"volume_type": "gp3", "volume_size": common.SYSTEM_DISK_GIB}],
        **_tags(machine.name),
    }


def _user_data(machine: CloudMachine) -> str:
    """The user data with each volume's identity, whose dash is not part of the serial number."""
    text = common.USER_DATA
    for disk in machine.disks:
        identity = f'replace(aws_ebs_volume.{common.resource_name(disk.name)}.id, "-", "")'
        text = f'replace({text}, "{_mark(disk)}", {identity})'
    return text


def _disk(machine: CloudMachine, disk: CloudDisk) -> Mapping[str, Value]:
    return {
        "availability_zone": machine.zone,
        "type": machine.disk_kind,
        "size": disk.gib,
        "iops": disk.iops,
        **_tags(f"{machine.name}-{disk.name}"),
    }


def _attachment(disk: CloudDisk) -> Mapping[str, Value]:
    """Raises UsageError for a disk that no name is left for."""
    if disk.number >= len(_DEVICES):
        raise UsageError(f"AWS has names for {len(_DEVICES)} volumes of a machine", "fewer disks")
    return {
        "device_name": _DEVICES[disk.number],
        "instance_id": Expression("aws_instance.machine.id"),
        "volume_id": Expression(f"aws_ebs_volume.{common.resource_name(disk.name)}.id"),
        # A mounted volume is not detached from a running machine, and `tofu destroy` would wait for it.
        "stop_instance_before_detaching": True,
    }
