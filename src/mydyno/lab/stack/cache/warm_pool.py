"""Filling the buffer pool before the first phase: by reading everything, or from a list of pages."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Literal

from mydyno.core.errors import LabError, ServerError
from mydyno.lab.stack.dataset import FrozenDataset
from mydyno.lab.stack.datasets import page_list
from mydyno.lab.stack.datasets.tables import read_everything
from mydyno.lab.stack.layer import BuiltLayers, fingerprint_of
from mydyno.lab.stack.server.sandbox import RunningServer
from mydyno.lab.stack.site import Site
from mydyno.machine.protocol import Host


@dataclass(frozen=True)
class WarmPool:
    """How the buffer pool was filled, and how long that took: no phase counts it."""

    how: Literal["scan", "dump"]
    seconds: float


@dataclass(frozen=True)
class WarmPoolLayer:
    """`scan` reads every table and index once through the server; `dump` loads the list of their pages."""

    how: Literal["scan", "dump"]
    cost_seconds: float = 2.0
    name: str = field(default="warm buffer pool", init=False)

    def fingerprint(self) -> str:
        return fingerprint_of({"how": self.how})

    def side_effects(self) -> tuple[str, ...]:
        return ()

    def build(self, site: Site, below: BuiltLayers) -> WarmPool:
        server, dataset = below.of(RunningServer), below.of(FrozenDataset)
        started = time.monotonic()
        if self.how == "scan":
            read_everything(server)
        else:
            _load(site.host, server, dataset)
        return WarmPool(self.how, time.monotonic() - started)

    def remove(self, site: Site, product: WarmPool) -> None:
        """The pool goes with its server."""


def _load(host: Host, server: RunningServer, dataset: FrozenDataset) -> None:
    name = page_list.list_name(server)
    if name is None:
        raise ServerError(
            f"{server.version} cannot load a list of pages into its buffer pool", "use `cache: scan`"
        )
    if dataset.page_list is None:
        raise LabError(
            f"the dataset {dataset.name} has no list of pages: an older mydyno made it",
            f"remove it, and the next run makes it again: mydyno datasets remove {dataset.name}",
        )
    place, owner = server.datadir / name, host.server_identity
    done = host.run(["cp", "--", str(dataset.page_list), str(place)])
    if done.returncode == 0 and owner is not None:
        done = host.run(["chown", f"{owner.uid}:{owner.gid}", str(place)])
    if done.returncode != 0:
        raise LabError(f"the list of pages could not be put into {server.datadir}: {done.stderr.strip()}")
    page_list.load_pages(server)
