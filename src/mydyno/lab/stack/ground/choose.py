"""Which layer makes the environment that an experiment names."""

from collections.abc import Callable, Mapping
from pathlib import Path

from mydyno.lab.spec import Host, Storage
from mydyno.lab.stack.ground.local import LocalGroundLayer
from mydyno.lab.stack.ground.ssh import SshGroundLayer
from mydyno.lab.stack.ground.uml import UmlGroundLayer
from mydyno.lab.stack.ground.vm import VmGroundLayer
from mydyno.lab.stack.layer import Layer
from mydyno.machine.hosts.machines import Machines

_LAYERS: Mapping[str, Callable[..., Layer]] = {
    "local": LocalGroundLayer,
    "uml": UmlGroundLayer,
    "vm": VmGroundLayer,
    "ssh": SshGroundLayer,
}


def ground_layer(
    host: Host,
    storage: Storage | None,
    *,
    folder: Path,
    trial: str,
    shown: tuple[Path, ...] = (),
    machines: Machines,
) -> Layer:
    """The environment for one trial; `folder` is the trial's in the lab and gets the console's log.

    `shown` are folders of this machine that its programs need besides the lab: a guest sees them, read-only,
    at the same places. `machines` are the run's other machines.
    """
    return _LAYERS[host.kind](
        host=host, storage=storage, folder=folder, trial=trial, shown=shown, machines=machines
    )
