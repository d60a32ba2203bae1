"""mdadm's words become values, and the configuration becomes mdadm's words."""

from __future__ import annotations

import pytest

from lab.stack.storage.recorded import recorded
from mydyno.core.raid import Raid
from mydyno.lab.spec.arrays import Array
from mydyno.lab.stack.storage import md

_FOUR = ["/dev/ubda", "/dev/ubdb", "/dev/ubdc", "/dev/ubdd"]
_64K = 64 * 1024


def _detail(name: str) -> md.Detail:
    return md.parse_detail(recorded(f"mdadm-4.2-detail-{name}.txt"))


def _command(
    shape: Array, *, bitmap: str | None = None, policy: str | None = None, assume_clean: bool = True
) -> str:
    members = _FOUR[: shape.disks]
    argv = md.create_command(
        "/dev/md0", shape, members, bitmap=bitmap, policy=policy, assume_clean=assume_clean
    )
    start = ["mdadm", "--create", "/dev/md0", "--run", "--metadata=1.2", "--homehost=none"]
    assert argv[: len(start)] == start
    assert argv[-len(members) :] == members
    return " ".join(argv[len(start) : -len(members)])


def test_what_has_nothing_to_synchronise_gets_no_option_for_it() -> None:
    assert _command(Array(0, 4, _64K)) == "--level=0 --raid-devices=4 --chunk=64K"
    assert _command(Array("linear", 2), bitmap="none") == "--level=linear --raid-devices=2"


def test_a_single_disk_is_forced() -> None:
    assert _command(Array(0, 1)) == "--level=0 --raid-devices=1 --force"


def test_an_array_with_copies_gets_options_for_its_bitmap_and_first_synchronisation() -> None:
    assert _command(Array(1, 2)) == "--level=1 --raid-devices=2 --bitmap=none --assume-clean"
    assert _command(Array(5, 4, layout="ls"), assume_clean=False) == (
        "--level=5 --raid-devices=4 --layout=ls --bitmap=none"
    )
    assert _command(Array(5, 4), policy="ppl") == (
        "--level=5 --raid-devices=4 --bitmap=none --consistency-policy=ppl --assume-clean"
    )


def test_the_policy_bitmap_brings_its_bitmap() -> None:
    assert "--bitmap=internal --consistency-policy=bitmap" in _command(Array(10, 4), policy="bitmap")
    assert "--bitmap=internal" in _command(Array(10, 4), bitmap="internal")


@pytest.mark.parametrize(
    ("name", "raid", "layout"),
    [
        ("raid0", 0, None),
        ("linear", "linear", None),
        ("raid4", 4, None),
        ("raid5-ppl", 5, None),
        ("raid6", 6, "ra"),
        ("raid10", 10, "n2"),
        ("raid10-f2", 10, "f2"),
        ("raid10-o2", 10, "o2"),
    ],
)
def test_an_array_as_configured_has_no_differences(name: str, raid: Raid, layout: str | None) -> None:
    assert md.differences(Array(raid, 4, None, layout), None, _detail(name), _FOUR) == []


def test_level_chunk_layout_and_members_that_differ_are_each_reported() -> None:
    assert md.differences(Array(5, 4, 4096), "ppl", _detail("raid10"), _FOUR) == [
        "its level is raid10, not raid5",
        "its chunk is 65536 bytes, not 4096",
        "its layout is near=2, not left-symmetric",
        "its consistency policy is resync, not ppl",
    ]
    assert md.differences(Array(10, 4, _64K), "resync", _detail("raid10"), _FOUR[:3]) == [
        "its active members are /dev/ubda, /dev/ubdb, /dev/ubdc, /dev/ubdd, "
        "not /dev/ubda, /dev/ubdb, /dev/ubdc"
    ]


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("raid5-removed", ("clean", "degraded")),
        ("raid5-rebuilding", ("clean", "degraded", "recovering")),
        ("raid1-resyncing", ("clean", "resyncing")),
    ],
)
def test_an_array_that_is_not_well_is_reported(name: str, state: tuple[str, ...]) -> None:
    detail = _detail(name)
    assert detail.state == state
    assert f"it is {', '.join(state[1:])}" in md.differences(Array(5, 4), None, detail, _FOUR)


def test_a_failed_member_a_missing_one_and_one_that_is_rebuilt_are_distinguished() -> None:
    states = {member.device: member.state for member in _detail("raid5-failed").members}
    assert states == {
        "/dev/ubda": "active sync",
        "": "removed",
        "/dev/ubdc": "active sync",
        "/dev/ubdd": "active sync",
        "/dev/ubdb": "faulty",
    }
    rebuilding = _detail("raid5-rebuilding")
    assert [member.device for member in rebuilding.members if not member.in_sync] == ["/dev/ubdb"]
    assert rebuilding.progress == "0% complete"


def test_mirrored_members_of_raid_10_are_in_sync_too() -> None:
    assert all(member.in_sync for member in _detail("raid10-n2of2").members)


def test_copies_are_kept_consistent_by_the_configured_policy_else_by_a_resync() -> None:
    assert md.policy_wanted(Array(0, 4), "none", None) is None
    assert md.policy_wanted(Array(5, 4), "none", "ppl") == "ppl"
    assert md.policy_wanted(Array(1, 2), "internal", None) == "bitmap"
    assert md.policy_wanted(Array(1, 2), None, None) == "resync"


def test_a_bitmap_and_a_partial_parity_log_show() -> None:
    assert _detail("raid1-bitmap").policy == "bitmap"
    assert _detail("raid5-ppl").policy == "ppl"
    assert "consistency policy" not in md.summary(_detail("raid0"), "/dev/md0")


def test_a_summary_is_what_a_result_should_remember() -> None:
    assert md.summary(_detail("raid10"), "/dev/md0") == {
        "array": "md raid10 of 4 (/dev/md0)",
        "array state": "clean",
        "chunk": "64K",
        "layout": "near=2",
        "consistency policy": "resync",
    }
    assert md.summary(_detail("raid0"), "/dev/md0") == {
        "array": "md raid0 of 4 (/dev/md0)",
        "array state": "clean",
        "chunk": "64K",
    }


def test_the_progress_of_a_synchronisation_is_read_from_mdstat() -> None:
    recovering = md.sync_progress(recorded("mdstat-6.1-raid5-recovering.txt"), "md0")
    assert recovering is not None
    assert recovering.startswith("recovery = 1.3% (7192/523264)")
    resyncing = md.sync_progress(recorded("mdstat-6.1-raid1-resyncing.txt"), "md0")
    assert resyncing is not None
    assert resyncing.startswith("resync = 0.3%")


def test_an_array_at_rest_or_unknown_has_no_progress() -> None:
    assert md.sync_progress(recorded("mdstat-6.1-raid5-synced.txt"), "md0") is None
    assert md.sync_progress(recorded("mdstat-6.1-raid5-recovering.txt"), "md1") is None
