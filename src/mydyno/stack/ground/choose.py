"""Which layer makes the ground that an experiment names."""

from __future__ import annotations

from pathlib import Path

from mydyno.spec import Host, Storage
from mydyno.stack.ground.local import LocalGroundLayer
from mydyno.stack.ground.uml import UmlGroundLayer
from mydyno.stack.ground.vm import VmGroundLayer
from mydyno.stack.layer import Layer

_LAYERS = {"local": LocalGroundLayer, "uml": UmlGroundLayer, "vm": VmGroundLayer}


def ground_layer(host: Host, storage: Storage | None, *, folder: Path, trial: str) -> Layer:
    """The ground for one trial; `folder` is the trial's in the lab and gets the console's log."""
    layer: Layer = _LAYERS[host.kind](host=host, storage=storage, folder=folder, trial=trial)
    return layer
