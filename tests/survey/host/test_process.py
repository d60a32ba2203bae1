"""The server's process, from its files in /proc."""

from __future__ import annotations

from pathlib import Path

from mydyno.survey.facts import Limit, Unread
from mydyno.survey.host.process import find_process, numa_policy, read_process
from survey.host.machines import machine

LIMITS = """Limit                     Soft Limit           Hard Limit           Units
Max processes             127883               unlimited            processes
Max open files            1024                 524288               files
"""
STATUS = """Name:\tmariadbd
Uid:\t106\t106\t106\t106
VmRSS:\t  204800 kB
VmSwap:\t    1024 kB
Threads:\t30
Cpus_allowed_list:\t0-3
"""
PROCESS = {
    "/proc/42/status": STATUS,
    "/proc/42/limits": LIMITS,
    "/proc/42/oom_score_adj": "-600\n",
    "/proc/42/cgroup": "0::/system.slice/mariadb.service\n",
    "/proc/42/cmdline": "/usr/sbin/mariadbd\0--defaults-file=/opt/my.cnf\0--defaults_group_suffix=2\0",
    "/proc/42/comm": "mariadbd\n",
    "/proc/42/numa_maps": "7f00 interleave:0-1 anon=5 N0=2 N1=3\n7f01 default file=/x N0=1\n7f02 default\n",
    "/etc/passwd": "root:x:0:0::/root:/bin/sh\nmysql:x:106:112::/var/lib/mysql:/bin/false\n",
}


def test_limits_memory_user_and_how_it_was_started(tmp_path: Path) -> None:
    seen = read_process(machine(tmp_path, PROCESS), 42, numa=True, unread=[])
    assert seen is not None
    process = seen.process
    assert process.limits["Max open files"] == Limit(soft=1024, hard=524288)
    assert process.limits["Max processes"] == Limit(soft=127883, hard=None)
    assert (process.user, process.threads, process.oom_score_adj) == ("mysql", 30, -600)
    assert (process.resident_bytes, process.swapped_bytes) == (200 << 20, 1 << 20)
    assert process.numa_policy == "interleave"
    assert seen.started.options == {"defaults_file": "/opt/my.cnf", "defaults_group_suffix": "2"}
    assert seen.started.home == "/var/lib/mysql"
    assert seen.cpus_allowed == "0-3"


def test_what_may_not_be_read_is_reported_and_the_unit_is_named_all_the_same(tmp_path: Path) -> None:
    unread: list[Unread] = []
    files = {path: text for path, text in PROCESS.items() if not path.endswith("limits")}
    seen = read_process(machine(tmp_path, files), 42, numa=False, unread=unread)
    assert seen is not None
    assert seen.process.limits == {}
    assert seen.process.unit is not None
    assert seen.process.unit.name == "mariadb.service"
    assert {each.what for each in unread} == {
        "the limits of the server's process",
        "how many files the server has open",
        "the settings of mariadb.service",
    }


def test_a_process_that_has_gone_is_none(tmp_path: Path) -> None:
    assert read_process(machine(tmp_path, {}), 42, numa=False, unread=[]) is None


def test_the_policy_of_most_pages_counts() -> None:
    assert numa_policy(PROCESS["/proc/42/numa_maps"]) == "interleave"
    assert numa_policy("7f00 default N0=9\n7f01 bind:0 N0=1\n") == "default"
    assert numa_policy("") is None


def test_a_far_server_is_the_process_of_its_pid_file_or_the_only_one_of_its_name(tmp_path: Path) -> None:
    more = {"/run/mysqld/mysqld.pid": "42\n", "/proc/7/comm": "mysqld\n", "/proc/7/cmdline": "mysqld\0"}
    two = machine(tmp_path / "two", {**PROCESS, **more})
    assert find_process(two, "/run/mysqld/mysqld.pid", "/var/lib/mysql/") == 42
    assert find_process(two, None, "/var/lib/mysql/") is None
    named = {**PROCESS, **more, "/proc/7/cmdline": "mysqld\0--datadir=/data/one\0"}
    assert find_process(machine(tmp_path / "named", named), "/no/such", "/data/one/") == 7
    assert find_process(machine(tmp_path / "one", PROCESS), None, "/var/lib/mysql/") == 42
    assert find_process(machine(tmp_path / "none", {}), "/run/mysqld/mysqld.pid", None) is None


def test_a_pid_file_that_names_another_program_is_not_believed(tmp_path: Path) -> None:
    files = {"/run/m.pid": "9\n", "/proc/9/comm": "bash\n"}
    assert find_process(machine(tmp_path, files), "/run/m.pid", None) is None
