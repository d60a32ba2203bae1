"""How warm a trial begins: the operating system's page cache, then the server's buffer pool.

The page cache is looked at under a clone, between its making and the server's start, and dropped for `cold`.
On this machine it is dropped for the clone's files alone (posix_fadvise(2), POSIX_FADV_DONTNEED, by way of
dd's `iflag=nocache count=0`): that needs no right but to read them and leaves the cache of other programs
alone; so it is on another machine. A guest has its own kernel, whose whole cache is dropped
(/proc/sys/vm/drop_caches). Only clean pages go, and a clone has been synced. What remains is read back with
fincore(1), which asks mincore(2) or cachestat(2). It can do nothing on tmpfs, whose files are nowhere but in
the page cache, and it is moot for files that the server opens with O_DIRECT. The buffer pool is filled by
reading everything, or from a list of pages.
"""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from mydyno.core.errors import LabError, MissingToolError, ServerError
from mydyno.lab.stack.datadir import DataDirectory
from mydyno.lab.stack.dataset import FrozenDataset
from mydyno.lab.stack.datasets.tables import list_name, load_pages, read_everything
from mydyno.lab.stack.layer import BuiltLayers, fingerprint_of
from mydyno.lab.stack.server.sandbox import RunningServer
from mydyno.lab.stack.site import Site
from mydyno.machine.protocol import Host

_PATIENCE_SECONDS = 600.0


@dataclass(frozen=True)
class PageCache:
    """Bytes of the clone's files, and of those the part that the page cache held when the server started.

    Both None where the host has no fincore.
    """

    file_bytes: int | None
    cached_bytes: int | None


@dataclass(frozen=True)
class PageCacheLayer:
    """Looks how much of the clone is in the page cache; with `drop`, drops it first."""

    drop: bool
    cost_seconds: float = 0.2
    name: str = field(default="page cache", init=False)

    def fingerprint(self) -> str:
        return fingerprint_of({"drop": self.drop})

    def side_effects(self) -> tuple[str, ...]:
        return ("drops the clone's own files from the page cache",) if self.drop else ()

    def build(self, site: Site, below: BuiltLayers) -> PageCache:
        folders = below.of(DataDirectory).folders
        if self.drop:
            drop(site.host, folders)
        return look(site.host, folders)

    def remove(self, site: Site, product: PageCache) -> None:
        """The cache fills again by itself."""


def drop(host: Host, folders: Sequence[Path]) -> None:
    """Lets go of the pages of all files below `folders`; in a guest, of all that its kernel can spare.

    Raises LabError.
    """
    if host.ephemeral and host.work_folder is None:
        argv = ["sh", "-c", "sync && echo 3 > /proc/sys/vm/drop_caches"]
    else:
        one = ["dd", "if={}", "iflag=nocache", "count=0", "status=none", ";"]
        argv = ["find", *map(str, folders), "-type", "f", "-exec", *one]
    done = host.run(argv, timeout_seconds=_PATIENCE_SECONDS)
    if done.returncode != 0:
        message = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise LabError(f"the page cache could not be dropped for `cache: cold`: {message}")


def look(host: Host, folders: Sequence[Path]) -> PageCache:
    """How much of all files below `folders` is in the page cache now."""
    ask = ["fincore", "--json", "--bytes", "--output", "RES,SIZE", "{}", "+"]
    try:
        done = host.run(
            ["find", *map(str, folders), "-type", "f", "-size", "+0", "-exec", *ask],
            timeout_seconds=_PATIENCE_SECONDS,
        )
    except MissingToolError:
        return PageCache(None, None)
    return read_fincore(done.stdout) if done.returncode == 0 else PageCache(None, None)


def read_fincore(text: str) -> PageCache:
    """The sum over all files of one or more of its JSON documents, one after the other."""
    decoder, place, files = json.JSONDecoder(), 0, []
    text = text.strip()
    while place < len(text):
        document, place = decoder.raw_decode(text, place)
        files += document["fincore"]
        place += len(text[place:]) - len(text[place:].lstrip())
    return PageCache(
        file_bytes=sum(int(file["size"]) for file in files),
        # The last page of a file may reach beyond its end.
        cached_bytes=sum(min(int(file["res"]), int(file["size"])) for file in files),
    )


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
    name = list_name(server)
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
    host.write_text(place, dataset.page_list.read_text(), owner=owner)
    load_pages(server)
