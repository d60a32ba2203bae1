"""host: local with storage, for real: loop devices, mounts, limits, and everything gone afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lab.stack.loops import MIB, backing_file, device_number, needs_loops

from live.real_disk import RealDisk, real_disk
from mydyno.core.errors import HostError, StorageError
from mydyno.lab.spec import Host, Storage
from mydyno.lab.spec.storage import Volume
from mydyno.lab.stack import BuiltLayers, Journal, Site, Stack
from mydyno.lab.stack.ground import Disk, DiskLimits, Ground
from mydyno.lab.stack.ground import local as local_ground
from mydyno.lab.stack.ground.local import LocalGround, LocalGroundLayer
from mydyno.lab.stack.storage import MountedVolume, building_layers, loading_layers
from mydyno.lab.stack.undo.block_devices import BLKIO_FILES, limits_in
from mydyno.lab.stack.undo.mounts import MOUNT_ROOT
from mydyno.machine.block_devices import STABLE_FOLDERS
from mydyno.machine.local import LocalHost

pytestmark = [pytest.mark.live, needs_loops, pytest.mark.xdist_group("loops")]

BLKIO = Path("/sys/fs/cgroup/blkio")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    (tmp_path / "lab").mkdir()
    site = Site(tmp_path / "lab", LocalHost(), Journal(tmp_path / "lab"))
    yield site
    assert site.journal.outstanding() == []
    assert not (site.lab / "run").exists() or list((site.lab / "run").iterdir()) == []


def volume(**values: Any) -> Volume:
    """One disk of 64 MiB, unless told otherwise."""
    return Volume.model_validate({"disks": {"size": "64M"}, **values})


def storage(count: int = 2) -> Storage:
    """`count` volumes of one disk each; the second is the log's."""
    return Storage.model_construct(data=volume(), log=volume() if count == 2 else None)


def layer(site: Site, wanted: Storage, trial: str = "t001") -> LocalGroundLayer:
    return LocalGroundLayer(Host(), wanted, site.lab, trial)


def disks_of(ground: Ground) -> list[Disk]:
    return [disk for disks in ground.disks.values() for disk in disks]


def test_disks_are_loop_devices_that_are_there_while_the_ground_stands(site: Site) -> None:
    with Stack(site) as stack:
        ground = stack.move_to([layer(site, storage())]).of(LocalGround)
        assert isinstance(ground, Ground)
        assert [(disk.volume, disk.index, disk.size_bytes) for disk in disks_of(ground)] == [
            ("data", 0, 64 * MIB),
            ("log", 0, 64 * MIB),
        ]
        files = [backing_file(disk.path) for disk in disks_of(ground)]
        assert all(file is not None and file.startswith(str(site.lab / "run" / "mydyno-")) for file in files)
        loop = Path(f"/sys/block/{disks_of(ground)[0].path.name}/loop")
        assert (loop / "autoclear").read_text().strip() == "1"
        assert (loop / "dio").read_text().strip() == "1"
        file = Path(files[0] or "")
        assert (file.stat().st_mode & 0o777, file.stat().st_uid) == (0o600, 0)
        assert (ground.kind, ground.budget, ground.host.ephemeral) == ("local", "separate", False)
    assert not {backing_file(disk.path) for disk in disks_of(ground)} & set(files)


def test_volumes_are_built_and_mounted_where_only_the_ground_sees_them(site: Site) -> None:
    wanted = storage()
    with Stack(site) as stack:
        built = stack.move_to([layer(site, wanted), *building_layers(wanted), *loading_layers(wanted)])
        host = built.of(LocalGround).host
        volumes = built.all(MountedVolume)
        assert [each.path for each in volumes] == [MOUNT_ROOT / "data", MOUNT_ROOT / "log"]
        for each in volumes:
            host.write_text(each.path / "probe", each.volume)
            assert not (each.path / "probe").exists()
        assert str(MOUNT_ROOT) not in Path("/proc/self/mountinfo").read_text()


def test_the_next_trial_gets_fresh_disks(site: Site) -> None:
    wanted = storage(1)
    with Stack(site) as stack:
        for trial in ("t001", "t002"):
            built = stack.move_to([layer(site, wanted, trial), *building_layers(wanted)])
            host, data = built.of(LocalGround).host, built.of(MountedVolume)
            assert not host.exists(data.path / "probe")
            host.write_text(data.path / "probe", trial)


def test_a_change_above_leaves_the_disks_standing(site: Site) -> None:
    with Stack(site) as stack:
        first = stack.move_to([layer(site, storage(1)), *building_layers(storage(1))]).of(LocalGround)
        other = Storage.model_construct(data=volume(filesystem="ext2"), log=None)
        assert stack.move_to([layer(site, other), *building_layers(other)]).of(LocalGround) is first


@pytest.mark.skipif(not BLKIO.is_dir(), reason="no blkio hierarchy of cgroup v1 is mounted here")
def test_limits_are_set_changed_and_lifted_and_none_outlives_the_ground(site: Site) -> None:
    file = BLKIO / BLKIO_FILES["write_iops"]
    with Stack(site) as stack:
        ground = stack.move_to([layer(site, storage(1))]).of(LocalGround)
        (disk,) = disks_of(ground)
        number = device_number(disk.path)
        for iops in (100, 250, None, 50):
            ground.throttle({disk: DiskLimits(iops=iops)})
            assert limits_in(file.read_text()).get(number) == iops
    assert number not in limits_in(file.read_text())


