from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from mydyno.machine.vm.host import throttle_arguments
from mydyno.machine.vm.machine import DiskImage, Machine, SharedFolder, command_line

MACHINE = Machine(
    name="mydyno-0123456789ab",
    kernel=Path("/cache/kernels/6.1/vmlinuz"),
    initrd=Path("/cache/initrds/1.cpio"),
    root=Path("/cache/roots/bookworm/root.erofs"),
    accelerator="tcg",
    memory_bytes=1 << 30,
    cpus=2,
    disks=(DiskImage("data0", Path("/lab/run/data0.raw")), DiskImage("log0", Path("/lab/run/log0.raw"))),
    folders=(SharedFolder("lab", Path("/lab"), "mapped-xattr"),),
)


def line(machine: Machine = MACHINE) -> list[str]:
    return command_line(machine, channel=5, control=7, console=Path("/lab/t1/console.log"))


def values(argv: list[str], option: str) -> list[str]:
    return [value for name, value in pairwise(argv) if name == option]


def test_the_guest_is_found_by_its_name_alone_among_the_arguments() -> None:
    assert line().count("mydyno-0123456789ab") == 1


def test_there_is_no_network_and_nothing_that_was_not_configured() -> None:
    argv = line()
    assert {"-nodefaults", "-no-user-config", "-no-reboot"} <= set(argv)
    assert not any("net" in word for word in argv)


def test_data_disks_go_past_the_page_cache_and_the_root_cannot_be_written() -> None:
    root, data, log = values(line(), "-drive")
    assert "read-only=on" in root
    for drive in (data, log):
        assert "cache=none" in drive
        assert "aio=threads" in drive
        assert "format=raw" in drive


def test_an_overlay_is_reported_as_what_it_is() -> None:
    overlay = DiskImage("data0", Path("/lab/run/data-0.qcow2"), "qcow2")
    _, drive = values(line(replace(MACHINE, disks=(overlay,))), "-drive")
    assert "file=/lab/run/data-0.qcow2,format=qcow2" in drive
    assert "cache=none" in drive


def test_the_root_is_the_first_disk_and_each_disk_has_its_serial_number() -> None:
    devices = [device for device in values(line(), "-device") if device.startswith("virtio-blk-pci")]
    assert [device.split(",")[2] for device in devices] == ["serial=root", "serial=data0", "serial=log0"]


def test_as_many_disks_as_an_experiment_may_have_find_a_place_on_the_bus() -> None:
    disks = tuple(DiskImage(f"data{number}", Path(f"/d{number}")) for number in range(128))
    devices = [value for value in values(line(replace(MACHINE, disks=disks)), "-device") if "addr=" in value]
    places = {device.split("addr=")[1] for device in devices}
    assert len(places) == 128
    assert all(int(place.split(".")[0], 16) < 32 for place in places)


@pytest.mark.parametrize(("accelerator", "word"), [("kvm", "kvm"), ("tcg", "tcg,thread=multi")])
def test_the_accelerator_is_the_one_that_was_proved_and_no_other(accelerator: str, word: str) -> None:
    assert values(line(replace(MACHINE, accelerator=accelerator)), "-accel") == [word]


def test_a_comma_in_a_path_does_not_end_it() -> None:
    folder = SharedFolder("lab", Path("/lab,1"), "passthrough")
    assert values(line(replace(MACHINE, folders=(folder,))), "-fsdev") == [
        "local,id=lab,path=/lab,,1,security_model=passthrough"
    ]


def test_what_a_guest_is_only_shown_cannot_be_written_from_it() -> None:
    folder = SharedFolder("shown0", Path("/cache/servers/mysql-9.7/root"), "read-only")
    (place,) = values(line(replace(MACHINE, folders=(folder,))), "-fsdev")
    assert place.endswith(",security_model=none,readonly=on")


def test_a_kernel_that_gives_up_ends_the_guest() -> None:
    (words,) = values(line(), "-append")
    assert "panic=-1" in words
    assert words.endswith("rdinit=/mydyno/mydyno-agent -- init /config.json")


def test_a_limit_counts_reads_and_writes_together_and_none_lifts_it() -> None:
    assert throttle_arguments("data0", 200, None) == {
        "device": "drive-data0",
        "iops": 200,
        "iops_rd": 0,
        "iops_wr": 0,
        "bps": 0,
        "bps_rd": 0,
        "bps_wr": 0,
    }
