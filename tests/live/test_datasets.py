"""Datasets for real: checked at the freeze, cloned, warmed, dropped from the cache, refused."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lab.stack.loops import MIB, needs_loops, sparse_file

from live.mydyno_process import Workplace
from mydyno.core.errors import ExitCode, LabError, ServerError
from mydyno.lab.results.records import DataRecord
from mydyno.lab.results.store import Lab
from mydyno.lab.stack import (
    BuiltLayers,
    DataDirectoryLayer,
    DatasetLayer,
    Facts,
    FrozenDataset,
    Origin,
    RunningServer,
    ServerBinary,
    ServerLayer,
    Site,
    Stack,
    start_server,
)
from mydyno.lab.stack.cache import WarmPoolLayer
from mydyno.lab.stack.datasets import DatasetStore
from mydyno.lab.stack.datasets.manifest import recorded_releases
from mydyno.lab.stack.datasets.tables import read_everything
from mydyno.lab.stack.datasets.verify import verify

pytestmark = pytest.mark.live

ROWS = 3000


def load_rows(server: RunningServer) -> Facts:
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE mydyno")
        cursor.execute("CREATE TABLE mydyno.t (a INT PRIMARY KEY, b INT, c CHAR(200), KEY b (b), KEY c (c))")
        values = ", ".join(f"({number}, {number % 97}, 'text {number}')" for number in range(ROWS))
        cursor.execute(f"INSERT INTO mydyno.t VALUES {values}")
        cursor.execute("CREATE TABLE mydyno.keyless (a INT)")
    return {"tables": {"t": ROWS}}


def dataset_layer(binary: ServerBinary) -> DatasetLayer:
    return DatasetLayer(binary, {}, {"rows": ROWS}, load_rows, Origin("three-thousand"))


@pytest.fixture(scope="module")
def shared(shared_site: Site, binary: ServerBinary) -> tuple[Site, FrozenDataset]:
    """A dataset that no test changes, and the site that keeps it."""
    return shared_site, dataset_layer(binary).build(shared_site, BuiltLayers())


def test_a_dataset_is_frozen_with_its_rows_checksums_and_pages_and_is_then_what_it_was(
    shared: tuple[Site, FrozenDataset], binary: ServerBinary
) -> None:
    site, frozen = shared
    entry = DatasetStore(site.lab).find(frozen.name)
    assert entry.name.startswith("three-thousand-")
    assert entry.manifest is not None
    assert entry.manifest.release == str(binary.version)
    assert entry.manifest.tables is not None
    assert {name: table.rows for name, table in entry.manifest.tables.items()} == {
        "mydyno.keyless": 0,
        "mydyno.t": ROWS,
    }
    assert (entry.manifest.listed_pages or 0) > 50
    assert frozen.page_list is not None
    assert not (frozen.data / "ib_buffer_pool").exists()
    found = verify(site, entry)
    assert (found.differences, found.checksum) == ((), entry.manifest.checksum)
    assert list((site.lab / "run").iterdir()) == []


def test_a_row_that_has_changed_in_the_frozen_files_is_found(site: Site, binary: ServerBinary) -> None:
    frozen = dataset_layer(binary).build(site, BuiltLayers())
    layer = DataDirectoryLayer("spoil")
    directory = layer.build(site, BuiltLayers((frozen,)))
    server = start_server(
        site, binary, datadir=directory.data, scratch=directory.scratch, config={}, folder=site.lab
    )
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("UPDATE mydyno.t SET b = 1 + b WHERE a = 7")
        cursor.execute("INSERT INTO mydyno.keyless VALUES (1)")
    assert server.stop()
    shutil.rmtree(frozen.data)
    shutil.copytree(directory.data, frozen.data, copy_function=shutil.copy2)
    layer.remove(site, directory)
    (entry,) = DatasetStore(site.lab).entries()
    rows, checksum = verify(site, entry).differences
    assert rows == "mydyno.keyless: 1 row, 0 at the freeze"
    assert checksum.startswith(f"mydyno.t: its {ROWS:,} rows have checksum ")


def test_reading_everything_reads_each_index_and_fills_the_pool(
    shared: tuple[Site, FrozenDataset], binary: ServerBinary
) -> None:
    site, _ = shared
    folder = site.lab / "reading"
    folder.mkdir()
    with Stack(site) as stack:
        dataset, data = dataset_layer(binary), DataDirectoryLayer("t001")
        server_layer = ServerLayer(binary, {"innodb_buffer_pool_size": "32M"}, folder)
        server = stack.move_to([dataset, data, server_layer]).of(RunningServer)
        before = int(server.status()["Innodb_buffer_pool_pages_data"])
        assert read_everything(server) == 4
        scanned = int(server.status()["Innodb_buffer_pool_pages_data"])
        listed = stack.move_to([dataset, DataDirectoryLayer("t002"), server_layer, WarmPoolLayer("dump")])
        loaded = int(listed.of(RunningServer).status()["Innodb_buffer_pool_pages_data"])
    assert scanned > before + 50
    assert loaded >= scanned


def test_data_of_another_release_is_refused_and_no_server_is_started(
    shared: tuple[Site, FrozenDataset], binary: ServerBinary
) -> None:
    site, frozen = shared
    assert recorded_releases(frozen.data) == {"redo log": str(binary.version)}
    folder = site.lab / "refusing"
    folder.mkdir()
    other = replace(binary, version=replace(binary.version, text="4.1.22"))
    layer = DataDirectoryLayer("t001")
    directory = layer.build(site, BuiltLayers((frozen,)))
    with pytest.raises(ServerError, match=r"and the data is from"):
        ServerLayer(other, {}, folder).build(site, BuiltLayers((frozen, directory)))
    layer.remove(site, directory)
    assert list(folder.iterdir()) == []
    with pytest.raises(LabError, match=r"is recorded as MariaDB 5\.5\.1, but its redo log is of"):
        layer.build(site, BuiltLayers((replace(frozen, release="MariaDB 5.5.1"),)))


def test_a_dataset_without_a_list_of_pages_says_how_to_get_one(
    shared: tuple[Site, FrozenDataset], server: RunningServer
) -> None:
    site, frozen = shared
    with pytest.raises(LabError, match="has no list of pages") as caught:
        WarmPoolLayer("dump").build(site, BuiltLayers((replace(frozen, page_list=None), server)))
    assert "mydyno datasets remove" in (caught.value.hint or "")


CACHES = """
experiment: caches
setup:
  server:
    config: {innodb_buffer_pool_size: 64M, innodb_flush_method: fsync, innodb_log_file_size: 8M}
