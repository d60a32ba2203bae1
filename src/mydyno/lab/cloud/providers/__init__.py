"""The resources of each provider: a module for each, with the same two functions, in one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mydyno.lab.cloud.catalogue import ProviderName
from mydyno.lab.cloud.machine import CloudMachine
from mydyno.lab.cloud.providers import aws, azure, gcp
from mydyno.lab.cloud.storage_script import DiskNames
from mydyno.lab.cloud.tofu import Value


@dataclass(frozen=True)
class Words:
    """How a provider says a machine."""

    document: Callable[[CloudMachine], Mapping[str, Value]]
    """The configuration for OpenTofu, without what all providers share."""
    disk_names: DiskNames
    credentials: str
    """What OpenTofu reads from its environment, for people."""


PROVIDER_WORDS: Mapping[ProviderName, Words] = {
    "azure": Words(azure.document, azure.disk_names, azure.CREDENTIALS),
    "aws": Words(aws.document, aws.disk_names, aws.CREDENTIALS),
    "gcp": Words(gcp.document, gcp.disk_names, gcp.CREDENTIALS),
}
