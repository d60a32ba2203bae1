"""Random systems: real servers of several releases with settings, loads and machines plausible and absurd.

Each begins as a real server without configuration (tests/fixtures/servers: SHOW GLOBAL VARIABLES and STATUS)
and has some of its variables and counters replaced, its facts gone missing, and a machine put under it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from mydyno.advisor import rules, targets
from mydyno.advisor.registry import variables as variables_of_rules
from mydyno.core.server_version import parse_version
from mydyno.server.variables import catalogue
from mydyno.survey.facts import (
    Accounts,
    Array,
    Cpu,
    Disk,
    DiskLoad,
    DiskSpeed,
    FileSystem,
    FstabEntry,
    Host,
    HostCache,
    Index,
    Innodb,
    Kernel,
    Limit,
    Load,
    LogicalVolume,
    Memory,
    Origin,
    Process,
    Reading,
    Role,
    Schema,
    Server,
    Status,
    Storage,
    System,
    Table,
    Unit,
    Use,
    Variable,
)

_FOLDER = Path(__file__).parents[1] / "fixtures" / "servers"
_RELEASES = {
    "mariadbd  Ver 10.5.29-MariaDB-0+deb11u1 for debian-linux-gnu on x86_64 (Debian 11)": "mariadb-10.5",
    "mariadbd  Ver 10.6.16-MariaDB for Linux on x86_64 (MariaDB Server)": "mariadb-10.5",
    "mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)": "mariadb-10.11",
    "mariadbd  Ver 11.4.2-MariaDB for Linux on x86_64 (MariaDB Server)": "mariadb-11.8",
    "mariadbd  Ver 11.8.6-MariaDB-0+deb13u1 for debian-linux-gnu on x86_64 (Debian 13)": "mariadb-11.8",
    "mysqld  Ver 5.6.24 for linux-glibc2.5 on x86_64 (MySQL Community Server (GPL))": "mysql-5.6",
    "mysqld  Ver 5.7.44 for Linux on x86_64 (MySQL Community Server (GPL))": "mysql-5.6",
    "mysqld  Ver 8.0.28 for Linux on x86_64 (MySQL Community Server - GPL)": "mysql-9.7",
    "mysqld  Ver 8.0.36-28 for Linux on x86_64 (Percona Server (GPL), Release 28)": "mysql-9.7",
    "mysqld  Ver 8.4.3 for Linux on x86_64 (MySQL Community Server - GPL)": "mysql-9.7",
    "mysqld  Ver 9.7.4-2 for Linux on x86_64 ((Debian))": "mysql-9.7",
}
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
_SIZES = (0, 1, 4 * KIB, 128 * KIB, MIB, 8 * MIB, 64 * MIB, 100 * MIB, 512 * MIB, 5 * GIB, 300 * GIB, 1 << 44)
_NUMBERS = ("-1", "0", "1", "2", "3", "8", "50", "151", "400", "2000", "20000", "100000", "4294967295")
_OF_UNIT = {
    "bytes": st.sampled_from(_SIZES).map(str),
    "switch": st.sampled_from(("ON", "OFF", "ON", "OFF", "1", "0")),
}
_WORDS = {
    "innodb_flush_method": ("fsync", "O_DSYNC", "O_DIRECT", "O_DIRECT_NO_FSYNC", ""),
    "binlog_format": ("ROW", "STATEMENT", "MIXED"),
    "query_cache_type": ("ON", "OFF", "DEMAND"),
    "transaction_isolation": ("REPEATABLE-READ", "READ-COMMITTED", "SERIALIZABLE"),
    "tx_isolation": ("REPEATABLE-READ", "READ-COMMITTED", "SERIALIZABLE"),
    "thread_handling": ("one-thread-per-connection", "pool-of-threads"),
    "innodb_doublewrite": ("ON", "OFF", "DETECT_ONLY"),
    "innodb_change_buffering": ("all", "none", "inserts"),
    "log_output": ("FILE", "TABLE", "NONE", "FILE,TABLE"),
    "default_storage_engine": ("InnoDB", "MyISAM"),
    "sql_mode": ("", "STRICT_TRANS_TABLES", "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES"),
    "character_set_server": ("utf8mb4", "utf8mb3", "latin1", "utf8"),
    "innodb_checksum_algorithm": ("crc32", "full_crc32", "none", "innodb"),
    "innodb_flush_log_at_trx_commit": ("0", "1", "2"),
    "sync_binlog": ("0", "1", "1000"),
    "innodb_autoinc_lock_mode": ("0", "1", "2"),
    "slave_parallel_mode": ("optimistic", "conservative", "none"),
    "internal_tmp_mem_storage_engine": ("TempTable", "MEMORY"),
    "binlog_row_image": ("FULL", "MINIMAL", "NOBLOB"),
}
_ODD = st.sampled_from(("", "nonsense", "NULL", "18446744073709551615", "0.5", "75.000000"))
_COUNTS = st.one_of(st.integers(0, 100), st.sampled_from((0, 10**4, 10**6, 10**9, 10**13)))


def _mentioned(pattern: str) -> tuple[str, ...]:
    """What the rules' own sources name: a new rule's facts are varied without a word here."""
    folders = (Path(package.__path__[0]) for package in (rules, targets))
    texts = [file.read_text(encoding="utf-8") for folder in folders for file in folder.rglob("*.py")]
    return tuple(sorted({name for text in texts for name in re.findall(pattern, text)}))


_COUNTERS = _mentioned(r'"([A-Z][a-z]+(?:_[a-z0-9_]+)*)"')
_OTHER_SYSCTLS = st.sampled_from(("0", "1", "10", "128", "5000", "1048576", "9223372036854775807"))
_SYSCTLS = {
    "vm.swappiness": ("0", "1", "10", "60", "100"),
    "vm.overcommit_memory": ("0", "1", "2"),
    "vm.overcommit_ratio": ("50", "80"),
    "vm.dirty_ratio": ("0", "20", "40", "80"),
    "vm.dirty_background_ratio": ("0", "10", "5"),
    "vm.dirty_bytes": ("0", "268435456"),
    "vm.dirty_background_bytes": ("0", "67108864"),
    "vm.zone_reclaim_mode": ("0", "1"),
    "vm.min_free_kbytes": ("1024", "67584", "8000000"),
    "vm.max_map_count": ("65530", "262144"),
    "vm.nr_hugepages": ("0", "100", "100000"),
    "vm.vfs_cache_pressure": ("100", "1000"),
    "kernel.numa_balancing": ("0", "1"),
    "kernel.sched_autogroup_enabled": ("0", "1"),
    "kernel.pid_max": ("32768", "4194304"),
    "kernel.threads-max": ("1000", "126000"),
    "kernel.io_uring_disabled": ("0", "2"),
    "fs.file-max": ("1000", "9223372036854775807"),
    "fs.nr_open": ("1024", "1048576"),
    "fs.aio-max-nr": ("1024", "65536", "1048576"),
    "fs.aio-nr": ("0", "65000"),
    "net.core.somaxconn": ("128", "4096"),
    "net.core.netdev_max_backlog": ("1000",),
    "net.ipv4.tcp_max_syn_backlog": ("128", "4096"),
    "net.ipv4.tcp_tw_reuse": ("0", "1", "2"),
    "net.ipv4.tcp_fin_timeout": ("60",),
    "net.ipv4.tcp_keepalive_time": ("7200", "60"),
    "net.ipv4.tcp_syncookies": ("0", "1"),
    "net.ipv4.ip_local_port_range": ("32768\t60999", "1024 65535"),
    "net.ipv4.tcp_slow_start_after_idle": ("0", "1"),
}
_ALL_SYSCTLS = sorted({*_SYSCTLS, *_mentioned(r'"((?:vm|net|kernel|fs)\.[a-z0-9_.-]+)"')})
_sysctls = st.fixed_dictionaries(
    {},
    optional={
        name: st.sampled_from(_SYSCTLS[name]) | _OTHER_SYSCTLS if name in _SYSCTLS else _OTHER_SYSCTLS
        for name in _ALL_SYSCTLS
    },
)


@cache
def _base(version: str) -> tuple[Mapping[str, str], frozenset[str], Mapping[str, str]]:
    """Variables, those that only a start sets, and status, of a release as far as it is known."""
    document = json.loads((_FOLDER / f"{_RELEASES[version]}.json").read_text(encoding="utf-8"))
    release = parse_version(version)
    rows = catalogue().variables
    variables = {name: value for name, value in document["variables"].items() if rows[name].there(release)}
    return variables, frozenset(document["start_only"]), {**document["status"], "Uptime": "864000"}


def _value(name: str) -> st.SearchStrategy[str]:
    if name in _WORDS:
        return st.one_of(st.sampled_from(_WORDS[name]), st.sampled_from(_WORDS[name]), _ODD)
    row = catalogue().get(name)
    plain = _OF_UNIT.get(row.unit if row else "", st.sampled_from(_NUMBERS))
    return st.one_of(plain, plain, plain, plain, _ODD)


@st.composite
def _some(draw: st.DrawFn, names: Sequence[str]) -> list[str]:
    """A few of them, or many: lists of Hypothesis' own stay short."""
    least = draw(st.sampled_from((0, 8, 30)))
    return draw(st.lists(st.sampled_from(names), min_size=least, max_size=least + 10, unique=True))


