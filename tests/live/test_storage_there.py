"""Disks, file systems and mounts on another machine: a private sshd that lets root in plays it."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lab.stack.loops import MIB, backing_file, device_number, needs_loops

from live.far_side import agents, comes_true, kill, left
from live.leftovers import loops_over
from live.mydyno_process import MEASURED, Workplace, faults
from live.real_disk import RealDisk, real_disk
from live.sshd import Sshd, private_sshd
from mydyno.core.errors import StorageError
from mydyno.lab.results.store import Lab
from mydyno.lab.spec import Host, Storage
from mydyno.lab.stack import BuiltLayers, Layer, Site, Stack
from mydyno.lab.stack.ground import Disk, Ground
from mydyno.lab.stack.ground.ssh import SshDisksGround, SshGroundLayer
from mydyno.lab.stack.site import DEVICES
from mydyno.lab.stack.storage import MountedVolume, building_layers, loading_layers
from mydyno.lab.stack.undo.block_devices import BLKIO_FILES, limits_in
from mydyno.machine.block_devices import STABLE_FOLDERS, BlockDevice, read_block_device
from mydyno.machine.environment import chosen
from mydyno.machine.hosts.entry import HostEntry
from mydyno.machine.hosts.host import RemoteHost, sweep
from mydyno.machine.hosts.machines import Machines
from mydyno.machine.local import LocalHost
from mydyno.machine.protocol import Host as AnyHost

pytestmark = [pytest.mark.live, needs_loops, pytest.mark.xdist_group("loops")]

BLKIO = Path("/sys/fs/cgroup/blkio")
CAN_LIMIT = (BLKIO / BLKIO_FILES["write_iops"]).exists()
IOPS = 4321

EXPERIMENT = """experiment: there
setup:
  host: ssh:db1
  storage: {data: {disks: {%s}, filesystem: ext4, mount: [noatime, commit=7]}}
  server: {config: {innodb_buffer_pool_size: 16M}}
workload:
  oltp04: {table_size: 1000}
  connections: [2]
  each: {warmup: 200ms, measure: 3s}
design: {repeats: 1}
"""


@pytest.fixture(scope="module")
def sshd() -> Iterator[Sshd]:
    # A short name: the server's socket is below it.
    folder = Path(tempfile.mkdtemp(prefix="there-", dir="/var/tmp"))
    folder.chmod(0o755)
    try:
        with private_sshd(folder) as running:
            yield running
    finally:
        shutil.rmtree(folder)


def entry_of_root(sshd: Sshd) -> HostEntry:
    """In a folder that is seen by what looks for leftovers, and not root's usual one."""
    written = {"destination": "root", "config": str(sshd.config), "folder": str(folder_of(sshd))}
    return HostEntry.model_validate({**written, "allow_production": True})


def folder_of(sshd: Sshd) -> Path:
    return sshd.home / ".cache/mydyno/agent"


def write(workplace: Workplace, sshd: Sshd, disks: str) -> tuple[str, str]:
    """An experiment on these disks, and the file of its host."""
    file, hosts = workplace.folder / "there.yaml", workplace.folder / "hosts.yaml"
    file.write_text(EXPERIMENT % disks)
    entry = entry_of_root(sshd).model_dump(mode="json", exclude_none=True)
    hosts.write_text(json.dumps({"hosts": {"db1": entry}}))
    return str(file), str(hosts)


@pytest.mark.usefixtures("known_datasets")
def test_an_experiment_with_storage_there_runs_to_its_report_and_leaves_nothing(
    sshd: Sshd, workplace: Workplace
) -> None:
    file, hosts = write(workplace, sshd, "size: 512M")
    checked = workplace.run("hosts", "check", "--hosts", hosts)
    assert "storage" in checked.stdout
    assert "loop devices, real disks" in checked.stdout
    planned = workplace.run("plan", file, "--hosts", hosts)
    assert planned.returncode == 0, planned.stderr
    assert "on db1, as root: attaches loop devices to sparse files in the run's private" in planned.stdout
    done = workplace.run("run", file, "--hosts", hosts)
    assert done.returncode in MEASURED, done.stderr
    with Lab.open(workplace.lab, write=False) as lab:
        [trial] = lab.find_run().trials()
    assert faults([trial]) == set()
    assert trial.ground is not None
    assert trial.ground.kind == "ssh"
    assert "loop devices" in trial.ground.disk_model
    [volume] = trial.ground.volumes
    assert volume.facts["file system"] == "ext4"
    assert {"noatime", "commit=7"} <= set(volume.facts["mount"].split(","))
    data = Path(trial.settings_in_force["datadir"])
    assert data.is_relative_to(folder_of(sshd) / "trials")
    assert data.parent.parent.parts[-2:] == ("volumes", "data")
    assert [check.error for check in trial.self_checks] == [None, None]
    assert trial.phases[0].queries > 0
    [report] = workplace.lab.glob("runs/*/report/report.html")
    assert "another machine" in report.read_text("utf-8")
    nothing_is_left(sshd)


