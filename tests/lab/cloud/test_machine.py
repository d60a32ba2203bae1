"""Which machine an experiment gets, what differs from the experiment, and what no machine can be."""

from __future__ import annotations

import pytest

from lab.cloud.builders import choices, fixed, machine
from mydyno.core.errors import UsageError
from mydyno.lab.cloud.folder import machine_for
from mydyno.lab.cloud.machine import NOFILE


def disks(more: str, **volumes: str) -> str:
    others = "".join(f", {name}: {{disks: {{{text}}}}}" for name, text in volumes.items())
    return f"{{data: {{disks: {{{more}}}, raid: 0, filesystem: xfs}}{others}}}"


def test_the_smallest_machine_with_enough_of_everything_is_chosen() -> None:
    assert machine(disks("count: 4, size: 128G")).size == "Standard_E2bs_v5"
    assert machine(disks("count: 5, size: 128G")).size == "Standard_E4bs_v5", "five disks"
    assert machine(disks("count: 4, size: 1T")).size == "Standard_E8bs_v5", "4 x 5,000 IOPS"
    host = "{kind: vm, cpus: 10, memory: 8G}"
    assert machine_for(fixed(host=host), choices()).size == "Standard_E16bs_v5", "ten CPUs"
    host = "{kind: vm, cpus: 2, memory: 100G}"
    assert machine_for(fixed(host=host), choices()).size == "Standard_E16bs_v5", "100 GiB"


def test_where_the_machine_is_the_limit_a_note_says_so() -> None:
    large = machine(disks("count: 32, size: 4T"))
    assert large.size == "Standard_E64bs_v5"
    assert "Standard_E64bs_v5 lets 120,000 IOPS through to all its disks, which together do 240,000" in (
        large.notes
    )


def test_disks_are_numbered_through_all_volumes_and_each_has_its_own_caching() -> None:
    storage = disks("count: 2, size: 128G", log="count: 1, size: 64G")
    built = machine(storage, caching={"data": "read-only"})
    assert [(disk.name, disk.number, disk.gib, disk.iops, disk.caching) for disk in built.disks] == [
        ("data-0", 0, 128, 500, "read-only"),
        ("data-1", 1, 128, 500, "read-only"),
        ("log-0", 2, 64, 240, "none"),
    ]
    assert any(note.startswith("log: built and mounted, but `mydyno run`") for note in built.notes)


def test_a_disk_is_never_smaller_than_the_experiment_s_and_differences_are_reported() -> None:
    built = machine(disks("count: 2, size: 1536M, iops: 200, bandwidth: 50M"), provider="aws")
    assert {disk.gib for disk in built.disks} == {2}
    assert built.notes == (
        "data: each disk has 2 GiB, more than the experiment's",
        "data: each gp3 disk of 2 GiB does 3,000 IOPS, and the experiment says 200",
        "data: the experiment's bandwidth is not set; that of General Purpose SSD counts",
    )
    exact = machine(disks("count: 2, size: 4G, iops: 200"), provider="aws", disk_kind="io2")
    assert ({disk.iops for disk in exact.disks}, exact.notes) == ({200}, ())


def test_limits_are_the_experiment_s_or_those_of_the_guides() -> None:
    assert (machine().nofile, machine().nproc) == (NOFILE, None)
    limited = machine_for(fixed(setup="  limits: {nofile: 1024, nproc: 4096}\n"), choices())
    assert (limited.nofile, limited.nproc) == (1024, 4096)


@pytest.mark.parametrize(
    ("storage", "more", "message", "hint"),
    [
        (disks("count: 33, size: 1T"), {}, "takes 33 data disks", "--machine-size"),
        (disks("count: 9, size: 1T"), {"size": "Standard_E4bs_v5"}, "at most 8 data disks", "fewer disks"),
        (disks("count: 2, size: 100T"), {}, "at most 32,767 GiB", "smaller disks"),
        (disks("count: 2, size: 1G"), {"disk_kind": "premium_lsr"}, "unknown kind of disk", "Premium_LRS"),
        (disks("count: 2, size: 1G"), {"image": "debian-11"}, "unknown image", "debian-12"),
        (disks("count: 2, size: 1G"), {"server": "mysql"}, "no package", "mariadb"),
        (disks("count: 2, size: 1G"), {"caching": {"lgo": "none"}}, "unknown volume 'lgo'", "data"),
        (disks("count: 2, size: 4T"), {"caching": {"data": "read-only"}}, "below 4096 GiB", "smaller"),
        (
            disks("count: 2, size: 1G"),
            {"caching": {"data": "read-only"}, "disk_kind": "PremiumV2_LRS"},
            "no host caches a PremiumV2_LRS disk",
            "--disk-kind",
        ),
        (
            disks("count: 2, size: 1G"),
            {"caching": {"data": "read-only"}, "provider": "gcp"},
            "hosts of Google Cloud do not cache disks",
            "leave --caching out",
        ),
        ("{data: {disks: {count: 2, size: 1G}, raid: 1, fail: 1}}", {}, "data.fail", "leave fail out"),
        (
            "{data: {disks: {devices: [{id: /dev/disk/by-id/x}]}}}",
            {"host": "local"},
            "names real disks of this machine",
            "count and size",
        ),
    ],
)
def test_what_no_machine_can_be_is_refused_with_a_way_out(
    storage: str, more: dict[str, str], message: str, hint: str
) -> None:
    host, provider = more.pop("host", "vm"), more.pop("provider", "azure")
    with pytest.raises(UsageError, match=message) as refused:
        machine_for(fixed(storage, host=host), choices(provider, **more))  # type: ignore[arg-type]
    assert hint in (refused.value.hint or "")


def test_a_size_that_is_not_in_the_table_is_taken_with_a_note() -> None:
    built = machine(disks("count: 60, size: 128G"), size="Standard_E112ibs_v5")
    assert built.size == "Standard_E112ibs_v5"
    assert built.notes[0].startswith("mydyno does not know the limits of Standard_E112ibs_v5")


def test_a_disk_that_bursts_is_named_in_the_notes() -> None:
    (note,) = machine(disks("count: 2, size: 512G")).notes
    assert note.startswith("data: a Premium_LRS disk that has rested does up to 3,500 IOPS for 30 minutes")
    assert machine(disks("count: 2, size: 513G")).notes == ()