@st.composite
def servers(draw: st.DrawFn) -> Server:
    version = draw(st.sampled_from(sorted(_RELEASES)))
    base, start_only, status = _base(version)
    release = parse_version(version)
    of_rules = {
        name for name in _NAMES if name in base or ((row := catalogue().get(name)) and row.there(release))
    }
    touched = draw(st.lists(st.sampled_from(sorted(of_rules | set(base))), max_size=6, unique=True))
    touched += draw(_some(sorted(of_rules)))
    values = {**base, **{name: draw(_value(name)) for name in dict.fromkeys(touched)}}
    for name in draw(st.lists(st.sampled_from(sorted(values)), max_size=draw(st.sampled_from((0, 0, 3))))):
        values.pop(name, None)
    origin = draw(st.sampled_from(_ORIGINS))
    variables = {
        name: Variable(
            value=value, dynamic=name not in start_only, origin=origin if name in touched else None
        )
        for name, value in values.items()
    }
    return Server(
        version=version,
        variables=variables,
        status=draw(_statuses(status)),
        innodb=draw(st.none() | _innodb),
        plugins=tuple(
            draw(st.sets(st.sampled_from(("thread_pool", "semi_sync_master", "query_cache_info"))))
        ),
        role=draw(_roles),
        schema_facts=draw(st.none() | _schemas()),
        accounts=draw(st.none() | _accounts),
        host_cache=draw(st.none() | _host_caches),
        address=draw(st.sampled_from((None, "/run/mysqld/mysqld.sock", "10.0.0.3:3306"))),
    )