factors:
  cache: [as-cloned, cold, scan, dump]
workload:
  oltp-read-only: {table_size: 40k}
  connections: 2
  each: {measure: 200ms}
design: {repeats: 1}
"""


@pytest.fixture(scope="module")
def warmed() -> Iterator[dict[str, DataRecord]]:
    """What one run of the four states has kept, by state."""
    folder = Path(tempfile.mkdtemp(prefix="mydyno-run-", dir="/tmp"))
    folder.chmod(0o755)
    place = Workplace(folder)
    place.experiment.write_text(CACHES)
    done = place.run("run", str(place.experiment), "--no-report")
    # On a busy machine the client may have been the bottleneck, which matters nothing here.
    assert done.returncode in (0, ExitCode.INVALID_TRIALS), done.stderr
    with Lab.open(place.lab, write=False) as lab:
        trials = lab.find_run().trials()
    yield {trial.levels["cache"]: trial.data for trial in trials if trial.data is not None}
    shutil.rmtree(folder)


def share(record: DataRecord) -> float:
    """Of the buffer pool that holds data before the first phase."""
    assert record.pool_pages is not None
    assert record.pool_pages_total
    return record.pool_pages / record.pool_pages_total


def test_cold_leaves_nothing_of_the_clone_in_the_page_cache(warmed: dict[str, DataRecord]) -> None:
    cold, as_cloned = warmed["cold"], warmed["as-cloned"]
    assert cold.file_bytes == as_cloned.file_bytes
    assert cold.file_bytes
    assert cold.cached_bytes is not None
    assert cold.cached_bytes < 0.02 * cold.file_bytes
    if as_cloned.clone == "copy":
        assert as_cloned.cached_bytes is not None
        assert as_cloned.cached_bytes > 0.5 * cold.file_bytes


@pytest.mark.parametrize("cache", ["scan", "dump"])
def test_a_warmed_pool_holds_the_tables_before_the_first_phase(
    warmed: dict[str, DataRecord], cache: str
) -> None:
    assert warmed[cache].warm_seconds is not None
    assert warmed["as-cloned"].warm_seconds is None
    assert share(warmed[cache]) > share(warmed["as-cloned"]) + 0.1


MAKERS: dict[str, list[str]] = {"xfs": ["mkfs.xfs", "-q"], "btrfs": ["mkfs.btrfs", "-q"]}


def cloned_on(filesystem: str, folder: Path, size: int) -> dict[str, Any]:
    """What the child tells of a clone of `size` bytes on a fresh file system that only it sees mounted."""
    if shutil.which(MAKERS[filesystem][0]) is None:
        pytest.skip(f"{MAKERS[filesystem][0]} is not installed")
    image = sparse_file(folder / "disk.img", 2 * size + 512 * MIB)
    place = folder / "place"
    place.mkdir()
    subprocess.run([*MAKERS[filesystem], str(image)], check=True, capture_output=True)
    mounting = f'mount -o loop "{image}" "{place}" || exit 77; exec "$@"'
    private = ["unshare", "--mount", "--propagation", "private", "sh", "-c", mounting, "sh"]
    child = [sys.executable, "-m", "live.reflink_child", str(place), str(size)]
    done = subprocess.run(
        [*private, *child], cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False
    )
    image.unlink()
    if done.returncode == 77:
        pytest.skip(f"{filesystem} cannot be mounted here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@needs_loops
@pytest.mark.parametrize("filesystem", list(MAKERS))
def test_a_clone_shares_its_blocks_where_the_file_system_can(tmp_path: Path, filesystem: str) -> None:
    result = cloned_on(filesystem, tmp_path, 64 * MIB)
    assert result["how"] == "reflink"
    assert result["taken"] < 4 * MIB


@needs_loops
@pytest.mark.slow
def test_two_gigabytes_on_xfs_are_cloned_in_less_than_a_second(tmp_path: Path) -> None:
    result = cloned_on("xfs", tmp_path, 2048 * MIB)
    assert result["how"] == "reflink"
    assert result["seconds"] < 1.0
    assert result["taken"] < 32 * MIB
