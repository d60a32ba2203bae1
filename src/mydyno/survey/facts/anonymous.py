"""Facts without the names of what is whose: pure.

Every text in the facts is either listed here as one that identifies no one, or replaced. What is not listed
is replaced as a whole, so that a new fact cannot identify its owner.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mydyno.core.hiding import HOST, HOST_SETTINGS
from mydyno.core.record import Record
from mydyno.core.server_variables import OFF_WORDS, ON_WORDS
from mydyno.core.words import words
from mydyno.server.variables import catalogue
from mydyno.survey.facts.pseudonyms import HIDDEN, Pseudonyms
from mydyno.survey.facts.system import System

Replace = Callable[[Pseudonyms, str], str]


def _kept(_: Pseudonyms, text: str) -> str:
    return text


def _mount_option(_: Pseudonyms, option: str) -> str:
    name, equals, value = option.partition("=")
    if name not in _MOUNT_OPTIONS:
        return HIDDEN
    return option if not equals or _is_word(value) else f"{name}={HIDDEN}"


def _kernel_parameter(_: Pseudonyms, word: str) -> str:
    return word if word.partition("=")[0] in _KERNEL_PARAMETERS else HIDDEN


def _limit(names: Pseudonyms, line: str) -> str:
    """`<domain> <type> <item> <value>` of limits.conf(5)."""
    words = line.split()
    kept = len(words) == 4 and words[1] in ("soft", "hard", "-") and words[2].isalpha()
    if not kept or not (_NUMBER.fullmatch(words[3]) or words[3] in ("unlimited", "infinity")):
        return HIDDEN
    return " ".join((names.account(words[0]), *words[1:]))


def _bitmap(names: Pseudonyms, text: str) -> str:
    return text if text in ("none", "internal") else names.path(text)


_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?[a-z%]{0,3}", re.IGNORECASE)
_WORDS = ON_WORDS | OFF_WORDS | {"", "null", "none", "auto", "default"}
_MOUNT_OPTIONS = words(
    """
    rw ro defaults auto noauto user nouser users owner sync async dirsync suid nosuid dev nodev exec
    noexec nofail _netdev bind remount nobootwait atime noatime relatime strictatime norelatime
    nodiratime diratime lazytime barrier nobarrier discard nodiscard data errors commit
    journal_checksum journal_async_commit delalloc nodelalloc dioread_nolock dioread_lock stripe
    stride acl noacl user_xattr quota noquota usrquota grpquota prjquota inode32 inode64 attr2
    largeio logbufs logbsize sunit swidth swalloc wsync nouuid norecovery compress compress-force
    nodatacow datacow nodatasum datasum autodefrag ssd nossd space_cache nospace_cache subvolid
    degraded flushoncommit seclabel noexec nointr hard soft intr tcp udp proto vers nfsvers
    minorversion rsize wsize timeo retrans noac ac nolock lock local_lock sec namlen port actimeo
    fsc size mode uid gid nr_inodes huge inode_readahead_blks max_batch_time mb_optimize_scan xattr
    noxattr posixacl casesensitive index metacopy redirect_dir volatile bootwait optional
    showthrough timeout notail nolog x-systemd.device-timeout x-systemd.automount
    """
)
_KERNEL_PARAMETERS = words(
    """
    ro rw quiet splash elevator transparent_hugepage clocksource tsc mitigations numa_balancing numa
    hugepages hugepagesz default_hugepagesz intel_pstate isolcpus intel_idle.max_cstate
    processor.max_cstate cgroup_enable cgroup_disable swapaccount systemd.unified_cgroup_hierarchy
    scsi_mod.use_blk_mq dm_mod.use_blk_mq nohz_full idle psi preempt iommu intel_iommu pti
    spectre_v2 audit apparmor selinux nosmt maxcpus
    """
)
_SAFE_VARIABLES = words(
    """
    version innodb_version version_comment version_compile_machine version_compile_os
    version_malloc_library version_ssl_library version_source_revision version_compile_zlib
    character_set_client character_set_connection character_set_database character_set_filesystem
    character_set_results character_set_server character_set_system collation_connection
    collation_database collation_server default_collation_for_utf8mb4 lc_messages lc_time_names
    date_format datetime_format time_format innodb_monitor_enable innodb_checksum_algorithm
    wsrep_sst_method wsrep_osu_method wsrep_trx_fragment_unit wsrep_provider wsrep_debug license
    protocol_version plugin_maturity storage_engine default_tmp_storage_engine
    enforce_storage_engine tls_version admin_tls_version ssl_cipher default_authentication_plugin
    """
)
"""With those that the catalogue has as an enumeration, a list of the server's own words or a path."""
_OWN_WORDS = frozenset({"switch", "enumeration", "list"})
_DATA_FILES = frozenset({"innodb_data_file_path", "innodb_temp_data_file_path"})
_SAFE_STATUS = words(
    """
    Rpl_semi_sync_master_status Rpl_semi_sync_source_status Innodb_redo_log_enabled Compression
    wsrep_cluster_status wsrep_local_state_comment wsrep_connected wsrep_ready wsrep_evs_state
    wsrep_provider_name wsrep_provider_vendor wsrep_provider_version Ssl_cipher Ssl_version
    """
)
_SAFE_PROPERTIES = words(
    """
    CPUQuotaPerSecUSec IOWeight KillMode LimitCORE LimitMEMLOCK LimitNOFILE LimitNOFILESoft
    LimitNPROC LimitSTACK MemoryHigh MemoryMax MemorySwapMax NUMAMask NUMAPolicy Nice OOMPolicy
    OOMScoreAdjust PrivateTmp ProtectHome ProtectSystem Restart SendSIGKILL TasksMax
    TimeoutStartUSec TimeoutStopUSec TimeoutStopSec Type
    """
)

