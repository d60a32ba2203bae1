"""The dataset: made once, shut down cleanly, frozen in the lab's cache, and never started on again."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mydyno.core.errors import LabError, ServerError
from mydyno.core.server_variables import Setting
from mydyno.core.writing import writing
from mydyno.lab.stack.datasets.manifest import DatasetManifest, TableContent, read_manifest
from mydyno.lab.stack.datasets.store import DatasetStore, touch
from mydyno.lab.stack.datasets.tables import PAGE_LIST, contents_of, dump_pages, one_checksum, read_everything
from mydyno.lab.stack.layer import BuiltLayers, fingerprint_of
from mydyno.lab.stack.own_data.copying import copy, finish_upgrade
from mydyno.lab.stack.own_data.source import OwnData
from mydyno.lab.stack.server.initialise import initialise
from mydyno.lab.stack.server.sandbox import RunningServer, start_server
from mydyno.lab.stack.site import Site
from mydyno.machine.trees import move_tree, size_of_tree
from mydyno.server.program.binary import ServerBinary
from mydyno.server.variables import catalogue
from mydyno.server.variables.names import canonical

Facts = Mapping[str, Any]
"""Plain JSON that `prepare` wants remembered with the dataset, like the rows of each table."""

_BYTES_FORMAT = 1
"""Part of the fingerprint: another one when the same description gives other bytes."""

# Preparing needs speed and no safety: a dataset whose making was cut short is thrown away. The slow
# shutdown leaves nothing for the first trial to purge or merge, and without a dumped list of pages
# every trial starts with the same, cold, buffer pool.
_LAX: dict[str, Setting] = {
    "innodb_flush_log_at_trx_commit": 0,
    "innodb_doublewrite": False,
    "log_bin": False,
    "innodb_buffer_pool_dump_at_shutdown": False,
    "innodb_buffer_pool_load_at_startup": False,
    "innodb_fast_shutdown": 0,
    "max_allowed_packet": "64M",
    # Rows are sent with LOAD DATA LOCAL, which MySQL 8.0 and later refuse by default.
    "local_infile": True,
}

# A size that nobody has: the redo log of a copied directory is made again, and names this release.
_COPIED: dict[str, Setting] = {"innodb_log_file_size": "97M"}

_SHUTDOWN_SECONDS = 1800.0
_UPGRADE_SECONDS = 3600.0


@dataclass(frozen=True)
class FrozenDataset:
    """A data directory at rest (clone it, never start on it) and the facts that `prepare` gave."""

    data: Path
    facts: Facts
    size_bytes: int
    name: str
    release: str
    """Of the only server that may be started on a clone, as a binary's version is written."""
    settings: Mapping[str, Setting]
    """Those that shaped its files, without which no server starts on them."""
    page_list: Path | None
    """The pages of its tables for a buffer pool; None: the server that made it could not list them."""


@dataclass(frozen=True)
class Origin:
    """What a dataset was first made for, to be shown: neither is part of its identity."""

    workload: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class _Loaded:
    """What is known of the tables when their server has shut down."""

    facts: Facts
    tables: Mapping[str, TableContent]
    page_list: Path | None


