"""main.tf.json of each provider: arguments that its resources take, and references that lead somewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from lab.cloud.arguments import SCHEMA
from lab.cloud.builders import fixed, machine
from mydyno.core.errors import UsageError
from mydyno.lab.cloud.catalogue import PROVIDERS, ProviderName
from mydyno.lab.cloud.folder import files
from mydyno.machine.hosts.entry import hosts_in

SPLIT = (
    "{data: {disks: {count: 4, size: 128G, iops: 5000}, raid: 10, filesystem: xfs},"
    " log: {disks: {count: 2, size: 64G}, raid: 1}}"
)
_REFERENCE = re.compile(r"(?<![\w.])((?:data\.)?(?:azurerm|aws|google)_\w+)\.(\w+)\.\w+")


def document(provider: ProviderName, storage: str = SPLIT, **more: Any) -> dict[str, Any]:
    built = machine(storage, provider, **more)
    text = files(fixed(storage), built)["main.tf.json"]
    parsed: dict[str, Any] = json.loads(text)
    return parsed


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_resources_have_the_arguments_that_their_provider_documents(provider: ProviderName) -> None:
    jsonschema_rs.validate(SCHEMA, document(provider))


def test_the_schema_refuses_what_no_provider_takes() -> None:
    good = document("azure")
    (disk,) = [good["resource"]["azurerm_managed_disk"]["data_0"]]
    disk["disk_size"] = disk.pop("disk_size_gb")
    with pytest.raises(jsonschema_rs.ValidationError, match="disk_size"):
        jsonschema_rs.validate(SCHEMA, good)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_reference_is_to_something_that_is_there(provider: ProviderName) -> None:
    built = document(provider)
    there = {(kind, name) for kind, named in built["resource"].items() for name in named}
    there |= {(f"data.{kind}", name) for kind, named in built.get("data", {}).items() for name in named}
    referred = {match for text in texts(built) for match in _REFERENCE.findall(text)}
    assert referred
    assert referred <= there


@pytest.mark.parametrize("provider", PROVIDERS)
def test_only_the_network_that_was_named_may_use_ssh_and_nothing_else_is_open(
    provider: ProviderName,
) -> None:
    resources = document(provider)["resource"]
    opened = {
        "azure": lambda: resources["azurerm_network_security_rule"]["ssh"]["source_address_prefix"],
        "aws": lambda: resources["aws_vpc_security_group_ingress_rule"]["ssh"]["cidr_ipv4"],
        "gcp": lambda: resources["google_compute_firewall"]["ssh"]["source_ranges"][0],
    }[provider]()
    assert opened == "203.0.113.7/32"
    kinds = ("azurerm_network_security_rule", "aws_vpc_security_group_ingress_rule")
    assert sum(len(resources.get(kind, {})) for kind in (*kinds, "google_compute_firewall")) == 1


def test_azure_attaches_each_disk_by_its_lun_without_caching() -> None:
    resources = document("azure")["resource"]
    attached = resources["azurerm_virtual_machine_data_disk_attachment"]
    assert [(name, one["lun"], one["caching"]) for name, one in attached.items()] == [
        ("data_0", 0, "None"), ("data_1", 1, "None"), ("data_2", 2, "None"), ("data_3", 3, "None"),
        ("log_0", 4, "None"), ("log_1", 5, "None"),
    ]  # fmt: skip
    assert "ReadOnly" in attached["data_0"]["//"], "why guides of today differ"
    cached = document("azure", caching={"data": "read-only"})["resource"]
    attached = cached["azurerm_virtual_machine_data_disk_attachment"]
    assert [one["caching"] for one in attached.values()] == ["ReadOnly"] * 4 + ["None"] * 2
    assert "//" not in attached["data_0"]


def test_iops_are_ordered_where_a_kind_of_disk_has_them() -> None:
    disk = document("azure", disk_kind="PremiumV2_LRS")["resource"]["azurerm_managed_disk"]["data_0"]
    assert (disk["storage_account_type"], disk["disk_iops_read_write"]) == ("PremiumV2_LRS", 5000)
    assert "disk_iops_read_write" not in document("azure")["resource"]["azurerm_managed_disk"]["data_0"]
    assert document("aws")["resource"]["aws_ebs_volume"]["data_0"]["iops"] == 5000


def test_aws_puts_the_identity_of_each_volume_into_the_user_data() -> None:
    resources = document("aws")["resource"]
    code = resources["aws_instance"]["machine"]["user_data_base64"]
    for name in ("data-0", "data-3", "log-1"):
        volume = name.replace("-", "_")
        assert f'"@{name}@", replace(aws_ebs_volume.{volume}.id, "-", "")' in code
    assert code.startswith("${base64gzip(")
    names = [one["device_name"] for one in resources["aws_volume_attachment"].values()]
    assert len(set(names)) == len(names) == 6
    many = "{data: {disks: {count: 38, size: 128G}, raid: 0, filesystem: xfs}}"
    with pytest.raises(UsageError, match="names for 37 volumes"):
        document("aws", many, size="m7i.metal-48xl")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_hosts_file_is_one_that_mydyno_reads(provider: ProviderName) -> None:
    content = document(provider)["resource"]["local_file"]["hosts"]["content"]
    written, count = re.subn(r"\$\{[^}]*\}", "198.51.100.4", content)
    assert count == 1
    hosts = hosts_in(written, "hosts.yaml")
    assert {name: (host.destination, str(host.folder)) for name, host in hosts.items()} == {
        "mydyno-array": ("mydyno@198.51.100.4", "/srv/mydyno/data/mydyno")
    }
