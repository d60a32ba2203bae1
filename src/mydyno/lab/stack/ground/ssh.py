"""host: ssh:NAME: another machine of hosts.yaml as the environment, with its disks as they are.

The host is the run's: it is connected once, and again where it was lost. All that is made on it is in its
session's folder, which goes with the session.
"""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass

from mydyno.core.errors import StorageError
from mydyno.lab.stack.ground import Disk, DiskLimits, Ground
from mydyno.lab.stack.ground.agent_ground import GroundLayer
from mydyno.lab.stack.layer import BuiltLayers, fingerprint_of
from mydyno.lab.stack.site import Site


@dataclass(eq=False)
class SshGround(Ground):
    """Another machine as it is."""

    kind = "ssh"
    disk_model = "the file system of that machine, as it is"

    def throttle(self, limits: Mapping[Disk, DiskLimits]) -> None:
        raise StorageError("disks of another machine are not limited")


@dataclass(frozen=True)
class SshGroundLayer(GroundLayer):
    """The machine for one trial."""

    cost_seconds: float = 0.2

    def fingerprint(self) -> str:
        return fingerprint_of({"host": f"ssh:{self.host.name}", "trial": self.trial})

    def side_effects(self) -> tuple[str, ...]:
        return (f"uses a private folder on {self.host.name}, which goes with the run",)

    def build(self, site: Site, below: BuiltLayers) -> SshGround:
        """Raises HostError, UsageError for a machine that is not in hosts.yaml."""
        assert self.host.name is not None, "the spec requires it"
        host = self.machines.host(self.host.name)
        return SshGround(host, {}, {"host": self.host.name, "folder": str(host.folder)}, ExitStack())
