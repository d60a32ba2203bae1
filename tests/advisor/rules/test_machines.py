"""Whole machines: on a good one hardware and system are fine, on the guides' one there are their traps."""

from advisor.builders import GIB, MYSQL_84, host, server, system
from advisor.disks import array, disk, filesystem, process, storage
from mydyno.advisor import RULES, advise, after
from mydyno.advisor.rule import Unknown
from mydyno.advisor.targets import targets_of
from mydyno.apply.finding import Finding
from mydyno.survey.facts import (
    Cpu,
    DiskSpeed,
    Host,
    Kernel,
    Load,
    LogicalVolume,
    Memory,
    Schema,
    Server,
    System,
)
from mydyno.survey.facts.fstab import parse_fstab

NOW = "2026-11-21T00:00:00Z"
OF_MACHINES = {
    *("huge-pages", "memory-budget", "memory-limit", "memory-not-disks", "numa-placement", "oom-score"),
    *("overcommit", "swap-missing", "swapped-out", "port-range", "somaxconn", "syn-backlog"),
}
"""Of other layers than those of the machine."""
OURS = [rule for rule in RULES if rule.layer in ("disks", "file systems", "kernel") or rule.id in OF_MACHINES]

GOOD_SYSCTLS = {
    "fs.aio-max-nr": "1048576",
    "fs.aio-nr": "4096",
    "fs.file-max": "9223372036854775807",
    "fs.file-nr": "4000 0 9223372036854775807",
    "kernel.numa_balancing": "0",
    "net.core.somaxconn": "4096",
    "net.ipv4.ip_local_port_range": "32768 60999",
    "net.ipv4.tcp_max_syn_backlog": "4096",
    "vm.dirty_background_ratio": "10",
    "vm.overcommit_memory": "0",
    "vm.swappiness": "1",
    "vm.zone_reclaim_mode": "0",
}


def a_server() -> Server:
    pace = {"Innodb_data_reads": 2e8, "Innodb_data_writes": 1e8, "Innodb_data_fsyncs": 4e7}
    return server(
        MYSQL_84,
        {
            "back_log": "300",
            "innodb_buffer_pool_size": str(160 * GIB),
            "innodb_flush_method": "O_DIRECT",
            "innodb_io_capacity": "10000",
            "innodb_numa_interleave": "ON",
            "innodb_page_size": "16384",
            "innodb_use_native_aio": "ON",
            "large_pages": "OFF",
            "log_bin": "ON",
            "max_connections": "300",
            "sync_binlog": "1",
            "table_open_cache": "4000",
            "table_definition_cache": "2000",
            "innodb_open_files": "4000",
        },
        {
            **pace,
            "Connections": 50_000,
            "Max_used_connections": 200,
            "Handler_commit": 3e7,
            "Innodb_buffer_pool_pages_dirty": 50_000,
            "Innodb_buffer_pool_reads": 1e6,
        },
        schema_facts=Schema(tables=100, bytes_by_engine={"InnoDB": 120 * GIB}),
    )


def a_good_machine() -> Host:
    disks = tuple(
        disk(
            f"nvme{number}n1",
            "nvme",
            scheduler="none",
            schedulers=("none", "mq-deadline"),
            read_ahead_kib=128,
            requests=1023,
            write_cache="write through",
            discards=True,
        )
        for number in range(4)
    )
    md = array(
        "raid10",
        chunk_bytes=512 << 10,
        action="idle",
        bitmap="internal",
        bitmap_chunk_bytes=64 << 20,
        read_ahead_kib=2048,
    )
    data = filesystem(
        "/var/lib/mysql",
        "xfs",
        ("rw", "noatime"),
        tuple(each.name for each in disks),
        array="md0",
        volume="vg0/data",
        source="/dev/mapper/vg0-data",
        size_bytes=2000 * GIB,
        free_bytes=1200 * GIB,
        inodes=10**9,
        free_inodes=9 * 10**8,
    )
    there = storage(
        data,
        disks=disks,
        arrays=(md,),
        volumes=(LogicalVolume(name="vg0/data", segment="linear", snapshots=0),),
        speeds=(DiskSpeed(mount_point="/var/lib/mysql", read_iops=4e5, write_iops=2e5, sync_seconds=3e-5),),
        fstab=parse_fstab("/dev/mapper/vg0-data /var/lib/mysql xfs noatime,nofail 0 2\n"),
        trim_timer=True,
    )
    rights = {"owner": "mysql", "mode": 0o750, "file_mode": 0o640}
    uses = tuple(each.model_copy(update=rights) if each.files == "data" else each for each in there.uses)
    return host(
        memory_facts=Memory(
            total=256 * GIB,
            available=80 * GIB,
            swap_total=4 * GIB,
            huge_pages_total=0,
            huge_page_bytes=2 << 20,
        ),
        kernel=Kernel(
            release="6.12.9",
            command_line=("quiet",),
            sysctls=GOOD_SYSCTLS,
            thp_enabled="madvise",
            thp_defrag="madvise",
            clock_source="tsc",
            clock_sources=("tsc", "hpet"),
            counters={"TcpExtListenOverflows": 0, "TcpExtTCPReqQFullDrop": 0},
        ),
        storage=there.model_copy(update={"uses": uses}),
        load=Load(seconds=10, cpus=64, cpu_busy=0.4, cpu_waiting=0.01, cpu_stolen=0),
        process=process(
            {
                "Max open files": (100_000, 100_000),
                "Max processes": (500_000, 500_000),
                "Max locked memory": (8 << 20, 8 << 20),
            },
            {"TasksMax": "infinity", "LimitNOFILE": "100000", "TimeoutStopUSec": "15min"},
            open_files=2000,
            resident_bytes=170 * GIB,
            swapped_bytes=0,
            oom_score_adj=-600,
            numa_policy="default",
        ),
    ).model_copy(
        update={
            "cpu": Cpu(count=64, governor="performance", scaling_driver="acpi-cpufreq", numa_nodes=2),
        }
    )


