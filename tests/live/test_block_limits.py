"""Limits of disks where cgroups are of version 2, seen in a guest of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from live.uml import NEEDS_KERNEL, ground_layer
from mydyno.core.errors import StorageError
from mydyno.lab.stack import BuiltLayers, Site
from mydyno.lab.stack.ground import DiskLimits
from mydyno.lab.stack.ground.block_limits import BlockLimits
from mydyno.lab.stack.ground.uml import UmlGround
from mydyno.lab.stack.undo.block_devices import BLKIO_FILES, limits_in
from mydyno.lab.stack.undo.mounts import MOUNT_ROOT

pytestmark = [pytest.mark.live, NEEDS_KERNEL]

VERSION_2 = "mkdir -p /run/v2 /run/mydyno && mount -t cgroup2 none /run/v2 && mkdir /run/v2/group"
USE_IO = "echo +io > /run/v2/cgroup.subtree_control"
LEAVE_IO = "echo -io > /run/v2/cgroup.subtree_control"


@pytest.fixture
def ground(site: Site) -> Iterator[UmlGround]:
    layer = ground_layer(site, count=1, size="320M")
    ground = layer.build(site, BuiltLayers())
    yield ground
    layer.remove(site, ground)


def commanded(ground: UmlGround, script: str) -> str:
    done = ground.host.run(["sh", "-c", script])
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_version_2_lends_its_io_when_no_group_uses_it_and_else_limits_are_refused(
    site: Site, ground: UmlGround
) -> None:
    (disk,) = ground.disks["data"]
    number = commanded(ground, f"cat /sys/block/{disk.path.name}/dev").strip()
    commanded(ground, f"{VERSION_2}; {USE_IO}")
    private = MOUNT_ROOT / "limits"
    limits = BlockLimits(replace(site, host=ground.host), private)
    with pytest.raises(StorageError, match="this machine cannot limit its disks") as raised:
        limits.set({number: DiskLimits(iops=70)})
    assert "`host: vm`" in str(raised.value)
    commanded(ground, f"{LEAVE_IO}; rmdir {private}")
    for wanted in (DiskLimits(iops=70, bytes_per_second=1 << 20), DiskLimits(iops=90), DiskLimits()):
        limits.set({number: wanted})
        result = {
            kind: limits_in(commanded(ground, f"cat {private / file}")).get(number)
            for kind, file in BLKIO_FILES.items()
        }
        assert result == {
            "read_iops": wanted.iops,
            "write_iops": wanted.iops,
            "read_bps": wanted.bytes_per_second,
            "write_bps": wanted.bytes_per_second,
        }