_KERNEL_COUNTERS = (
    *("oom_kill", "compact_stall", "pswpin", "pswpout", "TcpExtListenOverflows"),
    *("TcpExtTCPReqQFullDoCookies", "TcpExtTCPReqQFullDrop"),
)
_ORIGINS = (
    None,
    Origin(source="file", file="/etc/mysql/my.cnf", line=7),
    Origin(source="file", file="/etc/mysql/z.cnf", line=1, overridden=("/etc/mysql/my.cnf:7",)),
    Origin(source="set while running"),
    Origin(source="persisted"),
    Origin(source="compiled"),
)
_PLUGINS = ("thread_pool", "semi_sync_master", "query_cache_info")
_NAMES = {*_mentioned(r'"([a-z][a-z0-9_]+)"')} & set(catalogue().variables) | {*variables_of_rules()}


@st.composite
def _statuses(draw: st.DrawFn, base: Mapping[str, str]) -> Status:
    counted = {name: draw(_COUNTS) for name in draw(_some(_COUNTERS))}
    after = {**base, **{name: str(value) for name, value in counted.items()}}
    seconds = draw(st.sampled_from((0.0, 0.1, 10.0, 60.0)))
    share = draw(st.sampled_from((1.0, 0.999, 0.9, 0.0, 1.1)))
    before = {**after, **{name: str(int(value * share)) for name, value in counted.items()}}
    for name in draw(st.lists(st.sampled_from(_COUNTERS), max_size=draw(st.sampled_from((0, 0, 10))))):
        after.pop(name, None)
    readings = draw(st.sampled_from(_READINGS))
    return Status(before=before, after=after, seconds=seconds, readings=readings)