@pytest.mark.skipif(not BLKIO.is_dir(), reason="no blkio hierarchy of cgroup v1 is mounted here")
def test_a_limited_disk_writes_no_faster(site: Site) -> None:
    with Stack(site) as stack:
        ground = stack.move_to([layer(site, storage(1))]).of(LocalGround)
        (disk,) = disks_of(ground)
        ground.throttle({disk: DiskLimits(iops=50)})
        argv = ["dd", "if=/dev/zero", f"of={disk.path}", "bs=4k", "count=60", "oflag=direct"]
        seconds = float(ground.host.run(argv).stderr.splitlines()[-1].split(" ")[-4])
        assert seconds > 0.9


@pytest.mark.skipif(not BLKIO.is_dir(), reason="no blkio hierarchy of cgroup v1 is mounted here")
def test_a_ground_whose_agent_was_lost_is_taken_down_all_the_same(site: Site) -> None:
    with Stack(site) as stack:
        ground = stack.move_to([layer(site, storage(1))]).of(LocalGround)
        (disk,) = disks_of(ground)
        ground.throttle({disk: DiskLimits(iops=70)})
        number, file = device_number(disk.path), backing_file(disk.path)
        os.kill(ground.host.pid, signal.SIGKILL)
        with pytest.raises(HostError):
            ground.host.run(["sleep", "60"])
        assert ground.kernel_log() == ""
    assert backing_file(disk.path) != file
    assert number not in limits_in((BLKIO / BLKIO_FILES["write_iops"]).read_text())


def test_two_grounds_at_once_do_not_see_each_other(site: Site, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = Site(tmp_path / "other", LocalHost(), Journal(tmp_path / "other"))
    wanted = storage(1)
    with Stack(site) as one, Stack(other) as two:
        for stack, place in ((one, site), (two, other)):
            built = stack.move_to([layer(place, wanted), *building_layers(wanted)])
            built.of(LocalGround).host.write_text(MOUNT_ROOT / "data" / "who", str(place.lab))
        one.close()
        host = built.of(LocalGround).host
        assert host.read_text(MOUNT_ROOT / "data" / "who") == str(other.lab)
    assert other.journal.outstanding() == []


def test_a_lab_without_room_for_the_disks_is_reported_with_numbers(site: Site) -> None:
    huge = Storage.model_construct(data=volume(disks={"size": "200T"}), log=None)
    with pytest.raises(StorageError, match=r"can grow to 200T, .* are free on the file system of the lab"):
        layer(site, huge).build(site, BuiltLayers())


def test_an_array_on_a_kernel_without_md_names_the_grounds_that_have_it(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_ground, "_kernel_has_md", lambda: False)
    mirror = Storage.model_construct(data=volume(disks={"count": 2, "size": "64M"}, raid=1), log=None)
    with pytest.raises(StorageError, match="kernel has no md") as raised:
        layer(site, mirror).build(site, BuiltLayers())
    assert "host: uml" in str(raised.value)


def test_when_the_disks_cannot_be_attached_nothing_is_left(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = local_ground.make_disk_files

    def one_too_many(folder: Path, volumes: Any) -> Any:
        return real(folder, volumes) | {folder / "missing.img": ("data", 1, MIB)}

    monkeypatch.setattr(local_ground, "make_disk_files", one_too_many)
    with pytest.raises(StorageError, match=r"missing\.img: No such file"):
        layer(site, storage()).build(site, BuiltLayers())
    assert list((site.lab / "run").iterdir()) == []


@pytest.fixture
def real(tmp_path: Path) -> Iterator[RealDisk]:
    with real_disk(tmp_path) as disk:
        yield disk


def on(real: RealDisk, site: Site, **asked: Any) -> LocalGroundLayer:
    return replace(layer(site, real.storage(**asked)), stable_folders=(real.id.parent,))


def test_a_blank_real_disk_is_built_on_and_left_blank(site: Site, real: RealDisk) -> None:
    with Stack(site) as stack:
        for trial in ("t001", "t002"):
            ground = replace(on(real, site), trial=trial)
            assert ground.storage is not None
            built = stack.move_to([ground, *building_layers(ground.storage)])
            result = built.of(LocalGround)
            assert result.disks["data"][0].path == real.device
            assert str(real.id) in result.described["data disk 0"]
            assert "ext4" in real.signatures()
    assert real.signatures() == ""


def test_a_real_disk_that_carries_something_is_refused_and_keeps_it(site: Site, real: RealDisk) -> None:
    subprocess.run(["mkfs.ext4", "-q", real.device], check=True)
    before = real.device.read_bytes()
    for wipe, reason in ((False, "it carries ext4; with `wipe: yes`"), (True, "it reports no serial")):
        with pytest.raises(StorageError, match=reason):
            on(real, site, wipe=wipe).build(site, BuiltLayers())
    assert real.device.read_bytes() == before


def test_a_real_disk_without_a_stable_name_is_refused(site: Site, real: RealDisk) -> None:
    with pytest.raises(StorageError, match="is not a stable name"):
        replace(on(real, site), stable_folders=STABLE_FOLDERS).build(site, BuiltLayers())


def test_what_a_ground_does_outside_the_lab_is_reported_before(site: Site, real: RealDisk) -> None:
    limited = Storage.model_construct(data=volume(disks={"size": "64M", "iops": 200}), log=None)
    text = " ".join(layer(site, limited).side_effects())
    assert "attaches 1 loop device of 64M for data" in text
    assert "limits them in the root group of blkio" in text
    assert f"writes to the real disk {real.id} for data" in on(real, site).side_effects()
    assert f"DESTROYS what is on the real disk {real.id} for data" in on(real, site, wipe=True).side_effects()
