"""Data, redo log, binary log, undo and temporary files on volumes of their own: they really lie there."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab.stack.loops import needs_loops

from live.conftest import Start
from live.mydyno_process import MEASURED, Workplace, faults
from live.split_volumes import ALL, raised, write, written_sectors
from live.uml import NEEDS_KERNEL
from mydyno.core.server_files import HOMES, VOLUMES, home_of
from mydyno.lab.results.records import TrialRecord
from mydyno.lab.results.store import Lab
from mydyno.lab.spec import Storage
from mydyno.lab.stack import DataDirectory, RunningServer, ServerBinary, Site, Stack
from mydyno.lab.stack.server.placement import read_placement
from mydyno.lab.stack.undo.mounts import MOUNT_ROOT
from mydyno.server.program.file_places import Place
from mydyno.server.releases import ReleaseStore, binary_of

pytestmark = pytest.mark.live


@needs_loops
def test_every_kind_of_files_lies_on_its_volume_and_is_written_there(
    site: Site, binary: ServerBinary
) -> None:
    with Stack(site) as stack:
        built = raised(stack, site, binary, ALL, {"log_bin": True, "sync_binlog": 1})
        server, places = built.of(RunningServer), built.of(DataDirectory).places
        before = {name: written_sectors(built, name) for name in VOLUMES}
        write(server)
        found = read_placement(server, places, server.variables())
        assert found.wrong == ()
        assert set(found.held) == set(HOMES)
        grown = {name for name in VOLUMES if written_sectors(built, name) > before[name]}
        assert {"log", "binlog"} <= grown
        assert server.stop()


@pytest.mark.slow
@needs_loops
@pytest.mark.parametrize("split", [("log",), ("undo",), ("binlog", "tmp")], ids=",".join)
def test_any_subset_of_the_volumes_will_do(site: Site, binary: ServerBinary, split: tuple[str, ...]) -> None:
    storage = Storage.model_validate({name: {"disks": {"size": "256M"}} for name in ("data", *split)})
    with Stack(site) as stack:
        built = raised(stack, site, binary, storage, {"log_bin": True})
        server, directory = built.of(RunningServer), built.of(DataDirectory)
        write(server)
        found = read_placement(server, directory.places, server.variables())
        assert found.wrong == ()
        assert set(found.held) == {kind for kind in HOMES if home_of(kind, ("data", *split)) != "data"}
        assert server.datadir == MOUNT_ROOT / "data" / "mydyno" / "data"


@pytest.mark.slow
@needs_loops
@pytest.mark.parametrize("release", ["mysql-5.6", "mariadb-10.5", "mariadb-11.8", "mysql-9.7"])
def test_each_release_finds_its_files_on_their_volumes(site: Site, release: str) -> None:
    asked = {"log_bin": True, "server_id": 1, "sync_binlog": 1}
    if ReleaseStore().installed(release) is None:
        pytest.skip(f"the release is not installed: mydyno servers add {release}")
    with Stack(site) as stack:
        built = raised(stack, site, binary_of(release), ALL, asked)
        server, places = built.of(RunningServer), built.of(DataDirectory).places
        before = written_sectors(built, "binlog")
        write(server)
        found = read_placement(server, places, server.variables())
        assert found.wrong == ()
        assert set(found.held) == set(HOMES)
        assert written_sectors(built, "binlog") > before
        assert server.stop()


def test_files_that_are_not_where_they_should_be_are_found(start: Start) -> None:
    server = start()
    place = Place(MOUNT_ROOT / "log" / "mydyno", server.datadir)
    found = read_placement(server, {"redo log": place}, server.variables())
    assert found.held == ()
    assert found.wrong == (
        f"redo log: {server.datadir}/ib_logfile0 is open, and should be in /run/mydyno/log/mydyno",
    )


EXPERIMENT = """experiment: split
setup:
  host: HOST
  storage:
    data: {disks: {count: 1, size: 512M, iops: 400}, filesystem: xfs, mount: [noatime]}
    log: {}
    binlog: {disks: {size: 256M}, filesystem: ext4}
    undo: {disks: {size: 256M}, filesystem: ext4}
    tmp: {disks: {size: 128M, iops: 1000}, filesystem: ext2}
  server: {config: {innodb_buffer_pool_size: 8M, log_bin: ON, sync_binlog: 1}}
workload:
  oltp-write-only: {tables: 1, table_size: 1000}
  connections: [2]
  think: 5ms
  each: {warmup: 200ms, measure: 2s}
design: {repeats: 1}
"""


def run(workplace: Workplace, host: str) -> TrialRecord:
    file = workplace.folder / "split.yaml"
    file.write_text(EXPERIMENT.replace("HOST", host))
    done = workplace.run("run", str(file))
    assert done.returncode in MEASURED, done.stderr
    with Lab.open(workplace.lab, write=False) as lab:
        [trial] = lab.find_run().trials()
        return trial


@pytest.mark.slow
@pytest.mark.parametrize(
    "host", [pytest.param("local", marks=needs_loops), pytest.param("uml", marks=NEEDS_KERNEL)]
)
def test_a_trial_on_five_volumes_reports_what_lay_where(workplace: Workplace, host: str) -> None:
    trial = run(workplace, host)
    assert faults([trial]) == set()
    assert trial.ground is not None
    assert [volume.name for volume in trial.ground.volumes] == list(VOLUMES)
    seen = {volume.name: volume.facts.get("files seen") for volume in trial.ground.volumes}
    assert seen == {
        "data": None,
        "log": "redo log",
        "binlog": "binary log",
        "undo": "undo tablespaces",
        "tmp": "temporary files",
    }
    limits = {volume.name: volume.facts["limits of a disk"] for volume in trial.ground.volumes}
    assert [result.split(",")[0] for result in limits.values()] == ["400 IOPS"] * 4 + ["1000 IOPS"]
    assert {check.volume for check in trial.self_checks} == set(VOLUMES)
    assert trial.settings_in_force["innodb_undo_tablespaces"] == "3"
    assert Path(trial.settings_in_force["tmpdir"]).is_relative_to("/run/mydyno/tmp")
    assert trial.phases[0].queries > 0
    [report] = workplace.folder.rglob("report.html")
    assert "undo tablespaces" in report.read_text("utf-8")
