"""The server layers: a private server on the data directory below, or an external one, each with settings."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from mydyno.core.errors import ServerError
from mydyno.core.server_variables import Setting
from mydyno.lab.stack.datadir import DataDirectory
from mydyno.lab.stack.layer import BuiltLayers, fingerprint_of
from mydyno.lab.stack.server.external import ExternalServer, attach
from mydyno.lab.stack.server.opening import LOAD_USER, Opening
from mydyno.lab.stack.server.sandbox import RunningServer, start_server
from mydyno.lab.stack.site import Site
from mydyno.machine.process_limits import Limits
from mydyno.server.access.address import External
from mydyno.server.program.binary import ServerBinary
from mydyno.server.program.file_places import place_settings_of, remove_refused_redo_files
from mydyno.server.variables.names import canonical


@dataclass(frozen=True)
class ServerLayer:
    """A server with `config`. `folder`, the trial's own, gets my.cnf and error.log and must exist by then.

    `port`: None for the socket alone, 0 for any free port of 127.0.0.1, else that port. `limits` are those
    of its process. `opening`: it listens for generators, instead of on `port`.
    """

    binary: ServerBinary
    config: Mapping[str, Setting]
    folder: Path = field(compare=False)
    port: int | None = None
    limits: Limits | None = None
    opening: Opening | None = None
    cost_seconds: float = 2.0
    name: str = field(default="server", init=False)

    def fingerprint(self) -> str:
        """Raises SettingsError when the binary does not know a setting."""
        return fingerprint_of(
            {
                "binary": str(self.binary.file),
                "release": self.binary.build,
                "settings": canonical(self.binary, self.config),
                "port": self.port,
                "limits": None if self.limits is None else self.limits.model_dump(mode="json"),
                "opening": None if self.opening is None else asdict(self.opening),
            }
        )

    def side_effects(self) -> tuple[str, ...]:
        network = "no network port"
        if self.opening is not None:
            port = self.opening.port or "any free one"
            network = f"port {port} on {self.opening.address} for {LOAD_USER} from {self.opening.clients}"
        elif self.port is not None:
            network = f"port {self.port or 'any free one'} on 127.0.0.1"
        return (
            f"runs {self.binary.file} as an ordinary user, with {network}; it dies with mydyno",
            "keeps its socket in a private folder mydyno-* of the temporary folder while it runs",
        )

    def build(self, site: Site, below: BuiltLayers) -> RunningServer:
        directory = below.of(DataDirectory)
        if directory.release != str(self.binary.version):
            raise ServerError(
                f"{self.binary.path} is {self.binary.version} and the data is from {directory.release}: it "
                "is not started, since it would change the files",
                "a dataset can only be used by the release that made it",
            )
        config = canonical(self.binary, self.config)
        placed = place_settings_of(self.binary, directory.places, config)
        # A dataset is frozen after a clean shutdown, and this is the first server on its clone.
        redo = directory.places.get("redo log")
        redo_folder = directory.data if redo is None else redo.folder
        remove_refused_redo_files(site.host, self.binary, redo_folder, config)
        return start_server(
            site,
            self.binary,
            datadir=directory.data,
            scratch=directory.scratch,
            config=self.config,
            folder=self.folder,
            port=self.port,
            places={**directory.settings, **placed},
            limits=self.limits,
            opening=self.opening,
        )

    def remove(self, site: Site, product: RunningServer) -> None:
        product.stop()


@dataclass(frozen=True)
class ExternalServerLayer:
    """The server of `external` with `config`, whose names are those of global variables."""

    external: External
    config: Mapping[str, Setting]
    cost_seconds: float = 1.0
    name: str = field(default="external server", init=False)

    def fingerprint(self) -> str:
        return fingerprint_of(
            {"server": self.external.model_dump(mode="json"), "settings": dict(self.config)}
        )

    def side_effects(self) -> tuple[str, ...]:
        if not self.config:
            return ()
        return (f"sets {', '.join(self.config)} of {self.external.description} and restores the old values",)

    def build(self, site: Site, below: BuiltLayers) -> ExternalServer:
        return attach(site, self.external, self.config)

    def remove(self, site: Site, product: ExternalServer) -> None:
        product.restore()
