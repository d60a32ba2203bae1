"""A loop device that plays a real disk, under a name in a folder that stands for one of stable names."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.stack.loops import MIB, attached, sparse_file

from mydyno.lab.spec import Storage
from mydyno.lab.spec.disks import Device, Disks
from mydyno.lab.spec.storage import Volume


@dataclass(frozen=True)
class RealDisk:
    device: Path
    id: Path

    def storage(
        self, *, wipe: bool = False, serial: str | None = None, iops: int | None = None, **values: Any
    ) -> Storage:
        """The data volume on it. The id is in no folder of this machine's, so it is not validated."""
        named = Device.model_construct(id=str(self.id), serial=serial)
        disks = Disks.model_construct(devices=(named,), wipe=wipe, iops=iops)
        volume = Volume.model_validate({"disks": {"size": "64M"}, **values})
        return Storage.model_construct(data=volume.model_copy(update={"disks": disks}), log=None)

    def signatures(self) -> str:
        argv = ["wipefs", "--no-act", self.device]
        return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


@contextmanager
def real_disk(folder: Path, *, size: int = 64 * MIB, by_id: Path | None = None) -> Iterator[RealDisk]:
    """`by_id`: the name; default: one in `folder`."""
    name = by_id or folder / "by-id" / "ata-TEST"
    with attached(sparse_file(folder / "disk", size)) as device:
        name.parent.mkdir(parents=True, exist_ok=True)
        name.symlink_to(device)
        try:
            yield RealDisk(device, name)
        finally:
            name.unlink()