def the_guides_machine() -> Host:
    """A server whose administrator did all that the guides of 2015 say, on a kernel of today."""
    guide = "/dev/md127 /RAID0 ext4 defaults,nobootwait, noatime 0 0\n"
    disks = tuple(
        disk(
            f"sd{letter}",
            "rotating",
            scheduler="none",
            schedulers=("none", "mq-deadline", "bfq"),
            write_cache="write back",
        )
        for letter in "cdef"
    )
    return host(
        memory_facts=Memory(total=14 * GIB, available=4 * GIB, swap_total=2 * GIB),
        kernel=Kernel(
            release="5.15.0-1050",
            command_line=("quiet", "splash", "elevator=noop"),
            sysctls={**GOOD_SYSCTLS, "vm.swappiness": "60"},
            thp_enabled="always",
            thp_defrag="madvise",
            limits_conf=("* soft nofile 65536", "* hard nofile 65536"),
        ),
        storage=storage(
            filesystem("/RAID0", "ext4", ("rw", "noatime"), tuple(each.name for each in disks), array="md0"),
            disks=disks,
            arrays=(array("raid0", chunk_bytes=512 << 10),),
            fstab=parse_fstab(guide),
        ),
        process=process(
            {"Max open files": (5000, 5000), "Max processes": (50_000, 50_000)}, {"LimitNOFILE": "5000"}
        ),
    )


def findings(asked: System) -> set[str]:
    targets = targets_of(asked)
    return {rule.id for rule in OURS if isinstance(rule.judge(asked, targets), Finding)}


def test_on_a_good_machine_nothing_is_found() -> None:
    asked = system(a_server(), a_good_machine())
    assert findings(asked) == set()


def test_on_a_good_machine_that_was_read_in_full_nothing_is_unknown() -> None:
    asked = system(a_server(), a_good_machine())
    targets = targets_of(asked)
    judged = {rule.id: rule.judge(asked, targets) for rule in OURS}
    assert {name: result.missing for name, result in judged.items() if isinstance(result, Unknown)} == {}


def test_on_the_guides_machine_their_traps_are_found() -> None:
    found = findings(system(a_server(), the_guides_machine()))
    assert {
        "elevator-parameter",
        "fstab-faults",
        "limits-conf-ignored",
        "raid-redundancy",
        "redo-apart",
        "scheduler-rotating",
        "swappiness",
        "transparent-huge-pages",
    } <= found
    assert "mount-atime" not in found
    assert "raid-chunk" not in found


def test_on_the_guides_machine_only_handwork_is_left_when_all_was_done() -> None:
    asked = system(a_server(), the_guides_machine())
    changes = [change for found in advise(asked, NOW).findings for change in found.changes]
    assert {change.kind for change in changes} >= {"disk queue", "sysctl", "kernel switch", "systemd unit"}
    again = advise(after(asked, changes), NOW)
    assert {change.kind for found in again.findings for change in found.changes} <= {"by hand"}


def test_without_a_host_every_rule_says_what_it_lacks() -> None:
    asked = System(mydyno="0.1.0", read_at="2026-11-21T00:00:00Z", server=server())
    assert findings(asked) == set()
