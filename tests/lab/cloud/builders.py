"""Experiments with storage, and what a command line says of their machines."""

from __future__ import annotations

from typing import Any

from mydyno.lab import spec
from mydyno.lab.cloud.catalogue import ProviderName
from mydyno.lab.cloud.experiment import Fixed, fix
from mydyno.lab.cloud.folder import machine_for
from mydyno.lab.cloud.machine import Choices, CloudMachine

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFQ2d1ZkY2hTbUxqR2xwS2VqWnBHb2FWd3hQcm1w"
FOUR_DISKS = "{data: {disks: {count: 4, size: 128G, iops: 500}, raid: 10, filesystem: xfs, mount: [noatime]}}"


def choices(provider: ProviderName = "azure", **more: Any) -> Choices:
    return Choices(provider, KEY, "203.0.113.7/32", **more)


def experiment_text(storage: str = FOUR_DISKS, more: str = "", host: str = "vm", setup: str = "") -> str:
    return (
        f"experiment: array\nsetup:\n  host: {host}\n  storage: {storage}\n{setup}{more}"
        "workload:\n  oltp-read-only: {}\n  connections: 1\n  each: {measure: 1s}\n"
    )


def fixed(storage: str = FOUR_DISKS, levels: dict[str, str] | None = None, **more: str) -> Fixed:
    return fix(spec.loads(experiment_text(storage, **more), "array.yaml"), levels or {})


def machine(storage: str = FOUR_DISKS, provider: ProviderName = "azure", **more: Any) -> CloudMachine:
    return machine_for(fixed(storage), choices(provider, **more))
