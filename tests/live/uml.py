"""Guests of User-Mode Linux for live tests; the tests are skipped, and say so, where no kernel is cached."""

from __future__ import annotations

from pathlib import Path

import pytest

from mydyno.lab.spec.host import Host
from mydyno.lab.spec.storage import Storage
from mydyno.lab.stack import Journal, Site
from mydyno.lab.stack.ground.uml import UmlGroundLayer
from mydyno.machine.local import LocalHost
from mydyno.machine.uml import UmlKernels

NEEDS_KERNEL = pytest.mark.skipif(
    not UmlKernels().all(),
    reason="no User-Mode Linux kernel is in mydyno's cache: fetching one takes a network",
)


def site_in(lab: Path) -> Site:
    lab.mkdir(exist_ok=True)
    return Site(lab, LocalHost(), Journal(lab))


def ground_layer(site: Site, count: int = 2, size: str = "256M", **more: object) -> UmlGroundLayer:
    """A guest with a volume `data` of so many disks; its console is in the lab's folder `trial`."""
    folder = site.lab / "trial"
    folder.mkdir(exist_ok=True)
    volume = {"disks": {"count": count, "size": size}, "raid": 0 if count > 1 else "none"}
    storage = Storage.model_validate({"data": volume})
    return UmlGroundLayer(Host.model_validate({"kind": "uml", **more}), storage, folder, "t1")
