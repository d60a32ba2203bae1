"""What hosts, volumes and limits mean, however they are written."""

from __future__ import annotations

import pytest

from lab.spec.builders import document, experiment
from mydyno.core.server_files import VOLUMES
from mydyno.lab import spec

MIB, GIB = 1024**2, 1024**3


def setup(text: str) -> spec.Setup:
    return experiment(setup=text).setup


def data(text: str, host: str = "local") -> spec.Volume:
    storage = setup(f"{{host: {host}, storage: {{data: {{{text}}}}}}}").storage
    assert storage is not None
    return storage.data


def test_a_host_may_be_written_as_one_word() -> None:
    assert setup("{host: local}").host == setup("{}").host == spec.Host(kind="local")
    guest = setup("{host: uml, storage: {data: {disks: {size: 1G}}}}").host
    assert (guest.kind, guest.kernel, guest.guest_memory_bytes) == ("uml", None, GIB)
    assert setup("{host: local}").model_dump(mode="json")["host"] == "local"


@pytest.mark.parametrize("written", ["5.10", '"5.10"'])
def test_kernel_5_10_is_not_kernel_5_1(written: str) -> None:
    given = setup(f"{{host: {{kind: uml, kernel: {written}}}, storage: {{data: {{disks: {{size: 1G}}}}}}}}")
    assert given.host.kernel == "5.10"


def test_a_path_below_the_host_leaves_the_word_in_place() -> None:
    text = document(
        setup="{host: uml, storage: {data: {disks: {size: 1G}}}}",
        factors="{host.kernel: [5.10, 6.1]}",
        sizes="{big: {host: vm}, small: {host.memory: 512M}}",
    )
    for size, kind, memory in ((None, "uml", GIB), ("big", "vm", GIB), ("small", "uml", 512 * MIB)):
        read = spec.loads(text, "experiment.yaml", size)
        hosts = [read.variant(levels).setup.host for levels in read.combinations()]
        assert [(host.kind, host.kernel, host.guest_memory_bytes) for host in hosts] == [
            (kind, "5.10", memory),
            (kind, "6.1", memory),
        ]


def test_levels_of_hosts_are_called_as_they_are_written() -> None:
    read = experiment(
        setup="{storage: {data: {disks: {size: 1G}}}}",
        factors="{host: [local, uml, {kind: vm, kernel: 5.10}]}",
    )
    assert [level.name for level in read.factors[0].levels] == ["local", "uml", "{kind: vm, kernel: 5.10}"]
    hosts = [read.variant(levels).setup.host for levels in read.combinations()]
    assert [(host.kind, host.kernel) for host in hosts] == [("local", None), ("uml", None), ("vm", "5.10")]


@pytest.mark.parametrize(
    ("release", "version"), [("6.1.0-44-amd64", (6, 1)), ("5.10", (5, 10)), ("7.2.7", (7, 2))]
)
def test_versions_of_kernels_are_compared_as_numbers(release: str, version: tuple[int, int]) -> None:
    assert spec.kernel_version(release) == version


def test_what_is_no_version_of_a_kernel_is_refused() -> None:
    with pytest.raises(ValueError, match="not a kernel version"):
        spec.kernel_version("linux")


@pytest.mark.parametrize(
    ("written", "level"), [("10", 10), ('"10"', 10), ("0", 0), ("none", "none"), ("linear", "linear")]
)
def test_a_raid_level_is_a_number_or_a_text(written: str, level: spec.Raid) -> None:
    count = 1 if level == "none" else 4
    assert data(f"disks: {{count: {count}, size: 1G}}, raid: {written}").raid == level


def test_sizes_count_in_powers_of_1024_and_bandwidth_in_bytes_a_second() -> None:
    volume = data("disks: {count: 2, size: 1.5G, bandwidth: 50M}, raid: 0, chunk: 64K, readahead: 4M")
    assert (volume.disks.size, volume.disks.bandwidth) == (1536 * MIB, 50 * MIB)
    assert (volume.chunk, volume.readahead) == (64 * 1024, 4 * MIB)
    assert data("disks: {size: 1G, bandwidth: 50M/s}").disks.bandwidth == 50 * MIB


@pytest.mark.parametrize("written", ["[noatime, data=writeback]", '"noatime, data=writeback"'])
def test_mount_options_are_a_list_or_a_text_with_commas(written: str) -> None:
    assert data(f"disks: {{size: 1G}}, mount: {written}").mount == ("noatime", "data=writeback")


@pytest.mark.parametrize("written", ["[-b, 4096, -O, ^has_journal]", "-b 4096 -O ^has_journal"])
def test_mkfs_options_are_a_list_or_a_text(written: str) -> None:
    assert data(f"disks: {{size: 1G}}, mkfs: {written}").mkfs == ("-b", "4096", "-O", "^has_journal")


@pytest.mark.parametrize(("written", "meant"), [("yes", True), ("no", False), ("true", True)])
def test_yes_and_no_are_switches(written: str, meant: bool) -> None:
    fail = "fail: 1, " if meant else ""
    assert data(f"disks: {{count: 3, size: 1G}}, raid: 5, {fail}rebuild: {written}").rebuild is meant