_READINGS: tuple[tuple[Reading, ...], ...] = (
    (),
    tuple(Reading(running=number, statements=100.0) for number in range(40)),
    tuple(Reading(running=number, statements=1000.0 - number) for number in range(0, 400, 10)),
    (Reading(running=0, statements=0),) * 60,
)
_HOSTS = st.lists(st.sampled_from(("%", "localhost", "web%", "10.%", "it's")), max_size=3).map(tuple)
_accounts = st.builds(Accounts, number=st.integers(0, 9), anonymous_hosts=_HOSTS, named_hosts=_HOSTS)
_host_caches = st.builds(
    HostCache,
    hosts=st.integers(0, 9),
    handshake_errors=_COUNTS,
    authentication_errors=_COUNTS,
    blocked_errors=_COUNTS,
    most_errors=_COUNTS,
)
_innodb = st.builds(
    Innodb,
    checkpoint_age_bytes=st.none() | _COUNTS,
    log_sequence_number=st.none() | _COUNTS,
    history_list_length=st.none() | _COUNTS,
    queries_in_queue=st.none() | _COUNTS,
    semaphore_waits=st.none() | _COUNTS,
    latest_deadlock=st.sampled_from((None, "2026-11-21 10:00:00 0x7f")),
)
_alone = Role(replica=False, source=False, galera=False, group_replication=False)
_roles = st.one_of(
    st.just(_alone),
    st.just(_alone),
    st.builds(
        Role,
        replica=st.sampled_from((None, False, True)),
        source=st.sampled_from((None, False, True)),
        galera=st.booleans(),
        group_replication=st.booleans(),
        managed=st.sampled_from((None, None, "Amazon RDS", "Amazon Aurora", "Azure Database", "Cloud SQL")),
    ),
)
_bytes = st.one_of(st.none(), st.sampled_from(_SIZES))


@st.composite
def _schemas(draw: st.DrawFn) -> Schema:
    engines = ("InnoDB", "MyISAM", "Aria", "MEMORY")
    tables = st.lists(
        st.builds(
            Table,
            name=st.sampled_from(("shop.orders", "shop.items", "a`b.c d")),
            engine=st.sampled_from(engines),
            rows=st.none() | _COUNTS,
            data_bytes=_bytes,
            index_bytes=_bytes,
            free_bytes=_bytes,
            auto_increment_used=st.sampled_from((None, 0.1, 0.8, 1.0)),
        ),
        max_size=2,
    ).map(tuple)
    indexes = st.lists(
        st.builds(
            Index,
            table=st.just("shop.orders"),
            name=st.sampled_from(("a", "b")),
            columns=st.just(("x", "y")),
            covered_by=st.sampled_from((None, "PRIMARY", "a")),
            hidden=st.booleans(),
        ),
        max_size=2,
    ).map(tuple)
    return Schema(
        tables=draw(_COUNTS),
        partial=draw(st.booleans()),
        bytes_by_engine=draw(st.dictionaries(st.sampled_from(engines), st.sampled_from(_SIZES))),
        tables_by_engine=draw(st.dictionaries(st.sampled_from(engines), st.integers(0, 10**5))),
        without_primary_key=draw(tables),
        other_engines=draw(tables),
        fragmented=draw(tables),
        nearly_full_counters=draw(tables),
        unused_indexes=draw(st.none() | indexes),
        redundant_indexes=draw(indexes),
    )


