"""QEMU guests on overlays of a base: what is on their disks, what is done to them, and what a kill leaves.

They boot the guest image that is in mydyno's cache; without one they are skipped, aloud.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from live.mydyno_process import MEASURED, Workplace
from live.vm import ground_layer, site_in, storage
from mydyno.core.errors import MissingToolError, StorageError
from mydyno.lab.analysis.disk_theory import IDLE_FLOOR
from mydyno.lab.results.store import Lab
from mydyno.lab.spec import Storage
from mydyno.lab.spec.host import Host
from mydyno.lab.stack import (
    BuiltLayers,
    DataDirectoryLayer,
    DatasetLayer,
    Layer,
    RunningServer,
    ServerBinary,
    ServerLayer,
    Site,
    Stack,
    cleanup,
    find_binary,
    inspect_binary,
)
from mydyno.lab.stack.disk_base import DiskBase, bases, bases_folder
from mydyno.lab.stack.disk_base_layer import DiskBaseLayer
from mydyno.lab.stack.ground import Ground
from mydyno.lab.stack.storage import MountedVolume, building_layers, loading_layers
from mydyno.machine.images import ImageStore
from mydyno.machine.local import LocalHost
from mydyno.machine.vm.chosen import chosen_kernel, chosen_root
from mydyno.machine.vm.overlay import QEMU_IMG
from mydyno.server.releases.find import binary_of_image

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(900)]

ROWS = 2000
KILL_PATIENCE_SECONDS = 600.0


def rows(server: RunningServer) -> Mapping[str, Any]:
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE kept")
        cursor.execute("CREATE TABLE kept.t (id INT PRIMARY KEY, filler CHAR(200) NOT NULL)")
        values = ",".join(f"({number}, REPEAT('x', 200))" for number in range(ROWS))
        cursor.execute(f"INSERT INTO kept.t VALUES {values}")
        connection.commit()
    return {"rows": ROWS}


def dataset() -> DatasetLayer:
    binary = inspect_binary(LocalHost(), find_binary())
    return DatasetLayer(binary, {}, contents={"rows": ROWS}, prepare=rows)


@pytest.fixture(scope="module")
def server() -> ServerBinary:
    """Of the guest image, where all that the tests need is there."""
    store = ImageStore()
    try:
        root = chosen_root(store)
        chosen_kernel(store, None, root.manifest.suite)
    except MissingToolError as error:
        pytest.skip(f"{error}: `mydyno images build` makes what is missing")
    for program in ("qemu-system-x86_64", QEMU_IMG):
        if shutil.which(program) is None:
            pytest.skip(f"no {program}: apt-get install qemu-system-x86 qemu-utils")
    binary = binary_of_image(root)
    if binary.version != inspect_binary(LocalHost(), find_binary()).version:
        pytest.skip("the guest image has another server than this machine: `mydyno images build` renews it")
    return binary


@dataclass(frozen=True)
class Trials:
    """Trials on one storage, each in a guest of its own."""

    site: Site
    wanted: Storage
    server: ServerBinary

    def layers(self, name: str) -> list[Layer]:
        """A trial's storage, with the data directory on it."""
        ground = ground_layer(self.site, self.wanted)
        data = dataset()
        base = DiskBaseLayer(ground.host, self.wanted, data, ground.folder)
        return [data, base, ground, *building_layers(self.wanted), DataDirectoryLayer(name)]

    def with_server(self, name: str) -> list[Layer]:
        return [*self.layers(name), *loading_layers(self.wanted), ServerLayer(self.server, {}, self.trial)]

    @property
    def trial(self) -> Path:
        return self.site.lab / "trial"


def commanded(ground: Ground, *argv: str) -> str:
    done = ground.host.run(argv, timeout_seconds=300)
    assert done.returncode == 0, done.stderr + ground.kernel_log()
    return done.stdout


def ground_of(built: BuiltLayers) -> Ground:
    return built.of(Ground)  # type: ignore[type-abstract]


def checksums(base: DiskBase) -> dict[str, str]:
    found = {}
    for file in sorted(base.folder.glob("*.img")):
        with file.open("rb") as stream:
            found[file.name] = hashlib.file_digest(stream, "sha256").hexdigest()
    return found