@pytest.mark.parametrize(
    ("old", "today"),
    [
        ("noop", "none"),
        ("deadline", "mq-deadline"),
        ("anticipatory", "mq-deadline"),
        ("cfq", "bfq"),
        ("kyber", "kyber"),
    ],
)
def test_schedulers_of_old_kernels_become_those_of_today(old: str, today: str) -> None:
    assert data(f"disks: {{size: 1G}}, scheduler: {old}").scheduler == today


def test_a_log_volume_takes_disks_and_file_system_over_from_data_but_not_the_array() -> None:
    storage = setup(
        "{storage: {data: {disks: {count: 4, size: 2G, iops: 200}, raid: 10, chunk: 64K, filesystem: xfs, "
        "mkfs: -K, mount: noatime, scheduler: none}, log: {raid: 1, disks: {count: 2}}}}"
    ).storage
    assert storage is not None
    assert storage.log is not None
    log = storage.log
    assert (log.disks.count, log.disks.size, log.disks.iops) == (2, 2 * GIB, 200)
    assert (log.raid, log.chunk) == (1, None)
    assert (log.filesystem, log.mkfs, log.mount, log.scheduler) == ("xfs", ("-K",), ("noatime",), "none")


def test_a_log_volume_with_a_file_system_of_its_own_takes_over_no_options_of_the_other() -> None:
    storage = setup(
        "{storage: {data: {disks: {size: 2G}, filesystem: ext3, mkfs: -F, mount: data=journal}, "
        "log: {filesystem: xfs}}}"
    ).storage
    assert storage is not None
    assert storage.log is not None
    assert (storage.log.filesystem, storage.log.mkfs, storage.log.mount) == ("xfs", (), ())
    assert list(storage.volumes) == ["data", "log"]


def test_the_volumes_have_one_order_however_they_are_written() -> None:
    every = "{storage: {tmp: {}, undo: {}, binlog: {}, log: {}, data: {disks: {size: 2G}}}}"
    storage = setup(every).storage
    assert storage is not None
    assert tuple(storage.volumes) == VOLUMES == tuple(spec.Storage.model_fields)
    one = setup("{storage: {undo: {}, data: {disks: {size: 2G}}}}").storage
    assert one is not None
    assert list(one.volumes) == ["data", "undo"]


@pytest.mark.parametrize("name", VOLUMES[1:])
def test_every_other_volume_takes_over_what_it_does_not_say(name: str) -> None:
    storage = setup(
        "{storage: {data: {disks: {count: 4, size: 2G, iops: 200}, raid: 10, filesystem: xfs, "
        f"mount: noatime}}, {name}: {{disks: {{iops: 50}}}}}}}}"
    ).storage
    assert storage is not None
    volume = storage.volumes[name]
    assert (volume.disks.count, volume.disks.size, volume.disks.iops) == (1, 2 * GIB, 50)
    assert (volume.raid, volume.filesystem, volume.mount) == ("none", "xfs", ("noatime",))


def test_beside_a_raw_data_volume_the_log_has_a_file_system() -> None:
    storage = setup("{storage: {data: {disks: {size: 2G}, filesystem: raw}, log: {}}}").storage
    assert storage is not None
    assert storage.log is not None
    assert storage.log.filesystem == "ext4"


def test_the_base_of_a_factor_need_not_be_sound_without_its_levels() -> None:
    read = experiment(
        setup="{storage: {data: {disks: {count: 4, size: 1G}}}}", factors="{storage.data.raid: [0, 10]}"
    )
    assert [level.name for level in read.factors[0].levels] == ["0", "10"]


def test_levels_that_differ_beside_one_level_of_another_factor_are_no_equals() -> None:
    read = experiment(
        setup="{storage: {data: {disks: {count: 2, size: 1G}, raid: 1}}}",
        factors="{storage.data.raid: [0, 1], storage.data.chunk: [64K, 512K]}",
    )
    assert len(list(read.combinations())) == 4


def test_levels_that_no_array_distinguishes_are_equals() -> None:
    with pytest.raises(spec.SpecErrors, match=r"level 512K of .* means the same as level 64K"):
        experiment(
            setup="{storage: {data: {disks: {count: 2, size: 1G}, raid: 1}}}",
            factors="{storage.data.chunk: [64K, 512K]}",
        )


@pytest.mark.parametrize(
    ("text", "usable"),
    [
        ("disks: {size: 1G}", 1024),
        ("disks: {count: 4, size: 1G}, raid: linear", 4096),
        ("disks: {count: 4, size: 1G}, raid: 0", 4096),
        ("disks: {count: 4, size: 1G}, raid: 1", 1024),
        ("disks: {count: 4, size: 1G}, raid: 5", 3072),
        ("disks: {count: 4, size: 1G}, raid: 6", 2048),
        ("disks: {count: 4, size: 1G}, raid: 10", 2048),
        ("disks: {count: 3, size: 1G}, raid: 10, layout: n3", 1024),
        ("disks: {count: 4, size: 1G}, filesystem: btrfs", 4096),
        ("disks: {count: 4, size: 1G}, filesystem: btrfs, data_profile: raid1", 2048),
        ("disks: {count: 4, size: 1G}, filesystem: btrfs, data_profile: raid5", 3072),
    ],
)
def test_the_room_on_a_volume_follows_from_its_array(text: str, usable: int) -> None:
    assert spec.usable_bytes(data(text)) == usable * MIB


def test_the_room_on_real_disks_is_not_known_from_the_file() -> None:
    assert spec.usable_bytes(data("disks: {devices: [{id: /dev/disk/by-id/one}]}")) is None
