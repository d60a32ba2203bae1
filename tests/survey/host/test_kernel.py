"""CPUs, memory and settings, from the texts that kernels write."""

from __future__ import annotations

from pathlib import Path

import pytest

from mydyno.survey.facts import Unread
from mydyno.survey.host.kernel import count_of_list, counters, read_cpu, read_kernel, read_memory
from survey.host.machines import machine

GIB = 1 << 30
STAT = "cpu  1 2 3\n" + "".join(f"cpu{number} 1 2 3\n" for number in range(8)) + "ctxt 1\n"
MEMINFO = """MemTotal:       16777216 kB
MemFree:          500000 kB
MemAvailable:    8388608 kB
SwapTotal:       2097152 kB
SwapFree:        2097152 kB
HugePages_Total:    4608
HugePages_Free:     4600
HugePages_Rsvd:      100
Hugepagesize:       2048 kB
"""
NODES = "/sys/devices/system/node"


def test_usable_cpus_are_what_affinity_and_quota_leave(tmp_path: Path) -> None:
    here = machine(
        tmp_path,
        {
            "/proc/stat": STAT,
            "/proc/cpuinfo": "model name\t: Made Up 3000\n",
            "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
            f"{NODES}/node0/meminfo": "Node 0 MemTotal:       8388608 kB\n",
            f"{NODES}/node1/meminfo": "Node 1 MemTotal:       8388608 kB\n",
        },
    )

    def count(allowed: str | None, quota: float | None) -> int:
        cpu = read_cpu(here, allowed, quota, [])
        assert cpu is not None
        return cpu.count

    assert [count(None, None), count("0-3", None), count("0-3", 1.5), count("0-7", 0.2)] == [8, 4, 2, 1]
    cpu = read_cpu(here, None, None, [])
    assert cpu is not None
    assert (cpu.model, cpu.governor, cpu.numa_nodes) == ("Made Up 3000", "powersave", 2)
    assert cpu.numa_memory_bytes == (8 * GIB, 8 * GIB)


def test_memory_is_in_bytes_and_a_limit_above_it_is_none(tmp_path: Path) -> None:
    here = machine(tmp_path, {"/proc/meminfo": MEMINFO})
    memory = read_memory(here, 4 * GIB, [])
    assert memory is not None
    assert (memory.total, memory.available, memory.swap_total) == (16 * GIB, 8 * GIB, 2 * GIB)
    assert (memory.huge_pages_total, memory.huge_pages_free, memory.huge_page_bytes) == (4608, 4500, 2 << 20)
    assert memory.usable == 4 * GIB
    unlimited = read_memory(here, 64 * GIB, [])
    assert unlimited is not None
    assert unlimited.limit is None


def test_settings_of_the_kernel_are_read_as_sysctl_writes_them(tmp_path: Path) -> None:
    here = machine(
        tmp_path,
        {
            "/proc/sys/vm/swappiness": "60\n",
            "/proc/sys/net/ipv4/ip_local_port_range": "32768\t60999\n",
            "/proc/sys/vm/page-cluster": "3\n",
            "/proc/cmdline": "root=/dev/md0 ro elevator=deadline\n",
            "/sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n",
            "/etc/security/limits.conf": "# nothing\nmysql  hard\tnofile 65535 # seen\n",
            "/etc/security/limits.d/90-a.conf": "mysql soft nofile 1024\n",
            "/etc/security/limits.d/readme": "mysql soft nproc 1\n",
        },
    )
    unread: list[Unread] = []
    kernel = read_kernel(here, unread)
    assert kernel.sysctls == {
        "vm.swappiness": "60",
        "net.ipv4.ip_local_port_range": "32768 60999",
        "vm.page-cluster": "3",
    }
    assert (kernel.number("vm.swappiness"), kernel.thp_enabled) == (60, "always")
    assert kernel.command_line == ("root=/dev/md0", "ro", "elevator=deadline")
    assert kernel.limits_conf == ("mysql hard nofile 65535", "mysql soft nofile 1024")
    assert unread == []


def test_a_container_that_hides_proc_and_sys_is_reported_once_for_each_kind(tmp_path: Path) -> None:
    here = machine(tmp_path, {})
    unread: list[Unread] = []
    assert read_cpu(here, None, None, unread) is None
    assert read_memory(here, None, unread) is None
    assert read_kernel(here, unread).sysctls == {}
    assert [each.what for each in unread] == [
        "the CPUs",
        "the memory",
        "the kernel's settings",
        "transparent huge pages",
    ]
    assert all("a container may hide" in each.why for each in unread)


def test_counters_are_found_under_the_names_of_nstat() -> None:
    netstat = "TcpExt: SyncookiesSent ListenOverflows\nTcpExt: 0 7\nIpExt: InNoRoutes\nIpExt: 1\n"
    assert counters("oom_kill 2\nother 3\npswpin 0\n", netstat) == {
        "oom_kill": 2,
        "pswpin": 0,
        "TcpExtListenOverflows": 7,
    }


@pytest.mark.parametrize(("text", "count"), [("0", 1), ("0-3", 4), ("0-1,8,10-11\n", 5), ("", 0)])
def test_a_list_of_cpus_is_counted(text: str, count: int) -> None:
    assert count_of_list(text) == count