def data_files(ground: Ground, volume: str = "data") -> str:
    script = f"cd /run/mydyno/{volume}/mydyno && find . -type f -exec md5sum {{}} + | sort -k 2"
    return commanded(ground, "sh", "-c", script)


def counted(server: RunningServer) -> int:
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM kept.t")
        (found,) = cursor.fetchone() or (0,)
        return int(found)


def write_much(server: RunningServer) -> None:
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("UPDATE kept.t SET filler = REPEAT('y', 200)")
        cursor.execute("INSERT INTO kept.t SELECT id + 100000, filler FROM kept.t")
        connection.commit()


def assert_nothing_is_left(site: Site) -> None:
    assert list((site.lab / "run").iterdir()) == []
    assert site.journal.outstanding() == []
    assert sorted(bases_folder(site.lab).glob("*")) == [base.folder for base in bases(site.lab)]


def test_two_trials_on_an_array_start_from_the_same_bytes_and_build_nothing(
    site: Site, server: ServerBinary
) -> None:
    trials = Trials(site, storage(count=4, iops=200, raid=10, chunk="64K", mount=["noatime"]), server)
    seen = []
    for name in ("t1", "t2"):
        with Stack(site) as stack:
            built = stack.move_to(trials.layers(name))
            ground, volume = ground_of(built), built.of(MountedVolume)
            detail = commanded(ground, "mdadm", "--detail", str(volume.device))
            facts = [line.strip() for line in detail.splitlines() if "UUID :" in line or "Creation" in line]
            seen.append((data_files(ground), facts, built.of(DiskBase).name))
            assert ground.contents == "restored"
            assert "overlays of the base" in ground.described["disks"]
            assert (
                commanded(ground, "cat", f"/sys/block/{volume.device.name}/md/sync_action").strip() == "idle"
            )
            running = stack.move_to(trials.with_server(name)).of(RunningServer)
            assert counted(running) == ROWS
            write_much(running)
            assert counted(running) == 2 * ROWS
    assert seen[0] == seen[1]
    assert len(seen[0][1]) == 2
    assert_nothing_is_left(site)


def test_a_base_is_untouched_after_a_load_that_writes(site: Site, server: ServerBinary) -> None:
    log = {"disks": {"size": "256M"}, "filesystem": "ext4"}
    one = Storage.model_validate({"data": {"disks": {"size": "512M"}, "filesystem": "ext4"}, "log": log})
    trials = Trials(site, one, server)
    with Stack(site) as stack:
        built = stack.move_to(trials.with_server("t1"))
        base = built.of(DiskBase)
        before = checksums(base)
        assert list(before) == ["data-0.img", "log-0.img"]
        assert {file.stat().st_mode & 0o777 for file in base.folder.glob("*.img")} == {0o444}
        running = built.of(RunningServer)
        assert running.variables()["innodb_log_group_home_dir"].startswith("/run/mydyno/log/")
        assert counted(running) == ROWS
        write_much(running)
        fill = f"dd if=/dev/urandom of={built.of(MountedVolume).path}/more bs=1M count=32 conv=fsync"
        commanded(ground_of(built), *fill.split())
    assert checksums(base) == before
    assert_nothing_is_left(site)


@pytest.mark.parametrize(
    "volume",
    [
        {"count": 3, "raid": 5, "initial_sync": "await", "filesystem": "ext4", "size": "128M"},
        {"count": 2, "raid": 1, "fail": 1, "bitmap": "internal", "size": "512M"},
        {"count": 3, "raid": 5, "fail": 1, "rebuild": True, "iops": 100, "size": "512M"},
        {"count": 2, "raid": "none", "filesystem": "btrfs", "data_profile": "raid1", "size": "512M"},
    ],
    ids=["synchronised", "degraded", "rebuilt", "btrfs"],
)
def test_an_array_on_restored_disks_is_what_was_asked_for(
    site: Site, server: ServerBinary, volume: dict[str, Any]
) -> None:
    trials = Trials(site, storage(**volume), server)
    with Stack(site) as stack:
        built = stack.move_to(trials.layers("t1"))
        ground, device = ground_of(built), built.of(MountedVolume).device
        if volume["raid"] != "none":
            state = Path("/sys/block") / device.name / "md"
            assert (ground.host.read_text(state / "sync_action") or "").strip() == "idle"
            assert (ground.host.read_text(state / "resync_start") or "").strip() == "none"
            assert (ground.host.read_text(state / "degraded") or "").strip() == "0"
        # Raising it fails where the array is not degraded, or rebuilt, as asked.
        stack.move_to(trials.with_server("t1"))
        result = commanded(ground, "cat", "/proc/mdstat")
        if volume.get("rebuild"):
            assert "recovery" in result
        elif volume.get("fail"):
            assert "[2/1]" in result
    assert_nothing_is_left(site)


