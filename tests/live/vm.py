"""QEMU guests for live tests."""

from __future__ import annotations

from pathlib import Path

from mydyno.lab.spec.host import Host
from mydyno.lab.spec.storage import Storage
from mydyno.lab.stack import Journal, Site
from mydyno.lab.stack.ground.vm import VmGroundLayer
from mydyno.machine.local import LocalHost


def site_in(lab: Path) -> Site:
    lab.mkdir(exist_ok=True)
    return Site(lab, LocalHost(), Journal(lab))


def storage(count: int = 1, size: str = "512M", iops: int | None = None, **volume: object) -> Storage:
    """A volume `data` of so many disks."""
    disks = {"count": count, "size": size, **({"iops": iops} if iops else {})}
    return Storage.model_validate({"data": {"disks": disks, "filesystem": "xfs", **volume}})


def ground_layer(site: Site, wanted: Storage, **host: object) -> VmGroundLayer:
    """A guest whose console is in the lab's folder `trial`."""
    folder = site.lab / "trial"
    folder.mkdir(exist_ok=True)
    return VmGroundLayer(Host.model_validate({"kind": "vm", **host}), wanted, folder, "t1")