@dataclass(frozen=True)
class DatasetLayer:
    """A dataset in the lab's cache, made when it is not there yet.

    `contents` names what `prepare` loads (workload, rows, engine) and is what distinguishes two datasets,
    together with the binary's build and the settings among `config` that shape files.
    `prepare` gets a running server and loads it; what it returns is kept as `facts`.
    """

    binary: ServerBinary
    config: Mapping[str, Setting]
    contents: Mapping[str, object]
    prepare: Callable[[RunningServer], Facts] = field(compare=False)
    origin: Origin | None = field(default=None, compare=False)
    copied: OwnData | None = field(default=None, compare=False)
    """The data directory that it starts from instead of an empty one; `contents` identifies it."""
    cost_seconds: float = 60.0
    name: str = field(default="dataset", init=False)

    def fingerprint(self) -> str:
        return fingerprint_of(
            {
                "format": _BYTES_FORMAT,
                "release": self.binary.build,
                "settings": self._shaping(),
                "contents": dict(self.contents),
            }
        )

    def side_effects(self) -> tuple[str, ...]:
        return (
            "starts a private server to load the data, once per dataset, and stops it",
            "keeps its socket in a private folder mydyno-* of the temporary folder while it runs",
        )

    def build(self, site: Site, below: BuiltLayers) -> FrozenDataset:
        place = DatasetStore(site.lab).place(self.fingerprint())
        if not place.exists():
            self._make(site, place)
        try:
            dataset = frozen(place, read_manifest(place))
        except LabError as error:
            raise LabError(
                f"{place} holds no readable dataset: {error.message}",
                f"remove it, and the next run makes it again: mydyno datasets remove {place.name}",
            ) from error
        touch(place)
        return dataset

    def remove(self, site: Site, product: FrozenDataset) -> None:
        """The cache is kept: it is what the next run is quick for."""

    def _shaping(self) -> dict[str, Setting]:
        settings = canonical(self.binary, self.config)
        return {name: settings[name] for name in sorted(catalogue().shaping & settings.keys())}

    def _make(self, site: Site, place: Path) -> None:
        started = time.monotonic()
        with site.temporary(site.roomy_folder()) as work:
            loaded = self._load(site, work)
            self._freeze(site, place, work / "data", loaded, started)

    def _freeze(self, site: Site, place: Path, data: Path, loaded: _Loaded, started: float) -> None:
        with site.staged(place) as staging:
            pages = _set_aside(loaded.page_list, staging / PAGE_LIST)
            move_tree(site.host, data, staging / "data")
            manifest = DatasetManifest(
                format=2,
                fingerprint=self.fingerprint(),
                release=str(self.binary.version),
                settings=self._shaping(),
                contents=dict(self.contents),
                facts=dict(loaded.facts),
                size_bytes=size_of_tree(staging / "data"),
                seconds=round(time.monotonic() - started, 3),
                workload=self.origin.workload if self.origin else None,
                options=self.origin.options if self.origin else None,
                binary=str(self.binary.path),
                made=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
                tables=loaded.tables,
                checksum=one_checksum(loaded.tables),
                listed_pages=pages,
            )
            manifest.write(staging)

    def _load(self, site: Site, work: Path) -> _Loaded:
        datadir, scratch = work / "data", work / "scratch"
        shaping = self._shaping()
        copied = self.copied
        if copied is None:
            initialise(site, self.binary, datadir=datadir, scratch=scratch, settings=shaping)
        else:
            copy(site, copied, datadir, scratch)
        lax = {name: value for name, value in _LAX.items() if name in self.binary.options}
        lax["innodb_buffer_pool_size"] = _loading_pool(site)
        if copied is not None and "innodb_redo_log_capacity" not in self.binary.options:
            lax |= _COPIED
        # The log goes where only we look, and is quoted by errors: a prepared dataset needs none.
        server = start_server(
            site,
            self.binary,
            datadir=datadir,
            scratch=scratch,
            config={**lax, **shaping},
            folder=work,
            adopt=copied is not None,
            ready_seconds=120.0 if copied is None else _UPGRADE_SECONDS,
        )
        try:
            if copied is not None:
                finish_upgrade(server, self.binary, copied)
            loaded = self._fill(server)
        except BaseException:
            server.stop(patience_seconds=1.0)
            raise
        if not server.stop(patience_seconds=_SHUTDOWN_SECONDS):
            raise ServerError(
                "the server that loaded the dataset did not shut down cleanly",
                f"it had {_SHUTDOWN_SECONDS:g} s; is the disk full or very slow?",
            )
        return loaded

    def _fill(self, server: RunningServer) -> _Loaded:
        """Loads the tables, counts them, and has the pages listed that a warm buffer pool holds of them."""
        facts = self.prepare(server)
        tables = contents_of(server)
        listed = None
        if tables:
            read_everything(server)
            listed = dump_pages(server)
        return _Loaded(facts, tables, listed)


def frozen(place: Path, manifest: DatasetManifest) -> FrozenDataset:
    """The dataset in the folder `place`, as its manifest describes it."""
    pages = place / PAGE_LIST
    return FrozenDataset(
        data=place / "data",
        facts=manifest.facts,
        size_bytes=manifest.size_bytes,
        name=place.name,
        release=manifest.release,
        settings=manifest.settings,
        page_list=pages if pages.is_file() else None,
    )


def _set_aside(listed: Path | None, place: Path) -> int | None:
    """Moves the list of pages out of the data directory; how many it names."""
    if listed is None:
        return None
    with writing(place):
        text = listed.read_text()
        place.write_text(text)
        listed.unlink()
    return len(text.splitlines())


def _loading_pool(site: Site) -> int:
    """Bytes of buffer pool for loading: an eighth of the memory, and the servers' own default at least."""
    memory = site.host.facts(site.lab).memory_bytes or 0
    return max(memory // 8, 128 * 1024 * 1024)
