"""The dataset: made once, shut down cleanly, frozen in the lab's cache, and never started on again."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mydyno.catalogue import catalogue
from mydyno.core.errors import LabError, ServerError
from mydyno.core.server_variables import Setting
from mydyno.core.writing import writing
from mydyno.stack.files import move_tree, size_of_tree, sync_tree
from mydyno.stack.layer import Standing, fingerprint_of
from mydyno.stack.server.binary import ServerBinary
from mydyno.stack.server.initialise import initialise
from mydyno.stack.server.names import canonical
from mydyno.stack.server.sandbox import RunningServer, start_server
from mydyno.stack.site import Site

Facts = Mapping[str, Any]
"""Plain JSON that `prepare` wants remembered with the dataset, like the rows of each table."""

_FORMAT = 1

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
}

_SHUTDOWN_SECONDS = 1800.0


@dataclass(frozen=True)
class FrozenDataset:
    """A data directory at rest (clone it, never start on it) and the facts that `prepare` gave."""

    data: Path
    facts: Facts
    size_bytes: int


@dataclass(frozen=True)
class DatasetLayer:
    """A dataset in the lab's cache, made when it is not there yet.

    `contents` names what `prepare` loads (workload, rows, engine) and is what tells two datasets
    apart, together with the binary's build and the settings among `config` that shape files.
    `prepare` gets a running server and loads it; what it returns is kept as `facts`.
    """

    binary: ServerBinary
    config: Mapping[str, Setting]
    contents: Mapping[str, object]
    prepare: Callable[[RunningServer], Facts] = field(compare=False)
    cost_seconds: float = 60.0
    name: str = field(default="dataset", init=False)

    def fingerprint(self) -> str:
        return fingerprint_of(
            {
                "format": _FORMAT,
                "release": self.binary.build,
                "settings": self._shaping(),
                "contents": dict(self.contents),
            }
        )

    def side_effects(self) -> tuple[str, ...]:
        return (
            "starts a private server for loading data, once for each dataset, and stops it",
            "keeps its socket in a private folder mydyno-* of the temporary folder while it runs",
        )

    def up(self, site: Site, below: Standing) -> FrozenDataset:
        place = site.lab / "cache" / "datasets" / self.fingerprint()
        found = _read(place)
        if found is None:
            if place.exists():
                raise LabError(f"{place} holds no readable dataset", f"remove it: rm -r {place}")
            self._make(site, place)
            found = _read(place)
        if found is None:
            raise LabError(f"{place} could not be read back after it was written")
        return found

    def down(self, site: Site, product: FrozenDataset) -> None:
        """The cache is kept: it is what the next run is quick for."""

    def _shaping(self) -> dict[str, Setting]:
        settings = canonical(self.binary, self.config)
        return {name: settings[name] for name in sorted(catalogue().shaping() & settings.keys())}

    def _make(self, site: Site, place: Path) -> None:
        started = time.monotonic()
        work = site.roomy_folder()
        try:
            facts = self._load(site, work.path)
            self._freeze(site, place, work.path / "data", facts, started)
        finally:
            site.remove(work)

    def _freeze(self, site: Site, place: Path, data: Path, facts: Facts, started: float) -> None:
        """Written beside its place and renamed, so that a dataset is there whole or not at all."""
        with writing(place.parent):
            place.parent.mkdir(parents=True, exist_ok=True)
        staging = site.folder_in(place.parent)
        try:
            move_tree(site.host, data, staging.path / "data")
            manifest = {
                "format": _FORMAT,
                "fingerprint": self.fingerprint(),
                "release": str(self.binary.version),
                "settings": self._shaping(),
                "contents": dict(self.contents),
                "facts": dict(facts),
                "size_bytes": size_of_tree(staging.path / "data"),
                "seconds": round(time.monotonic() - started, 3),
            }
            with writing(place):
                text = json.dumps(manifest, indent=2, sort_keys=True) + "\n"
                (staging.path / "manifest.json").write_text(text)
            sync_tree(site.host, staging.path)
            with writing(place):
                staging.path.rename(place)
        finally:
            site.remove(staging)

    def _load(self, site: Site, work: Path) -> Facts:
        datadir, scratch = work / "data", work / "scratch"
        shaping = self._shaping()
        initialise(site, self.binary, datadir=datadir, scratch=scratch, settings=shaping)
        lax = {name: value for name, value in _LAX.items() if name in self.binary.options}
        lax["innodb_buffer_pool_size"] = _loading_pool(site)
        # The log goes where only we look, and is quoted by errors: a prepared dataset needs none.
        server = start_server(
            site, self.binary, datadir=datadir, scratch=scratch, config={**lax, **shaping}, folder=work
        )
        try:
            facts = self.prepare(server)
        except BaseException:
            server.stop(patience_seconds=1.0)
            raise
        if not server.stop(patience_seconds=_SHUTDOWN_SECONDS):
            raise ServerError(
                "the server that loaded the dataset did not shut down cleanly",
                f"it was given {_SHUTDOWN_SECONDS:g} s; is the disk full or very slow?",
            )
        return facts


def _loading_pool(site: Site) -> int:
    """Bytes of buffer pool for loading: an eighth of the memory, and the servers' own default at least."""
    memory = site.host.facts(site.lab).memory_bytes or 0
    return max(memory // 8, 128 * 1024 * 1024)


def _read(place: Path) -> FrozenDataset | None:
    try:
        manifest = json.loads((place / "manifest.json").read_text())
        return FrozenDataset(place / "data", manifest["facts"], int(manifest["size_bytes"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
