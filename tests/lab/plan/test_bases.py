"""Which points start from frozen disks, and which of them from the same."""

from __future__ import annotations

import pytest

from lab.spec.builders import experiment, workload
from mydyno.core.facts import HostFacts
from mydyno.lab import plan
from mydyno.lab.plan.layers import as_built, base_key
from mydyno.lab.spec import Storage

FACTS = HostFacts(memory_bytes=16 * 1024**3, cpus=2, free_disk_bytes=100 * 1024**3)
OLTP = workload("oltp-read-write: {tables: 1, table_size: 100000}")
DISKS = "disks: {count: 4, size: 1G}"


def keys(setup: str, factors: str | None = None) -> list[str | None]:
    sections = {} if factors is None else {"factors": factors}
    made = plan.make(experiment(setup=setup, workload=OLTP, **sections), FACTS)
    return [base_key(point) for point in made.points]


def vm(storage: str) -> str:
    return f"{{host: vm, storage: {storage}}}"


@pytest.mark.parametrize(
    "factors",
    [
        "{storage.data.disks.iops: [100, 200]}",
        "{storage.data.scheduler: [none, mq-deadline]}",
        "{storage.data.fail: [0, 1]}",
        "{host.memory: [1G, 2G]}",
        "{server.config.max_connections: [100, 200]}",
    ],
)
def test_points_that_differ_in_what_comes_when_a_trial_stands_share_a_base(factors: str) -> None:
    one, other = keys(vm(f"{{data: {{{DISKS}, raid: 10}}}}"), factors)
    assert one is not None
    assert one == other


@pytest.mark.parametrize(
    "factors",
    [
        "{storage.data.raid: [5, 10]}",
        "{storage.data.chunk: [64K, 512K]}",
        "{storage.data.filesystem: [xfs, ext4]}",
        "{storage.data.mount: [noatime, relatime]}",
        "{storage.data.initial_sync: [assume-clean, await]}",
        "{storage.data.disks.size: [1G, 2G]}",
        "{host.kernel: [6.1, 6.12]}",
        "{server.config.innodb_page_size: [8K, 16K]}",
    ],
)
def test_points_that_differ_in_what_shapes_the_bytes_do_not(factors: str) -> None:
    one, other = keys(vm(f"{{data: {{{DISKS}, raid: 10}}}}"), factors)
    assert None not in (one, other)
    assert one != other


@pytest.mark.parametrize(
    "setup",
    [
        "{host: uml, storage: {data: {disks: {size: 1G}}}}",
        "{host: local, storage: {data: {disks: {size: 1G}}}}",
        vm("{data: {disks: {size: 4G}, filesystem: raw}, log: {filesystem: ext4}}"),
    ],
)
def test_other_hosts_and_raw_volumes_start_from_blank_disks(setup: str) -> None:
    assert keys(setup) == [None]


def test_fio_starts_from_blank_disks() -> None:
    fio = "{fio: {rw: randwrite, size: 64M, runtime: 2s}}"
    made = plan.make(experiment(setup=vm(f"{{data: {{{DISKS}, raid: 0}}}}"), workload=fio), FACTS)
    assert [base_key(point) for point in made.points] == [None]


def test_a_base_is_built_without_limits_queues_and_failures() -> None:
    disks = {"count": 4, "size": "1G"}
    volume = {"raid": 5, "filesystem": "xfs", "mount": ["noatime"], "initial_sync": "await"}
    later = {"scheduler": "none", "readahead": "64K", "queue_depth": 8, "fail": 1, "rebuild": True}
    limited = {**disks, "iops": 100, "bandwidth": "10M"}
    wanted = Storage.model_validate({"data": {**volume, **later, "disks": limited}})
    assert as_built(wanted) == Storage.model_validate({"data": {**volume, "disks": disks}})


def test_a_run_pays_for_each_base_once() -> None:
    storage = vm(f"{{data: {{{DISKS}, raid: 10}}}}")

    def seconds(factors: str) -> float:
        made = plan.make(experiment(setup=storage, workload=OLTP, factors=factors), FACTS)
        return made.estimate.seconds

    shared = seconds("{storage.data.disks.iops: [100, 200]}")
    apart = seconds("{storage.data.raid: [0, 10]}")
    assert apart - shared > 40
