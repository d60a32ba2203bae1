"""What the environments of every kind share: a host reached through an agent, disks, and their removal."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from mydyno.core.writing import writing
from mydyno.lab.spec import Host, Storage
from mydyno.lab.spec.disks import Disks
from mydyno.lab.stack.ground.ground import Disk
from mydyno.lab.stack.site import PrivateFolder, Site
from mydyno.machine.agent import AgentHost

KERNEL_LOG_LINES = 20


@dataclass(eq=False)
class AgentGround:
    """An environment that runs, and everything that has to be removed again."""

    host: AgentHost
    disks: Mapping[str, tuple[Disk, ...]]
    described: Mapping[str, str]
    _removal: ExitStack = field(repr=False)

    @property
    def kernel(self) -> str:
        return self.host.hello.kernel

    @property
    def cpus(self) -> int:
        return self.host.hello.cpus

    def close(self) -> None:
        self._removal.close()


@dataclass(frozen=True)
class GroundLayer:
    """The environment of one trial, with its disks. `folder` is the trial's, in the lab, and must exist when
    it is built: a guest keeps its console.log there."""

    host: Host
    storage: Storage | None
    folder: Path = field(compare=False)
    trial: str
    shown: tuple[Path, ...] = ()
    """Folders of this machine that a guest is given, read-only, at the same places."""
    name: str = field(default="ground", init=False)

    @property
    def volumes(self) -> dict[str, Disks]:
        """The disks that an experiment configures, by volume."""
        return {name: volume.disks for name, volume in self.storage.volumes.items()} if self.storage else {}

    def remove(self, site: Site, product: AgentGround) -> None:
        product.close()


def private_folder(site: Site, removal: ExitStack) -> PrivateFolder:
    """A folder in the lab for the files of the disks."""
    parent = site.lab / "run"
    with writing(parent):
        parent.mkdir(mode=0o755, exist_ok=True)
    folder = site.folder_in(parent)
    removal.callback(site.remove, folder)
    return folder
