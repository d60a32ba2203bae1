"""What control groups leave a server."""

from __future__ import annotations

from pathlib import Path

from mydyno.survey.host.process import Group, read_group
from survey.host.machines import machine

ROOT = "/sys/fs/cgroup"


def test_the_tightest_limit_on_the_way_up_counts(tmp_path: Path) -> None:
    here = machine(
        tmp_path,
        {
            f"{ROOT}/system.slice/mariadb.service/memory.max": "max\n",
            f"{ROOT}/system.slice/mariadb.service/cpu.max": "400000 100000\n",
            f"{ROOT}/system.slice/memory.max": "2147483648\n",
            f"{ROOT}/system.slice/cpu.max": "150000 100000\n",
        },
    )
    found = read_group(here, "0::/system.slice/mariadb.service\n")
    assert found == Group(memory_limit=2 << 30, cpus=1.5, unit="mariadb.service", container=False)


def test_version_1_has_a_controller_each_and_a_huge_number_for_no_limit(tmp_path: Path) -> None:
    here = machine(
        tmp_path,
        {
            f"{ROOT}/memory/docker/abc/memory.limit_in_bytes": "1073741824\n",
            f"{ROOT}/memory/docker/memory.limit_in_bytes": "9223372036854771712\n",
            f"{ROOT}/cpu/docker/abc/cpu.cfs_quota_us": "50000\n",
            f"{ROOT}/cpu/docker/abc/cpu.cfs_period_us": "100000\n",
        },
    )
    text = "11:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n1:name=systemd:/docker/abc\n"
    assert read_group(here, text) == Group(memory_limit=1 << 30, cpus=0.5, unit=None, container=True)


def test_inside_a_container_its_own_group_is_the_root(tmp_path: Path) -> None:
    here = machine(tmp_path, {f"{ROOT}/memory.max": "536870912\n", f"{ROOT}/cpu.max": "max 100000\n"})
    assert read_group(here, "0::/\n") == Group(memory_limit=1 << 29, cpus=None, unit=None, container=False)


def test_where_the_versions_are_mixed_the_unit_is_in_the_tree_of_systemd(tmp_path: Path) -> None:
    text = "4:memory:/\n1:name=systemd:/system.slice/mysql.service\n0::/\n"
    assert read_group(machine(tmp_path, {}), text).unit == "mysql.service"


def test_an_instance_of_a_unit_is_that_unit(tmp_path: Path) -> None:
    text = "0::/system.slice/system-mysql.slice/mysql@one.service\n"
    assert read_group(machine(tmp_path, {}), text).unit == "mysql@one.service"
