"""What a plan says of hosts, volumes and shares of data."""

from __future__ import annotations

import pytest

from lab.spec.builders import experiment, workload
from mydyno.core.facts import HostFacts
from mydyno.lab import plan, spec

MIB = 1024**2
FACTS = HostFacts(memory_bytes=16 * 1024**3, cpus=2, free_disk_bytes=100 * 1024**3)
OLTP = workload("oltp-read-write: {tables: 1, table_size: 100000}")


def planned(storage: str, host: str = "uml", **sections: str) -> plan.Plan:
    setup = f"{{host: {host}, storage: {storage}}}"
    return plan.make(experiment(setup=setup, **{"workload": OLTP, **sections}), FACTS)


def told(made: plan.Plan) -> plan.Explanation:
    return plan.explain(made)


def test_a_point_reports_its_storage_on_one_line_with_the_stripes_that_mkfs_gets() -> None:
    storage = (
        "{data: {disks: {count: 4, size: 2G, iops: 200, bandwidth: 50M}, raid: 10, chunk: 64K, "
        "filesystem: xfs, mount: noatime, scheduler: none, readahead: 128K, queue_depth: 64}}"
    )
    [row] = told(planned(storage)).points
    assert row.storage == (
        "uml, 1G of memory; data: 4 x 2G (200 IOPS and 50M/s each), RAID 10, chunk 64K, xfs su=65536,sw=2, "
        "mounted noatime, scheduler none, readahead 128K, queue depth 64"
    )


def test_ext4_on_a_parity_array_gets_stride_and_stripe_width() -> None:
    [row] = told(planned("{data: {disks: {count: 4, size: 2G}, raid: 5, chunk: 64K}}")).points
    assert row.storage is not None
    assert "RAID 5, chunk 64K, ext4 stride=16,stripe_width=48" in row.storage


def test_btrfs_reports_its_profiles_and_is_never_called_a_raid() -> None:
    [row] = told(
        planned("{data: {disks: {count: 2, size: 1G}, filesystem: btrfs, data_profile: raid1}}", host="vm")
    ).points
    assert row.storage == "vm, 1G of memory; data: 2 x 1G, btrfs data raid1"


def test_a_degraded_array_and_a_raw_device_are_reported() -> None:
    storage = (
        "{data: {disks: {count: 3, size: 1G}, raid: 5, fail: 1, rebuild: yes, initial_sync: await, "
        "filesystem: raw}, log: {filesystem: ext4}}"
    )
    [row] = told(planned(storage, host="local")).points
    assert row.storage == (
        "local; data: 3 x 1G, RAID 5, chunk 512K, synchronised first, 1 disk failed and rebuilt under load, "
        "raw device; log: 1 x 1G, ext4"
    )


def test_storage_that_is_the_same_everywhere_is_reported_once() -> None:
    storage = "{data: {disks: {size: 1G}}}"
    once = plan.render(planned(storage, factors="{workload.pause: [0, 1s]}"))
    assert once.count("data: 1 x 1G") == 1
    varied = plan.render(planned(storage, factors="{storage.data.filesystem: [ext4, xfs]}"))
    assert varied.count("data: 1 x 1G") == 2