@pytest.mark.parametrize("victim", ["connection", "agent"])
def test_what_was_built_there_goes_with_the_connection_and_with_the_agent(
    sshd: Sshd, site: Site, victim: str
) -> None:
    entry = entry_of_root(sshd)
    with Machines({"db1": entry}, session=True) as machines, Stack(site) as stack:
        built = stack.move_to(layers(site, machines))
        ground, mounted = built.of(SshDisksGround), built.all(MountedVolume)[0].path
        disk = ground.disks["data"][0]
        number, scheduler = device_number(disk.path), Path(f"/sys/block/{disk.path.name}/queue/scheduler")
        assert is_mounted(ground.host, mounted)
        # In the agent's namespace alone.
        assert str(mounted) not in Path("/proc/self/mountinfo").read_text()
        assert backing_file(disk.path) == f"{work_of(ground)}/disks/data-0.img"
        assert chosen(scheduler.read_text()) == "mq-deadline"
        assert (IOPS in limits_of(number)) == CAN_LIMIT
        [agent] = agents(sshd)
        host = ground.host
        assert isinstance(host, RemoteHost)
        kill(agent if victim == "agent" else host.pid)
        assert comes_true(lambda: backing_file(disk.path) is None)
        if victim == "agent":
            # Its folder and what it would have restored wait for the next one.
            assert [str(work_of(ground))] == list(sweep(entry))
        assert comes_true(lambda: not left(sshd))
        assert chosen(scheduler.read_text()) == "none"
        assert IOPS not in limits_of(number)
    nothing_is_left(sshd)


def test_disks_that_cannot_all_become_full_there_are_refused(sshd: Sshd, site: Site) -> None:
    huge = Storage.model_validate({"data": {"disks": {"size": "256T"}}})
    with Machines({"db1": entry_of_root(sshd)}, session=True) as machines:
        layer = ground_layer(site, machines, huge)
        with pytest.raises(StorageError, match="the disks can grow to 256") as refused:
            layer.build(site, BuiltLayers())
        assert "`folder` in hosts.yaml" in str(refused.value.hint)
    nothing_is_left(sshd)


def test_one_machine_has_disks_for_one_trial_after_the_other(sshd: Sshd, site: Site) -> None:
    with Machines({"db1": entry_of_root(sshd)}, session=True) as machines:
        seen: list[Disk] = []
        for _ in range(2):
            with Stack(site) as stack:
                built = stack.move_to(layers(site, machines))
                ground = built.of(Ground)  # type: ignore[type-abstract]
                seen += ground.disks["data"]
                work = work_of(ground)
            assert all(backing_file(disk.path) != f"{work}/disks/data-0.img" for disk in seen)
            assert not (work / "disks").exists()
            assert not (work / "restore").exists()
    nothing_is_left(sshd)


@pytest.fixture
def real(tmp_path: Path) -> Iterator[RealDisk]:
    with real_disk(tmp_path) as disk:
        yield disk


@pytest.fixture
def named(workplace: Workplace) -> Iterator[RealDisk]:
    """The same under a name that an experiment may give."""
    folder = STABLE_FOLDERS[0]
    new = [each for each in (folder, *folder.parents) if not each.exists()]
    name = folder / f"mydyno-test-{workplace.folder.name}"
    try:
        with real_disk(workplace.folder, size=512 * MIB, by_id=name) as disk:
            yield disk
    finally:
        for each in new:
            # Another program may use it meanwhile.
            with suppress(OSError):
                each.rmdir()


