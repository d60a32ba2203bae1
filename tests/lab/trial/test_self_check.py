"""The self-check on real loop devices, and what it takes from their storage section and from /proc/stat."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.stack.builders import folder_for_servers, site_in
from lab.stack.loops import needs_loops
from mydyno.core.errors import MissingToolError
from mydyno.core.grounds import GROUNDS
from mydyno.lab.analysis.disk_theory import LimitedDisk
from mydyno.lab.results.records import SelfCheckRecord
from mydyno.lab.spec import Storage
from mydyno.lab.spec.host import Host
from mydyno.lab.spec.storage import Volume
from mydyno.lab.stack import BuiltLayers, Stack
from mydyno.lab.stack.ground import Ground
from mydyno.lab.stack.ground.local import LocalGroundLayer
from mydyno.lab.stack.storage import MountedVolume, building_layers, loading_layers
from mydyno.lab.trial.self_check import expected, idle_share, queue_depth, self_check
from mydyno.machine.proc import cpu_seconds
from mydyno.machine.programs import find_program

DISK = LimitedDisk(iops=200, bytes_per_second=None, budget="separate")
FILE = 128 << 20
STAT = "cpu  100 0 50 800 40 0 5 5 0 0\ncpu0 100 0 50 800 40 0 5 5 0 0\nintr 1\n"


def volume(**values: Any) -> Volume:
    return Volume.model_validate({"disks": {"count": 4, "size": "512M"}, **values})


def test_what_is_expected_follows_the_array_of_the_volume() -> None:
    assert expected("randwrite", volume(raid=0), DISK, FILE) == 800
    assert expected("randwrite", volume(raid=10, layout="f2"), DISK, FILE) == 400
    assert expected("randwrite", volume(raid=5), replace(DISK, budget="joint"), FILE) == 200
    assert expected("randread", volume(raid=5), DISK, FILE, degraded=1) == 400
    assert expected("randread", volume(raid=10), DISK, FILE, degraded=2) == 400


@pytest.mark.parametrize(("disks", "depth"), [(1, 16), (4, 64), (8, 128), (64, 1024), (128, 1024)])
def test_every_disk_has_a_queue_of_its_own(disks: int, depth: int) -> None:
    assert queue_depth(disks) == depth


def test_nothing_is_expected_of_an_array_whose_cache_holds_much_of_the_file() -> None:
    assert expected("randread", volume(raid=5), DISK, 16 << 20) is None
    assert expected("randread", volume(raid=10), DISK, 16 << 20) == 800


def test_nothing_is_expected_of_what_has_no_theory() -> None:
    assert expected("randread", volume(filesystem="btrfs"), DISK, FILE) is None
    assert expected("randwrite", volume(raid=0, filesystem="f2fs"), DISK, FILE) is None
    assert expected("randwrite", volume(raid=5, consistency_policy="ppl"), DISK, FILE) is None
    assert expected("randread", volume(raid=5, consistency_policy="ppl"), DISK, FILE) == 800
    assert expected("randread", volume(raid=5), DISK, FILE, degraded=1, at_rest=False) is None, (
        "it is rebuilt"
    )


def test_idle_time_is_that_in_which_nothing_was_to_do_or_the_disks_were_waited_for() -> None:
    later = STAT.replace("100 0 50 800 40", "130 0 60 840 60")
    assert idle_share(cpu_seconds(STAT), cpu_seconds(later)) == pytest.approx(0.6)


def test_idle_time_is_unknown_without_readings_or_without_time_between_them() -> None:
    assert cpu_seconds("") == {}
    assert idle_share({}, {}) is None
    assert idle_share(cpu_seconds(STAT), cpu_seconds(STAT)) is None


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), min_size=5, max_size=8))
def test_idle_is_a_share(times: list[tuple[int, int]]) -> None:
    before, after = (
        cpu_seconds("cpu " + " ".join(str(early + spent * late) for early, spent in times)) for late in (0, 1)
    )
    share = idle_share(before, after)
    assert share is None or 0 <= share <= 1


def _has_agent() -> bool:
    try:
        find_program("mydyno-agent")
    except MissingToolError:
        return False
    return True


on_loops = [
    pytest.mark.xdist_group("loops"),
    needs_loops,
    pytest.mark.skipif(not _has_agent(), reason="mydyno-agent is not installed"),
]

Check = Callable[..., tuple[BuiltLayers, tuple[SelfCheckRecord, ...]]]


@pytest.fixture
def checked() -> Iterator[Check]:
    """`checked({"iops": 100}, filesystem="xfs")`: what stands, and the check of its data volume."""
    with contextmanager(folder_for_servers)() as folder, Stack(site_in(folder / "lab")) as stack:

        def check(
            limits: Mapping[str, Any], **values: Any
        ) -> tuple[BuiltLayers, tuple[SelfCheckRecord, ...]]:
            disks = {"count": 1, "size": "320M", **limits}
            storage = Storage.model_validate({"data": {"disks": disks, **values}})
            ground = LocalGroundLayer(Host(), storage, folder, trial="t001")
            built = stack.move_to([ground, *building_layers(storage), *loading_layers(storage)])
            found = self_check(
                built.of(Ground),  # type: ignore[type-abstract]
                built.of(MountedVolume),
                storage,
            )
            return built, found

        yield check


def _is_limited(check: SelfCheckRecord) -> bool:
    """Not faster than its limit; on a busy machine it may be slower."""
    return check.ratio is not None and 0 < check.ratio <= 1 + GROUNDS["local"].tolerance


class TestOnLoops:
    pytestmark = on_loops

    def test_a_limited_disk_does_what_it_was_set_to_and_the_file_is_gone(self, checked: Check) -> None:
        built, (writes, reads) = checked({"iops": 100}, filesystem="ext4")
        assert (writes.operation, reads.operation) == ("randwrite", "randread")
        assert writes.expected_iops == reads.expected_iops == 100
        assert _is_limited(writes)
        assert _is_limited(reads)
        assert writes.idle is not None
        host = built.of(Ground).host  # type: ignore[type-abstract]
        listed = host.run(["ls", str(built.of(MountedVolume).path)])
        assert listed.stdout.split() == ["lost+found"]

    def test_a_bandwidth_limits_small_ios_too(self, checked: Check) -> None:
        _, (writes, _) = checked({"bandwidth": "2M"}, filesystem="ext4")
        assert writes.expected_iops == 512
        assert _is_limited(writes)

    def test_without_limits_the_disk_is_measured_and_nothing_is_expected(self, checked: Check) -> None:
        _, found = checked({}, filesystem="xfs")
        assert all(check.expected_iops is None and check.error is None for check in found)
        assert all(check.measured_iops is not None and check.measured_iops > 100 for check in found)

    def test_data_on_the_volume_leaves_the_check_half_of_what_is_free(self, checked: Check) -> None:
        storage = Storage.model_validate({"data": {"disks": {"size": "320M"}}})
        built, _ = checked({})
        ground = built.of(Ground)  # type: ignore[type-abstract]
        mounted = built.of(MountedVolume)
        ground.host.run(["fallocate", "--length", "240M", str(mounted.path / "data")])
        assert [check.error for check in self_check(ground, mounted, storage)] == [None, None]

    def test_a_raw_device_is_checked_as_it_is(self, checked: Check) -> None:
        built, (writes, reads) = checked({"iops": 100}, filesystem="raw")
        assert _is_limited(writes)
        assert _is_limited(reads)
        host = built.of(Ground).host  # type: ignore[type-abstract]
        assert host.exists(built.of(MountedVolume).device)

    def test_a_check_that_cannot_write_is_a_record_with_the_reason_and_the_limits_are_set_again(
        self, checked: Check
    ) -> None:
        storage = Storage.model_validate({"data": {"disks": {"size": "320M", "iops": 100}}})
        built, _ = checked({"iops": 100})
        ground = built.of(Ground)  # type: ignore[type-abstract]
        mounted = built.of(MountedVolume)
        found = self_check(ground, replace(mounted, path=Path("/proc/no-such-folder")), storage)
        assert [check.measured_iops for check in found] == [None, None]
        assert all("/proc/no-such-folder" in (check.error or "") for check in found)
        (again, _) = self_check(ground, mounted, storage)
        assert _is_limited(again)