def test_a_share_of_data_is_worked_out_and_said() -> None:
    factors = "{server.config.innodb_buffer_pool_size: [50% of data, 200% of data]}"
    made = plan.make(experiment(factors=factors, workload=OLTP), FACTS)
    pools = [point.setup.server.config["innodb_buffer_pool_size"].number for point in made.points]
    assert all(isinstance(pool, int) and pool % MIB == 0 for pool in pools)
    half, double = (int(pool or 0) // MIB for pool in pools)
    assert half > 6
    assert double - 4 * half in range(4)
    assert f"innodb_buffer_pool_size: 50% of data is {half}M" in plan.render(made)


def test_a_share_of_little_data_is_never_less_than_a_pool_may_have() -> None:
    made = plan.make(experiment(config="{innodb_buffer_pool_size: 40% of data}"), FACTS)
    assert made.points[0].setup.server.config["innodb_buffer_pool_size"].number == 6 * MIB


def test_a_share_of_data_that_nobody_knows_is_refused_where_it_stands() -> None:
    with pytest.raises(spec.SpecErrors) as caught:
        plan.make(
            experiment(config="{innodb_buffer_pool_size: 40% of data}", workload=workload("mysqlslap: {}")),
            FACTS,
        )
    assert "how much data mysqlslap makes is not known before it runs" in str(caught.value)
    assert "(got 40% of data)" in str(caught.value)


def test_a_share_of_memory_is_one_of_the_guest_that_the_server_is_in() -> None:
    setup = (
        "{host: {kind: vm, memory: 2G}, storage: {data: {disks: {size: 1G}}}, "
        "server: {config: {innodb_buffer_pool_size: 25% of memory}}}"
    )
    made = plan.make(experiment(setup=setup), FACTS)
    assert made.points[0].setup.server.config["innodb_buffer_pool_size"].number == 512 * MIB


def test_a_pool_larger_than_the_guest_is_refused() -> None:
    setup = (
        "{host: uml, storage: {data: {disks: {size: 1G}}}, server: {config: {innodb_buffer_pool_size: 2G}}}"
    )
    with pytest.raises(spec.SpecErrors, match="2G = 2G, and the guest has 1G"):
        plan.make(experiment(setup=setup), FACTS)


def test_an_old_scheduler_is_translated_and_the_plan_says_so() -> None:
    made = planned("{data: {disks: {size: 1G}, scheduler: cfq}}", host="local")
    storage = made.points[0].setup.storage
    assert storage is not None
    assert storage.data.scheduler == "bfq"
    assert made.points[0].notes == ("storage.data.scheduler: cfq is of kernels before 5.0, today bfq",)


def test_a_chunk_beside_a_factor_of_levels_is_left_out_where_there_is_none() -> None:
    storage = "{data: {disks: {count: 2, size: 1G}, raid: 0, chunk: 64K}}"
    made = planned(storage, factors="{storage.data.raid: [0, 1]}")
    volumes = [point.setup.storage.data for point in made.points if point.setup.storage]
    assert [volume.chunk for volume in volumes] == [64 * 1024, None]
    assert [point.notes for point in made.points] == [
        (),
        ("storage.data.chunk is left out: RAID 1 has none",),
    ]


def test_a_volume_too_small_for_data_plus_log_is_refused_with_the_arithmetic() -> None:
    with pytest.raises(spec.SpecErrors) as caught:
        planned("{data: {disks: {count: 2, size: 128M}, raid: 1}}")
    message = str(caught.value)
    assert "experiment.yaml:2:" in message
    assert "the data volume is too small: system tables 40M + tables" in message
    assert "+ redo log 96M = " in message
    assert "and of 128M a tenth stays free" in message


def test_a_log_volume_takes_the_redo_log_from_the_data_volume() -> None:
    made = planned("{data: {disks: {size: 128M}}, log: {disks: {size: 128M}}}")
    assert made.points[0].setup.storage is not None
    small = "server: {config: {innodb_log_file_size: 1G}}"
    setup = f"{{host: uml, storage: {{data: {{disks: {{size: 128M}}}}, log: {{}}}}, {small}}}"
    with pytest.raises(spec.SpecErrors, match="the log volume is too small: redo log 1G = 1G"):
        plan.make(experiment(setup=setup, workload=OLTP), FACTS)


@pytest.mark.parametrize(
    ("volumes", "config", "expected"),
    [
        ("log: {}", "{innodb_log_file_size: 1G, log_bin: ON}", "log .*: redo log 1G \\+ binary log 64M = "),
        ("log: {}", "{innodb_log_file_size: 1G, log_bin: OFF}", "log .*: redo log 1G = 1G"),
        ("binlog: {disks: {size: 32M}}", "{}", "binlog .*: binary log 64M = 64M, and of 32M a tenth"),
        ("undo: {disks: {size: 32M}}", "{}", "undo .*: undo tablespaces 32M = 32M"),
        ("tmp: {disks: {size: 16M}}", "{}", "tmp .*: temporary files 16M = 16M"),
    ],
)
def test_a_volume_too_small_for_what_lies_there_is_refused(volumes: str, config: str, expected: str) -> None:
    storage = f"{{data: {{disks: {{size: 512M}}}}, {volumes}}}"
    setup = f"{{host: uml, storage: {storage}, server: {{config: {config}}}}}"
    with pytest.raises(spec.SpecErrors, match=f"the {expected.replace(' .*', ' volume is too small')}"):
        plan.make(experiment(setup=setup, workload=OLTP), FACTS)


def test_with_an_undo_volume_the_dataset_is_another_one() -> None:
    split = "{small: {storage.data.mount: noatime}, own: {storage.undo: {disks: {size: 128M}}}}"
    made = planned("{data: {disks: {size: 1G}}}", factors=f"{{undo: {split}}}", design="{repeats: 1}")
    assert told(made).rebuilds["dataset"] == 2


def test_a_guest_and_its_storage_cost_time_and_the_copies_of_the_array_cost_disk() -> None:
    without = plan.make(experiment(workload=OLTP), FACTS).estimate
    by_host = {
        host: planned("{data: {disks: {size: 1G}}}", host=host).estimate for host in ("local", "uml", "vm")
    }
    trials = 5
    added = [round((by_host[host].seconds - without.seconds) / trials) for host in ("local", "uml", "vm")]
    # The disks of a vm guest are built once and frozen: 45 s and the copy, 25 s for each of the trials.
    assert added == [7, 9, 34]
    two = planned("{data: {disks: {size: 1G}}, log: {}}").estimate
    assert round((two.seconds - by_host["uml"].seconds) / trials) == 5, "each volume is checked"
    one = by_host["uml"].disk_bytes
    mirrored = planned("{data: {disks: {count: 3, size: 1G}, raid: 1}}").estimate.disk_bytes
    synchronised = planned("{data: {disks: {count: 3, size: 1G}, raid: 1, initial_sync: await}}").estimate
    assert one < mirrored < synchronised.disk_bytes
    assert by_host["vm"].disk_bytes > one
    assert any("frozen once for vm guests" in said for said in by_host["vm"].assumptions)
    assert any("booting its uml guest" in said for said in by_host["uml"].assumptions)


def test_guests_touch_nothing_outside_but_processes_and_this_machine_needs_root() -> None:
    guest = " ".join(planned("{data: {disks: {count: 2, size: 1G, iops: 100}, raid: 0}}").side_effects)
    assert "boots a User-Mode Linux guest for each trial, as an ordinary process without root" in guest
    assert "as root" not in guest.replace("when mydyno runs as root", "")
    here = planned(
        "{data: {disks: {count: 2, size: 1G, iops: 100}, raid: 0, scheduler: bfq}}", host="local"
    ).side_effects
    for said in ("loop devices", "md arrays", "limits those disks", "sets scheduler", "lab's journal first"):
        assert any(said in effect for effect in here), said


def test_real_disks_are_named_in_what_is_done() -> None:
    made = planned("{data: {disks: {devices: [{id: /dev/disk/by-id/one}]}, filesystem: ext4}}", host="local")
    assert any("DESTROYS what is on /dev/disk/by-id/one" in effect for effect in made.side_effects)
    assert not any("loop devices" in effect for effect in made.side_effects)


def test_storage_is_fresh_for_each_trial_and_the_dataset_does_not_depend_on_it() -> None:
    made = planned(
        "{data: {disks: {size: 1G}}}",
        factors="{storage.data.filesystem: [ext4, xfs], host.kernel: [5.10, 6.1]}",
        design="{repeats: 2}",
    )
    assert told(made).rebuilds == {
        "host": 8,
        "storage": 8,
        "release": 1,
        "dataset": 1,
        "config": 8,
        "workload": 8,
    }


def test_a_kernel_keeps_its_text_on_the_way_into_the_plan_and_the_lab() -> None:
    made = planned("{data: {disks: {size: 1G}}}", factors="{host.kernel: [5.10, 5.1]}")
    read = plan.Plan.model_validate_json(made.model_dump_json())
    assert [point.setup.host.kernel for point in read.points] == ["5.10", "5.1"]
    assert [point.title for point in read.points] == ["kernel = 5.10", "kernel = 5.1"]


def test_points_that_come_to_the_same_are_a_warning() -> None:
    factors = "{server.config.innodb_buffer_pool_size: [10% of data, 20% of data]}"
    made = plan.make(experiment(factors=factors), FACTS)
    assert made.warnings == ("p2 (innodb_buffer_pool_size = 20% of data) has the same conditions as p1",)
