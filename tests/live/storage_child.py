"""A child that raises and takes down a stack with storage again and again, to be killed at any moment.

    python -m live.storage_child local|uml|vm LAB

Writes a line for each step: `ready`, then `raise N`, `load N`, `down N` for N = 1, 2, 3...
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

from mydyno.lab.results.store import Lab
from mydyno.lab.spec import Host, Storage
from mydyno.lab.stack import Journal, Layer, Site, Stack
from mydyno.lab.stack.ground import Ground
from mydyno.lab.stack.ground.local import LocalGroundLayer
from mydyno.lab.stack.ground.uml import UmlGroundLayer
from mydyno.lab.stack.ground.vm import VmGroundLayer
from mydyno.lab.stack.storage import MountedVolume, building_layers, loading_layers
from mydyno.machine.local import LocalHost

DISK = {"size": "64M", "iops": 2000}
WRITES = [
    "fio", "--name=load", "--rw=randwrite", "--bs=4k", "--size=8M", "--ioengine=psync", "--fsync=8",
    "--time_based", "--runtime=300ms"
]  # fmt: skip


def storage(kind: str) -> Storage:
    """Limited disks with a scheduler: an array of two where the ground has md, else a data and a log disk."""
    volume: dict[str, Any] = {"disks": DISK, "scheduler": "mq-deadline", "readahead": "64K"}
    if kind == "local":
        return Storage.model_validate({"data": volume, "log": {"disks": DISK}})
    return Storage.model_validate({"data": {**volume, "disks": {**DISK, "count": 2}, "raid": 1}})


def ground_layer(kind: str, wanted: Storage, folder: Path, trial: str) -> Layer:
    host = Host.model_validate({"kind": kind})
    layers: dict[str, type[LocalGroundLayer] | type[UmlGroundLayer] | type[VmGroundLayer]] = {
        "local": LocalGroundLayer,
        "uml": UmlGroundLayer,
        "vm": VmGroundLayer,
    }
    return layers[kind](host, wanted, folder, trial)


def main(kind: str, lab: Path) -> None:
    wanted = storage(kind)
    with Lab.open(lab, write=True):
        site = Site(lab, LocalHost(), Journal(lab))
        folder = lab / "trial"
        folder.mkdir(exist_ok=True)
        print("ready", flush=True)
        for turn in itertools.count(1):
            with Stack(site) as stack:
                print(f"raise {turn}", flush=True)
                ground = ground_layer(kind, wanted, folder, f"t{turn}")
                built = stack.move_to([ground, *building_layers(wanted), *loading_layers(wanted)])
                print(f"load {turn}", flush=True)
                host = built.of(Ground).host  # type: ignore[type-abstract]
                done = host.run([*WRITES, f"--directory={built.all(MountedVolume)[0].path}"])
                assert done.returncode == 0, done.stdout + done.stderr
                print(f"down {turn}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