MAKE = """
import sys
from pathlib import Path
from live.test_vm_base import dataset
from live.vm import ground_layer, site_in, storage
from mydyno.lab.stack import BuiltLayers, Stack
from mydyno.lab.stack.disk_base_layer import DiskBaseLayer

site = site_in(Path(sys.argv[1]))
wanted, data = storage(), dataset()
ground = ground_layer(site, wanted)
with Stack(site) as stack:
    stack.move_to([data, DiskBaseLayer(ground.host, wanted, data, ground.folder)])
"""


def test_a_kill_while_a_base_is_made_leaves_no_half_of_one(lab: Path, server: ServerBinary) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", MAKE, str(lab)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    deadline = time.monotonic() + KILL_PATIENCE_SECONDS
    try:
        # The disk's first megabyte is written when its file system is made: the guest is in the midst of it.
        while not any(file.stat().st_blocks for file in bases_folder(lab).glob("*/data-0.img")):
            assert child.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        child.kill()
        child.wait()
    assert bases(lab) == []
    [half] = bases_folder(lab).iterdir()
    assert cleanup(lab)
    assert not half.exists()
    assert list((lab / "run").iterdir()) == []
    site = site_in(lab)
    trials = Trials(site, storage(), server)
    with Stack(site) as stack:
        stack.move_to(trials.layers("t1")[:2])
    assert len(bases(lab)) == 1
    assert_nothing_is_left(site)


def test_disks_without_room_for_base_and_overlays_are_refused_before_a_guest_boots(
    site: Site, server: ServerBinary
) -> None:
    free = shutil.disk_usage(site.lab).free
    data = dataset()
    data.build(site, BuiltLayers())
    # The disks alone would fit, and the base, which is full of their first synchronisation.
    wanted = storage(count=2, raid=1, initial_sync="await", size=f"{free * 3 // 10 // 1024**2}M")
    layer = DiskBaseLayer(Host.model_validate({"kind": "vm"}), wanted, data, site.lab)
    refused = pytest.raises(StorageError, match=r"the disks' base takes .* and a trial's overlays")
    with refused, Stack(site) as stack:
        stack.move_to([data, layer])
    assert_nothing_is_left(site)


EXPERIMENT = """experiment: based
setup:
  host: vm
  storage: {data: {disks: {count: 2, size: 512M}, raid: 0, chunk: 64K, filesystem: xfs}}
  server: {config: {innodb_buffer_pool_size: 16M}}
factors:
  storage.data.disks.iops: [50, 100]
workload:
  oltp04: {table_size: 1000}
  connections: [2]
  each: {warmup: 200ms, measure: 4s}
design: {repeats: 1}
"""


def test_points_that_differ_in_limits_share_a_base_and_overlays_keep_to_their_limits(
    workplace: Workplace, server: ServerBinary
) -> None:
    file = workplace.folder / "based.yaml"
    file.write_text(EXPERIMENT)
    done = workplace.run("run", str(file), "--no-report")
    assert done.returncode in MEASURED, done.stdout + done.stderr
    with Lab.open(workplace.lab, write=False) as lab:
        trials = lab.find_run().trials()
    assert [trial.status for trial in trials] == ["valid", "valid"]
    [base] = bases(workplace.lab)
    for trial in trials:
        assert trial.ground is not None
        assert f"overlays of the base {base.name}" in trial.ground.disk_model
        assert trial.phases[0].queries > 0
        for check in trial.self_checks:
            assert check.error is None
            assert check.ratio is not None
            assert check.ratio < 1.15
            assert check.ratio > 0.85 or (check.idle is not None and check.idle < IDLE_FLOOR)