@pytest.mark.usefixtures("known_datasets")
def test_an_experiment_on_a_real_disk_there_runs_and_leaves_it_blank(
    sshd: Sshd, workplace: Workplace, named: RealDisk
) -> None:
    file, hosts = write(workplace, sshd, f"devices: [{{id: {named.id}}}]")
    planned = workplace.run("plan", file, "--hosts", hosts)
    assert planned.returncode == 0, planned.stderr
    text = " ".join(planned.stdout.split())
    assert f"db1: {named.id} ({named.device}): unknown model, serial unknown, 0.5 GB, carries no" in text
    assert f"on db1, as root: DESTROYS what is on {named.id} of db1, and leaves it blank" in text
    done = workplace.run("run", file, "--hosts", hosts)
    assert done.returncode in MEASURED, done.stderr
    with Lab.open(workplace.lab, write=False) as lab:
        [trial] = lab.find_run().trials()
    assert faults([trial]) == set()
    assert trial.ground is not None
    assert "real disks" in trial.ground.disk_model
    assert trial.ground.volumes[0].facts["file system"] == "ext4"
    assert trial.phases[0].queries > 0
    assert named.signatures() == ""
    nothing_is_left(sshd)
    subprocess.run(["mkfs.ext4", "-q", named.device], check=True)
    refused = workplace.run("run", file, "--hosts", hosts)
    assert refused.returncode == 2
    assert "the disk of db1 may not be built on: it carries ext4; with `wipe: yes`" in refused.stderr
    assert "ext4" in named.signatures()
    nothing_is_left(sshd)


def test_a_disk_is_the_same_through_the_agent_of_another_machine(sshd: Sshd, real: RealDisk) -> None:
    folders = (real.id.parent,)
    subprocess.run(["mkfs.ext4", "-q", real.device], check=True)
    with Machines({"db1": entry_of_root(sshd)}) as machines:
        there = machines.host("db1")
        device = read_block_device(there, real.id, folders)
        assert device == read_block_device(LocalHost(), real.id, folders)
        assert (device.path, device.carried, device.refused_opening) == (real.device, ("ext4",), None)
        with pytest.raises(StorageError, match="No such file or directory") as missing:
            read_block_device(there, real.id.with_name("ata-NONE"), folders)
        assert missing.value.hint == f"{there.name} has {real.id}"
        with pytest.raises(StorageError, match="is not a block device"):
            read_block_device(there, Path("/dev/null"), folders)


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({}, "it carries ext4; with `wipe: yes` and its serial"),
        ({"wipe": True}, "it carries ext4, and it reports no serial by which"),
        ({"serial": "S999", "wipe": True}, "it reports no serial, and the experiment means the disk with"),
    ],
)
def test_a_real_disk_there_that_the_experiment_does_not_mean_is_refused_and_keeps_what_it_carries(
    sshd: Sshd, site: Site, real: RealDisk, asked: dict[str, Any], reason: str
) -> None:
    subprocess.run(["mkfs.ext4", "-q", real.device], check=True)
    assert_refused(sshd, site, real, reason, **asked)


def test_a_real_disk_there_that_is_in_use_is_refused(sshd: Sshd, site: Site, real: RealDisk) -> None:
    subprocess.run(["mkfs.ext4", "-q", real.device], check=True)
    point = real.id.parent / "point"
    point.mkdir()
    # In a namespace that the session does not see, and in the one that it starts from.
    for inside in ([], ["nsenter", f"--mount=/proc/{sshd.process}/ns/mnt"]):
        subprocess.run([*inside, "mount", "-o", "ro", real.device, point], check=True)
        try:
            reason = f"it is mounted on {point}" if inside else "the kernel does not open it exclusively"
            assert_refused(sshd, site, real, reason)
        finally:
            subprocess.run([*inside, "umount", point], check=True)


def test_a_real_disk_there_without_a_stable_name_is_refused(sshd: Sshd, site: Site, real: RealDisk) -> None:
    assert_refused(sshd, site, real, "is not a stable name", folders=STABLE_FOLDERS)