_BY_REPLACEMENT: Mapping[Replace, str] = {
    _kept: """
        System.mydyno System.read_at Server.version Server.plugins Origin.source
        Innodb.latest_deadlock Role.managed Table.engine Cpu.model Cpu.governor Cpu.scaling_driver
        Kernel.release Kernel.thp_enabled Kernel.thp_defrag Kernel.clock_source
        Kernel.clock_sources Host.distribution Host.virtualisation Host.cloud Disk.kind
        Disk.host_caching Disk.model Disk.scheduler Disk.schedulers Disk.write_cache Array.level
        Array.state Array.action LogicalVolume.segment FstabEntry.kind FileSystem.kind Use.files
        Process.numa_policy
    """,
    Pseudonyms.address: "Server.address",
    Pseudonyms.path: """
        Origin.file DiskSpeed.mount_point FstabEntry.mount_point FileSystem.mount_point Use.path
        Use.mount_point Process.binary Process.option_files Unit.file Unit.drop_ins
    """,
    Pseudonyms.place: "Origin.overridden",
    Pseudonyms.host: "Accounts.anonymous_hosts Accounts.named_hosts",
    Pseudonyms.table: "Table.name Index.table",
    Pseudonyms.index: "Index.name Index.covered_by",
    Pseudonyms.column: "Index.columns",
    _kernel_parameter: "Kernel.command_line",
    _limit: "Kernel.limits_conf",
    Pseudonyms.device: "Disk.name DiskLoad.name Array.name Array.disks FileSystem.disks FileSystem.array",
    _bitmap: "Array.bitmap",
    Pseudonyms.volume: "LogicalVolume.name FileSystem.volume",
    Pseudonyms.source: "FstabEntry.source FileSystem.source",
    _mount_option: "FstabEntry.options FileSystem.options",
    Pseudonyms.text: "FstabEntry.fault Unread.what Unread.why Unread.hint",
    Pseudonyms.account: "Use.owner Process.user",
    Pseudonyms.unit: "Unit.name",
}
TEXTS: Mapping[str, Replace] = {
    place: replace for replace, places in _BY_REPLACEMENT.items() for place in places.split()
}
"""What becomes of each text of a record, by `Record.field`. `_kept` ones are words of the kernel, of systemd,
of the server or of a maker of hardware."""


def anonymous(system: System) -> System:
    """The same facts under names that do not identify their owner."""
    return System.model_validate(_record(Pseudonyms(_hosts(system)), system))


def kept(place: str) -> bool:
    """Whether the text at `Record.field` stays as it is."""
    return TEXTS.get(place) is _kept


def _record(names: Pseudonyms, record: Record) -> dict[str, Any]:
    kind = type(record).__name__
    return {
        name: _value(names, f"{kind}.{name}", getattr(record, name))
        for name in type(record).model_fields
        if name in record.model_fields_set
    }


def _value(names: Pseudonyms, place: str, value: Any) -> Any:
    if isinstance(value, str):
        replace = TEXTS.get(place)
        return replace(names, value) if replace else HIDDEN
    if isinstance(value, Record):
        return _record(names, value)
    if isinstance(value, tuple):
        return [_value(names, place, each) for each in value]
    if isinstance(value, Mapping):
        return {key: _entry(names, place, key, each) for key, each in value.items()}
    return value


def _entry(names: Pseudonyms, place: str, key: str, value: Any) -> Any:
    """Of a mapping, whose keys are names of the server, the kernel or systemd."""
    if place == "Server.variables":
        return {**_record(names, value), "value": _variable(names, key, value.value)}
    if not isinstance(value, str):
        return _record(names, value) if isinstance(value, Record) else value
    safe = {"Status.before": _SAFE_STATUS, "Status.after": _SAFE_STATUS, "Unit.properties": _SAFE_PROPERTIES}
    if key in safe.get(place, ()) or _is_word(value) or _are_numbers(value):
        return value
    return HIDDEN


def _variable(names: Pseudonyms, name: str, value: str) -> str:
    if _is_word(value) or name in _SAFE_VARIABLES:
        return value
    if name in HOST_SETTINGS:
        return ",".join(map(names.host, value.split(",")))
    row = catalogue().get(name)
    unit = row.unit if row else None
    if unit in _OWN_WORDS:
        return value
    if name in _DATA_FILES:
        return re.sub(r"[^:;]+(?=:\d)", lambda path: names.path(path[0]), value)
    return names.path(value) if unit == "path" else HIDDEN


def _is_word(value: str) -> bool:
    return value.casefold() in _WORDS or _NUMBER.fullmatch(value) is not None


def _are_numbers(value: str) -> bool:
    return all(_NUMBER.fullmatch(word) for word in value.split())


def _hosts(system: System) -> Iterator[str]:
    """Names that a sentence may have."""
    server = system.server
    if server.address and not server.address.startswith("/"):
        yield server.address.rpartition(":")[0].strip("[]")
    for name in HOST_SETTINGS:
        yield from (server.text(name) or "").split(",")


__all__ = ["HOST", "TEXTS", "anonymous", "kept"]
