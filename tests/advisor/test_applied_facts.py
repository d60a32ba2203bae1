"""The facts after changes: what was set is in force, and what follows from it follows."""

from advisor.builders import MARIADB, MYSQL_84, host, server, system
from mydyno.advisor.applied_facts import after
from mydyno.apply.change import (
    ByHand,
    RemoveVariable,
    SetArray,
    SetMountOptions,
    SetQueue,
    SetSysctl,
    SetSysfs,
    SetUnit,
    SetVariable,
)
from mydyno.survey.facts import (
    Array,
    Disk,
    FileSystem,
    FstabEntry,
    Limit,
    Origin,
    Process,
    Server,
    Storage,
    Unit,
    Variable,
)

GIB = 1 << 30


def set_to(the_server: Server, name: str, value: str) -> str | None:
    change = SetVariable(name=name, value=value, was=None, restart=False)
    return after(system(the_server), [change]).server.text(name)


def test_a_size_is_shown_in_bytes_and_a_switch_in_the_servers_words() -> None:
    the_server = server(MARIADB, {"tmp_table_size": "16777216", "slow_query_log": "OFF", "sync_binlog": "0"})
    assert set_to(the_server, "tmp_table_size", "64M") == "67108864"
    assert set_to(the_server, "slow_query_log", "1") == "ON"
    assert set_to(the_server, "sync_binlog", "1") == "1"


def test_the_buffer_pool_is_rounded_up_to_chunks_for_each_instance() -> None:
    the_server = server(
        MYSQL_84,
        {
            "innodb_buffer_pool_size": str(GIB),
            "innodb_buffer_pool_chunk_size": str(GIB // 8),
            "innodb_buffer_pool_instances": "8",
        },
    )
    assert set_to(the_server, "innodb_buffer_pool_size", "3G") == str(3 * GIB)
    assert set_to(the_server, "innodb_buffer_pool_size", "2560M") == str(3 * GIB)


def test_a_removed_line_leaves_the_value_to_the_binary() -> None:
    origin = Origin(source="file", file="/etc/my.cnf", line=3)
    the_server = server(MARIADB, {"innodb_log_files_in_group": Variable(value="1", origin=origin)})
    change = RemoveVariable(name="innodb_log_files_in_group", file="/etc/my.cnf", line=3, was="1")
    left = after(system(the_server), [change]).server.variables["innodb_log_files_in_group"]
    assert left.origin == Origin(source="compiled")


def test_kernel_settings_that_exclude_each_other_do() -> None:
    machine = host(sysctls={"vm.dirty_ratio": "20", "vm.dirty_bytes": "0"})
    done = after(system(the_host=machine), [SetSysctl(name="vm.dirty_bytes", value="1048576", was="0")])
    assert done.host is not None
    assert done.host.kernel.sysctls == {"vm.dirty_ratio": "0", "vm.dirty_bytes": "1048576"}


def test_a_process_has_the_limits_of_its_unit_and_the_server_says_so() -> None:
    process = Process(
        pid=1, limits={"Max open files": Limit(soft=1024, hard=1024)}, unit=Unit(name="m.service")
    )
    before = system(server(MARIADB, {"open_files_limit": "1024"}), host(process=process))
    done = after(before, [SetUnit(unit="m.service", name="LimitNOFILE", value="65536", was="1024")])
    assert done.host is not None
    assert done.host.process is not None
    assert done.host.process.limits["Max open files"].soft == 65536
    assert done.server.text("open_files_limit") == "65536"


def test_disks_arrays_mounts_and_huge_pages_are_as_they_were_set() -> None:
    storage = Storage(
        disks=(Disk(name="sda", scheduler="bfq", read_ahead_kib=128), Disk(name="sdb", scheduler="bfq")),
        arrays=(Array(name="md0", level="raid5", devices=3, stripe_cache_size=256),),
        filesystems=(
            FileSystem(
                mount_point="/d", kind="ext4", source="/dev/md0", options=("rw", "relatime", "nobarrier")
            ),
        ),
        fstab=(FstabEntry(line=1, mount_point="/d", options=("defaults",)),),
    )
    changes = [
        SetQueue(disk="sda", attribute="scheduler", value="none", was="bfq"),
        SetQueue(disk="md0", attribute="read_ahead_kb", value="512", was="128"),
        SetArray(array="md0", attribute="stripe_cache_size", value="4096", was="256"),
        SetMountOptions(mount_point="/d", add=("noatime",), remove=("nobarrier",), was=None),
        SetSysfs(path="/sys/kernel/mm/transparent_hugepage/enabled", value="madvise", was="always"),
        ByHand(says="nothing"),
    ]
    done = after(system(the_host=host(storage=storage)), changes)
    assert done.host is not None
    assert [disk.scheduler for disk in done.host.storage.disks] == ["none", "bfq"]
    assert done.host.storage.arrays[0].stripe_cache_size == 4096
    assert done.host.storage.arrays[0].read_ahead_kib == 512
    assert done.host.storage.filesystems[0].options == ("rw", "noatime")
    assert done.host.storage.fstab[0].options == ("defaults", "noatime")
    assert done.host.kernel.thp_enabled == "madvise"


def test_another_scheduler_gives_a_disk_another_queue() -> None:
    disk = Disk(name="sda", scheduler="none", requests=32)
    before = system(the_host=host(storage=Storage(disks=(disk,))))
    scheduler = SetQueue(disk="sda", attribute="scheduler", value="mq-deadline", was="none")
    requests = SetQueue(disk="sda", attribute="nr_requests", value="256", was="32")
    alone, both = after(before, [scheduler]), after(before, [requests, scheduler])
    assert alone.host is not None
    assert both.host is not None
    assert alone.host.storage.disks[0].requests is None, "nobody knows before it is read"
    assert both.host.storage.disks[0].requests == 256
