"""Private servers for live tests. `MYDYNO_SERVER` chooses the binary, as it does for mydyno itself.

`server` is one server for all tests of a module, with a socket and a port of 127.0.0.1; `start` starts
more, with settings of the test's own. All are stopped at the end, whatever the test does.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Protocol

import pytest

from live.mydyno_process import Workplace
from live.releases import release
from mydyno.core.manifest import FILE_NAME
from mydyno.lab.stack import (
    BuiltLayers,
    DataDirectory,
    DataDirectoryLayer,
    DatasetLayer,
    FrozenDataset,
    Journal,
    RunningServer,
    ServerBinary,
    Setting,
    Site,
    find_binary,
    inspect_binary,
    start_server,
)
from mydyno.machine.local import LocalHost
from mydyno.server.releases import binary_of


class Start(Protocol):
    def __call__(
        self,
        config: Mapping[str, Setting] | None = None,
        *,
        port: int | None = None,
        ready_seconds: float = 60.0,
    ) -> RunningServer: ...


def _open_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="mydyno-live-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def _site(lab: Path) -> Site:
    lab.mkdir(exist_ok=True)
    return Site(lab, LocalHost(), Journal(lab))


@pytest.fixture(scope="session")
def binary() -> ServerBinary:
    """The system's server binary. Without one the live tests fail and say what to install."""
    return inspect_binary(LocalHost(), find_binary())


@pytest.fixture
def lab() -> Iterator[Path]:
    """A lab that the servers' user may enter, which pytest's own folder is not when root runs the tests."""
    for folder in _open_folder():
        (folder / "lab").mkdir()
        yield folder / "lab"


@pytest.fixture(scope="session")
def shared_site() -> Iterator[Site]:
    """One site for the whole session: its cache holds the empty dataset that all servers start from."""
    for folder in _open_folder():
        yield _site(folder / "lab")


@pytest.fixture(scope="session")
def empty(shared_site: Site, binary: ServerBinary) -> FrozenDataset:
    """A data directory at rest with nothing but system tables."""
    return _without_tables(shared_site, binary)


def _without_tables(site: Site, binary: ServerBinary) -> FrozenDataset:
    layer = DatasetLayer(binary, {}, contents={"workload": "none"}, prepare=lambda server: {})
    return layer.build(site, BuiltLayers())


@pytest.fixture(scope="module")
def server(
    shared_site: Site, empty: FrozenDataset, binary: ServerBinary, request: pytest.FixtureRequest
) -> Iterator[RunningServer]:
    """A server without any data, for all tests of a module; its `port` is on 127.0.0.1.

    A module that names settings in SERVER_CONFIG has them in its server.
    """
    for start in _starting(shared_site, empty, binary, shared_site.lab / request.module.__name__):
        yield start(getattr(request.module, "SERVER_CONFIG", None), port=0)


@pytest.fixture
def site(lab: Path) -> Site:
    """A site of the test's own, on the lab of the fixture `lab`."""
    return _site(lab)


@pytest.fixture
def start(site: Site, empty: FrozenDataset, binary: ServerBinary) -> Iterator[Start]:
    """Starts servers of the test's own; their my.cnf and error.log are in `lab / "trial"`."""
    yield from _starting(site, empty, binary, site.lab / "trial")


@pytest.fixture
def start_release(site: Site, shared_site: Site) -> Iterator[Callable[[str], Start]]:
    """The same for a release by its name; skips the test, aloud, when it cannot be had."""
    with ExitStack() as running:

        def of_release(name: str) -> Start:
            return running.enter_context(server_of_release(shared_site, name, site.lab / name, site))

        yield of_release


@pytest.fixture(scope="session")
def counting(shared_site: Site) -> Iterator[Callable[[str], RunningServer]]:
    """The server of a release whose performance_schema counts, started once for all tests that want it.

    It has room for few digests, keeps a binary log, and lives five hours east of Greenwich. A test empties
    the digests before it counts.
    """
    config: dict[str, Setting] = {
        "performance_schema": True,
        "performance_schema_digests_size": 300,
        "log_bin": "binlog",
        "server_id": 1,
        "log_bin_trust_function_creators": True,
        "default_time_zone": "+05:00",
    }
    with ExitStack() as running:

        @cache
        def of_release(name: str) -> RunningServer:
            starting = server_of_release(shared_site, name, shared_site.lab / f"counting-{name}")
            start = running.enter_context(starting)
            options = binary_of(name).options
            return start({name: value for name, value in config.items() if name in options})

        yield of_release


@contextmanager
def server_of_release(shared: Site, name: str, folder: Path, site: Site | None = None) -> Iterator[Start]:
    """Starts servers of a release, on `site` or on the shared one; skips the test, aloud, when it cannot be
    had."""
    release(name)
    binary = binary_of(name)
    yield from _starting(site or shared, _without_tables(shared, binary), binary, folder)


def _starting(site: Site, empty: FrozenDataset, binary: ServerBinary, folder: Path) -> Iterator[Start]:
    folder.mkdir(parents=True)
    running: list[RunningServer] = []
    directories: list[tuple[DataDirectoryLayer, DataDirectory]] = []

    def start(
        config: Mapping[str, Setting] | None = None,
        *,
        port: int | None = None,
        ready_seconds: float = 60.0,
    ) -> RunningServer:
        layer = DataDirectoryLayer(folder.name)
        directory = layer.build(site, BuiltLayers((empty,)))
        directories.append((layer, directory))
        server = start_server(
            site,
            binary,
            datadir=directory.data,
            scratch=directory.scratch,
            config=config or {},
            folder=folder,
            port=port,
            ready_seconds=ready_seconds,
        )
        running.append(server)
        return server

    try:
        yield start
    finally:
        for server in running:
            server.stop(patience_seconds=5.0)
        for layer, directory in directories:
            layer.remove(site, directory)


@pytest.fixture(scope="session")
def kept_datasets() -> Iterator[Path]:
    yield from _open_folder()


@pytest.fixture
def known_datasets(workplace: Workplace, kept_datasets: Path) -> Iterator[None]:
    """The lab of `workplace` has every dataset that a test with this fixture has made before: the making
    takes longer than a short trial."""
    place = workplace.lab / "cache" / "datasets"
    place.mkdir(parents=True)
    for dataset in kept_datasets.iterdir():
        _copy(dataset, place)
    yield
    for dataset in place.iterdir():
        if (dataset / FILE_NAME).exists() and not (kept_datasets / dataset.name).exists():
            _copy(dataset, kept_datasets)


def _copy(tree: Path, folder: Path) -> None:
    subprocess.run(["cp", "--archive", "--reflink=auto", tree, folder], check=True)


@pytest.fixture
def workplace() -> Iterator[Workplace]:
    """A folder with a lab for one test that runs mydyno as users do; no process may be left at the end."""
    folder = Path(tempfile.mkdtemp(prefix="mydyno-run-", dir="/tmp"))
    folder.chmod(0o755)
    place = Workplace(folder)
    yield place
    place.wait_until_no_process_is_left()
    shutil.rmtree(folder)