@st.composite
def hosts(draw: st.DrawFn) -> Host:
    total = draw(
        st.sampled_from((512 * MIB, GIB, 2 * GIB, 4 * GIB, 14 * GIB, 64 * GIB, 512 * GIB, 2048 * GIB))
    )
    part = st.sampled_from((0.0, 0.02, 0.1, 0.5, 0.9, 1.0))
    swap = draw(st.sampled_from((None, 0, GIB)))
    memory = Memory(
        total=total,
        available=draw(st.none() | part.map(lambda share: int(total * share))),
        swap_total=swap,
        swap_free=draw(st.sampled_from((None, swap))),
        huge_pages_total=draw(st.sampled_from((None, 0, 100))),
        huge_pages_free=draw(st.sampled_from((None, 0, 100))),
        huge_page_bytes=2 * MIB,
        limit=draw(st.sampled_from((None, None, 256 * MIB, 3 * GIB, 100 * GIB))),
    )
    sysctls = draw(_sysctls)
    return Host(
        cpu=Cpu(
            count=draw(st.sampled_from((1, 2, 4, 16, 64, 256))),
            governor=draw(st.sampled_from((None, "performance", "powersave", "ondemand", "schedutil"))),
            scaling_driver=draw(st.sampled_from((None, "intel_pstate", "acpi-cpufreq"))),
            numa_memory_bytes=draw(st.sampled_from(((), (total // 2, total // 2)))),
            numa_nodes=draw(st.sampled_from((None, 1, 2, 8))),
        ),
        memory=memory,
        kernel=Kernel(
            release=draw(st.sampled_from((None, "3.10.0-1160.el7.x86_64", "5.15.0", "6.12.0"))),
            command_line=draw(
                st.sampled_from(((), ("quiet", "elevator=noop"), ("transparent_hugepage=never",)))
            ),
            sysctls=sysctls,
            thp_enabled=draw(st.sampled_from((None, "always", "madvise", "never"))),
            thp_defrag=draw(st.sampled_from((None, "always", "defer", "madvise", "never"))),
            clock_source=draw(st.sampled_from((None, "tsc", "hpet", "xen", "kvm-clock", "acpi_pm"))),
            clock_sources=draw(st.sampled_from(((), ("tsc", "hpet", "acpi_pm"), ("kvm-clock", "tsc")))),
            counters=draw(st.dictionaries(st.sampled_from(_KERNEL_COUNTERS), _COUNTS)),
            limits_conf=draw(st.sampled_from(((), ("* soft nofile 65536", "mysql hard nproc 100")))),
        ),
        storage=draw(_storages()),
        process=draw(st.none() | _processes(total)),
        distribution=draw(st.sampled_from((None, "Debian GNU/Linux 12 (bookworm)"))),
        virtualisation=draw(st.sampled_from((None, "none", "kvm", "vmware"))),
        container=draw(st.sampled_from((None, False, False, True))),
        systemd=draw(st.sampled_from((None, True, True, False))),
        cloud=draw(st.sampled_from((None, "Microsoft Azure"))),
        load=draw(st.none() | _loads),
    )


_PARTS = st.sampled_from((0.0, 0.3, 0.9, 1.0))
_loads = st.builds(
    Load,
    seconds=st.just(10.0),
    cpus=st.sampled_from((1, 4, 16)),
    cpu_busy=_PARTS,
    cpu_waiting=_PARTS,
    cpu_stolen=_PARTS,
    disks=st.builds(DiskLoad, name=st.just("sda"), busy=_PARTS, reads=_PARTS, writes=_PARTS).map(
        lambda disk: (disk,)
    ),
)


@st.composite
def _processes(draw: st.DrawFn, total: int) -> Process:
    limit = st.sampled_from((None, 1024, 16364, 65536, 1048576)).map(lambda n: Limit(soft=n, hard=n))
    names = ("Max open files", "Max processes", "Max locked memory", "Max core file size")
    unit = Unit(
        name=draw(st.sampled_from(("mariadb.service", "mysql.service"))),
        properties=draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "LimitNOFILE": st.sampled_from(("1024", "32768", "infinity")),
                    "LimitNPROC": st.sampled_from(("100", "infinity")),
                    "TasksMax": st.sampled_from(("100", "4915", "infinity")),
                    "OOMScoreAdjust": st.sampled_from(("0", "-600", "500")),
                    "MemoryMax": st.sampled_from(("infinity", "1073741824")),
                    "TimeoutStopUSec": st.sampled_from(("1min 30s", "15min", "infinity")),
                    "SendSIGKILL": st.sampled_from(("yes", "no")),
                    "PrivateTmp": st.sampled_from(("yes", "no")),
                },
            )
        ),
    )
    return Process(
        pid=draw(st.integers(1, 10**6)),
        user=draw(st.sampled_from((None, "mysql", "root"))),
        limits=draw(st.dictionaries(st.sampled_from(names), limit)),
        open_files=draw(st.none() | st.integers(0, 10**5)),
        threads=draw(st.none() | st.integers(1, 10**4)),
        resident_bytes=draw(st.none() | st.sampled_from((100 * MIB, total // 2, total))),
        swapped_bytes=draw(st.sampled_from((None, 0, GIB))),
        oom_score_adj=draw(st.sampled_from((None, 0, -600, 1000))),
        numa_policy=draw(st.sampled_from((None, "default", "interleave"))),
        unit=draw(st.none() | st.just(unit)),
    )


@st.composite
def _storages(draw: st.DrawFn) -> Storage:
    disks = tuple(draw(_disk(name)) for name in draw(st.sampled_from(((), ("sda",), ("nvme0n1", "sdb")))))
    names = tuple(disk.name for disk in disks)
    array = draw(
        st.builds(
            Array,
            name=st.just("md0"),
            level=st.sampled_from(("raid0", "raid1", "raid5", "raid6", "raid10", "linear")),
            devices=st.integers(1, 8),
            working=st.none() | st.integers(0, 8),
            chunk_bytes=st.sampled_from((None, 4096, 65536, 512 * KIB, 4 * MIB)),
            state=st.sampled_from((None, "clean", "active")),
            action=st.sampled_from((None, "idle", "resync", "check")),
            bitmap=st.sampled_from((None, "none", "internal")),
            bitmap_chunk_bytes=st.sampled_from((None, 4096, 64 * MIB)),
            stripe_cache_size=st.sampled_from((None, 256, 8192)),
            read_ahead_kib=st.sampled_from((None, 128, 8192)),
            disks=st.just(names),
        )
    )
    points = draw(st.sampled_from((("/",), ("/", "/data"), ("/data", "/log"))))
    kinds = ("ext3", "ext4", "xfs", "btrfs", "zfs", "reiserfs", "jfs", "nfs4", "tmpfs", "overlay")
    options = st.lists(st.sampled_from(_OPTIONS), max_size=4, unique=True).map(tuple)
    filesystems = tuple(
        FileSystem(
            mount_point=point,
            kind=draw(st.sampled_from(kinds)),
            source=draw(st.sampled_from(("/dev/md0", "/dev/sda1", "/dev/mapper/vg0-data"))),
            options=draw(options),
            size_bytes=draw(_bytes),
            free_bytes=draw(_bytes),
            free_inodes=draw(st.none() | _COUNTS),
            inodes=draw(st.none() | _COUNTS),
            reserved_bytes=draw(_bytes),
            disks=names,
            array=draw(st.sampled_from((None, "md0"))),
            volume=draw(st.sampled_from((None, "vg0/data"))),
        )
        for point in points
    )
    no_copy = st.sampled_from((None, False))
    places = [(files, draw(st.sampled_from((None, *points)))) for files in _FILES]
    uses = [
        Use(
            files=files,
            path=f"{point}/mysql",
            mount_point=point,
            no_copy_on_write=draw(no_copy),
            owner=draw(st.sampled_from((None, "mysql", "root"))),
            mode=draw(_MODES),
            file_mode=draw(_MODES),
            file_bytes=draw(_bytes),
        )
        for files, point in places
        if point is not None
    ]
    fstab = tuple(
        FstabEntry(line=line, source="/dev/md0", mount_point=point, kind="ext4", options=draw(options))
        for line, point in enumerate(points, start=1)
    )
    faulty = FstabEntry(line=9, fault="a line of 2 fields")
    speeds = tuple(
        DiskSpeed(
            mount_point=point, read_iops=draw(_SPEED), write_iops=draw(_SPEED), sync_seconds=draw(_SYNC)
        )
        for point in draw(st.sampled_from(((), points)))
    )
    volume = draw(
        st.builds(
            LogicalVolume,
            name=st.just("vg0/data"),
            segment=st.sampled_from((None, "linear", "striped", "thin")),
            stripes=st.sampled_from((None, 1, 4)),
            stripe_bytes=st.sampled_from((None, 65536)),
            snapshots=st.sampled_from((None, 0, 2)),
        )
    )
    return Storage(
        disks=disks,
        arrays=(array,),
        volumes=draw(st.sampled_from(((), (volume,)))),
        filesystems=filesystems,
        uses=tuple(uses),
        speeds=speeds,
        fstab=draw(st.sampled_from(((), fstab, (*fstab, faulty)))),
        trim_timer=draw(st.sampled_from((None, True, False))),
    )


_OPTIONS = (
    *("rw", "noatime", "relatime", "strictatime", "nobarrier", "barrier=0", "data=journal", "data=writeback"),
    *("discard", "errors=continue", "compress=zstd:3", "nofail", "lazytime", "nodiratime"),
)
_FILES: tuple[Any, ...] = ("data", "redo log", "binary log", "undo", "temporary files", "slow log")
_MODES = st.sampled_from((None, 0o750, 0o755, 0o777, 0o640))
_SPEED = st.sampled_from((0.0, 80.0, 5000.0, 500_000.0))
_SYNC = st.sampled_from((None, 0.0, 0.0001, 0.008))


def _disk(name: str) -> st.SearchStrategy[Disk]:
    return st.builds(
        Disk,
        name=st.just(name),
        kind=st.sampled_from((None, "nvme", "ssd", "rotating", "virtual")),
        size_bytes=_bytes,
        scheduler=st.sampled_from((None, "none", "mq-deadline", "kyber", "bfq", "cfq", "noop")),
        schedulers=st.sampled_from(((), ("none", "mq-deadline"), ("none", "mq-deadline", "kyber", "bfq"))),
        read_ahead_kib=st.sampled_from((None, 0, 128, 4096)),
        requests=st.sampled_from((None, 32, 256, 1023)),
        write_cache=st.sampled_from((None, "write back", "write through")),
        discards=st.sampled_from((None, True, False)),
        removable=st.sampled_from((None, True, False)),
        reads=st.sampled_from((None, 0, 10**6)),
        read_seconds=st.sampled_from((None, 0.0, 100.0, 10_000.0)),
        writes=st.sampled_from((None, 0, 10**6)),
        write_seconds=st.sampled_from((None, 0.0, 100.0, 10_000.0)),
        host_caching=st.sampled_from((None, "None", "ReadOnly", "ReadWrite")),
    )


class Case:
    """A system, shown by what it has other than a server without configuration."""

    def __init__(self, system: System) -> None:
        self.system = system

    def __repr__(self) -> str:
        server = self.system.server
        variables, _, status = _base(server.version)
        own = {name: found.value for name, found in server.variables.items()}
        parts = [
            server.version,
            f"variables {_difference(variables, own)}",
            f"status {_difference(status, server.status.after)}",
            f"before {_difference(server.status.after, server.status.before)} in {server.status.seconds} s",
            f"{server.role!r} {server.innodb!r} {server.schema_facts!r} {server.plugins}",
            repr(self.system.host),
        ]
        return "\n".join(parts)


def _difference(base: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str | None]:
    return {name: own.get(name) for name in {**base, **own} if base.get(name) != own.get(name)}


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Any system, its host seen or not."""
    system = System(
        mydyno="0.1.0",
        read_at="2026-11-21T00:00:00Z",
        server=draw(servers()),
        host=draw(st.one_of(st.none(), hosts(), hosts(), hosts())),
    )
    return Case(system)