@pytest.mark.parametrize("victim", ["connection", "agent"])
def test_a_real_disk_there_is_free_after_a_kill_and_keeps_its_signatures(
    sshd: Sshd, site: Site, real: RealDisk, victim: str
) -> None:
    entry = entry_of_root(sshd)
    wanted = real.storage(scheduler="mq-deadline", mount=["noatime"], **({"iops": IOPS} if CAN_LIMIT else {}))
    number = device_number(real.device)
    scheduler = Path(f"/sys/block/{real.device.name}/queue/scheduler")
    before = scheduler.read_text()
    with Machines({"db1": entry}, session=True) as machines, Stack(site) as stack:
        ground_there = real_layer(site, machines, real, wanted)
        built = stack.move_to([ground_there, *building_layers(wanted), *loading_layers(wanted)])
        ground, mounted = built.of(SshDisksGround), built.all(MountedVolume)[0].path
        assert is_mounted(ground.host, mounted)
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()
        assert (work_of(ground) / DEVICES).read_text() == f"{boot}{number}\n"
        assert chosen(scheduler.read_text()) == "mq-deadline"
        assert (IOPS in limits_of(number)) == CAN_LIMIT
        [agent] = agents(sshd)
        host = ground.host
        assert isinstance(host, RemoteHost)
        kill(agent if victim == "agent" else host.pid)
        assert comes_true(lambda: read_of(real).refused_opening is None)
        if victim == "agent":
            assert [str(work_of(ground))] == list(sweep(entry))
        assert comes_true(lambda: not left(sshd))
        assert scheduler.read_text() == before
        assert IOPS not in limits_of(number)
    nothing_is_left(sshd)
    assert_refused(sshd, site, real, "it carries ext4; with `wipe: yes`")


def assert_refused(
    sshd: Sshd,
    site: Site,
    real: RealDisk,
    reason: str,
    folders: tuple[Path, ...] | None = None,
    **asked: Any,
) -> None:
    before = real.device.read_bytes()
    with Machines({"db1": entry_of_root(sshd)}, session=True) as machines:
        layer = real_layer(site, machines, real, real.storage(**asked), folders)
        with pytest.raises(StorageError) as refused:
            layer.build(site, BuiltLayers())
        host = machines.host("db1")
        assert not host.exists(host.trial_folder / DEVICES)
    assert reason in refused.value.message
    assert real.device.read_bytes() == before
    nothing_is_left(sshd)


def real_layer(
    site: Site,
    machines: Machines,
    real: RealDisk,
    wanted: Storage,
    folders: tuple[Path, ...] | None = None,
) -> SshGroundLayer:
    return replace(ground_layer(site, machines, wanted), stable_folders=folders or (real.id.parent,))


def read_of(real: RealDisk) -> BlockDevice:
    return read_block_device(LocalHost(), real.id, (real.id.parent,))


def layers(site: Site, machines: Machines) -> list[Layer]:
    limits = {"iops": IOPS} if CAN_LIMIT else {}
    volume = {"disks": {"size": "64M", **limits}, "scheduler": "mq-deadline", "mount": ["noatime"]}
    wanted = Storage.model_validate({"data": volume})
    return [ground_layer(site, machines, wanted), *building_layers(wanted), *loading_layers(wanted)]


def ground_layer(site: Site, machines: Machines, wanted: Storage) -> SshGroundLayer:
    host = Host.model_validate({"kind": "ssh", "name": "db1"})
    return SshGroundLayer(host, wanted, site.lab / "trial", "t001", machines=machines)


def work_of(ground: Ground) -> Path:
    work = ground.host.work_folder
    assert work is not None
    return work


def is_mounted(host: AnyHost, path: Path) -> bool:
    return f" {path} " in (host.read_text(Path("/proc/self/mountinfo")) or "")


def limits_of(number: str) -> set[int]:
    files = [BLKIO / name for name in BLKIO_FILES.values()] if CAN_LIMIT else []
    return {limit for file in files if (limit := limits_in(file.read_text()).get(number)) is not None}


def nothing_is_left(sshd: Sshd) -> None:
    assert comes_true(lambda: not left(sshd)), left(sshd)
    assert comes_true(lambda: not loops_over(sshd.home)), loops_over(sshd.home)
    for mounts in Path("/proc").glob("[0-9]*/mountinfo"):
        with suppress(OSError):
            assert f"{folder_of(sshd)}/trials/" not in mounts.read_text()
