"""The server layer of an external server, which runs already and gets one point's settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mydyno.core.server_variables import Setting
from mydyno.lab.stack.layer import BuiltLayers, fingerprint_of
from mydyno.lab.stack.server.external import ExternalServer, attach
from mydyno.lab.stack.site import Site
from mydyno.server.access.address import External


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
        return (f"sets {', '.join(self.config)} of {self.external.told} and restores the old values",)

    def build(self, site: Site, below: BuiltLayers) -> ExternalServer:
        return attach(site, self.external, self.config)

    def remove(self, site: Site, product: ExternalServer) -> None:
        product.restore()
