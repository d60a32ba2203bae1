"""What mydyno sets at all: for each kind of change the names, and what a value may look like; pure.

An advice is a file, and a file may have been written by anybody: `kernel.core_pattern`, `ExecStartPre=` and
`init_file` run programs, `skip_grant_tables` lets everybody in. So the names that may be set are listed here:
what rules recommend, and what else is set for speed. What is not listed is refused.
"""

import re
from collections.abc import Iterator

from mydyno.apply import change as kinds
from mydyno.apply.edits.texts import RefusedError
from mydyno.core.words import words
from mydyno.server.variables import catalogue

SYSCTLS = words(
    """
    fs.aio-max-nr fs.file-max fs.nr_open kernel.numa_balancing kernel.pid_max kernel.sem kernel.shmall
    kernel.shmmax kernel.shmmni kernel.threads-max kernel.sched_autogroup_enabled net.core.busy_poll
    net.core.busy_read net.core.default_qdisc net.core.netdev_budget net.core.netdev_max_backlog
    net.core.optmem_max net.core.rmem_default net.core.rmem_max net.core.somaxconn net.core.wmem_default
    net.core.wmem_max net.ipv4.ip_local_port_range net.ipv4.tcp_congestion_control
    net.ipv4.tcp_fin_timeout net.ipv4.tcp_keepalive_intvl net.ipv4.tcp_keepalive_probes
    net.ipv4.tcp_keepalive_time net.ipv4.tcp_max_syn_backlog net.ipv4.tcp_max_tw_buckets net.ipv4.tcp_mem
    net.ipv4.tcp_rmem net.ipv4.tcp_slow_start_after_idle net.ipv4.tcp_tw_reuse net.ipv4.tcp_wmem
    net.ipv4.udp_mem vm.dirty_background_bytes vm.dirty_background_ratio vm.dirty_bytes
    vm.dirty_expire_centisecs vm.dirty_ratio vm.dirty_writeback_centisecs vm.hugetlb_shm_group
    vm.max_map_count vm.min_free_kbytes vm.nr_hugepages vm.nr_overcommit_hugepages vm.overcommit_kbytes
    vm.overcommit_memory vm.overcommit_ratio vm.page-cluster vm.swappiness vm.vfs_cache_pressure
    vm.watermark_boost_factor vm.watermark_scale_factor vm.zone_reclaim_mode
    """
)
UNIT_PROPERTIES = words(
    """
    CPUAffinity CPUQuota CPUSchedulingPolicy CPUSchedulingPriority CPUWeight IOSchedulingClass
    IOSchedulingPriority IOWeight LimitCORE LimitMEMLOCK LimitNOFILE LimitNPROC LimitSTACK MemoryHigh
    MemoryLow MemoryMax MemoryMin MemorySwapMax NUMAMask NUMAPolicy Nice OOMPolicy OOMScoreAdjust TasksMax
    TimeoutStartSec TimeoutStopSec
    """
)
_MOUNT_OPTIONS = re.compile(
    r"noatime|relatime|strictatime|(no)?diratime|(no)?lazytime|defaults"
    r"|(no)?discard|discard=(sync|async)|(no)?barrier|barrier=(0|1|none|flush)|(no)?delalloc|(a)?sync|dirsync"
    r"|data=(ordered|journal|writeback)|commit=\d+|(max|min)_batch_time=\d+|journal_checksum"
    r"|allocsize=\d+[kmg]?|log(bufs|bsize)=\d+k?|inode64|largeio|nolargeio|swalloc|(no)?quota"
    r"|(no)?autodefrag|(no)?datacow|compress(-force)?(=[a-z0-9:]+)?|ssd|nossd|space_cache(=v[12])?"
    r"|nofail|x-systemd\.device-timeout=\w*"
)
"""Not among them: what changes who may do what (suid, dev, exec, user, ro), or where from (loop, bind)."""

_LAYERS = frozenset(
    {
        *("memory", "redo log", "binary log", "undo", "InnoDB I/O", "InnoDB files", "InnoDB concurrency"),
        *("InnoDB statistics", "connections", "threads", "limits", "tables", "temporary tables"),
        *("optimiser", "query cache", "MyISAM and Aria", "logs"),
    }
)
_UNITS = words(
    """
    bytes pages rows count percent number days seconds milliseconds microseconds switch enumeration
    """
)
_ALSO = words(
    """
    host_cache_size net_buffer_length net_read_timeout net_write_timeout tcp_keepalive_time tcp_nodelay
    skip_name_resolve performance_schema userstat optimizer_switch slave_parallel_mode sync_relay_log
    sync_relay_log_info max_relay_log_size relay_log_space_limit innodb_log_group_home_dir
    innodb_replication_delay log_output master_info_repository max_allowed_packet myisam_recover_options
    read_only relay_log_info_repository relay_log_recovery replica_max_allowed_packet
    replica_parallel_type replica_parallel_workers replica_preserve_commit_order slave_max_allowed_packet
    slave_parallel_threads slave_parallel_type slave_parallel_workers slave_preserve_commit_order
    """
)
_NEVER = words(
    """
    debug_no_sync default_table_encryption ignore_builtin_innodb innodb innodb_force_load_corrupted
    innodb_force_recovery innodb_read_only log_bin_trust_function_creators max_password_errors
    """
)
"""Of those layers: what costs data, encryption or protection."""

_NUMBERS = re.compile(r"-?\d+([ \t]+-?\d+)*")
_WORD = re.compile(r"[a-z][a-z0-9_-]*")
_COUNT = re.compile(r"\d+")
_OF_UNIT = re.compile(r"[A-Za-z0-9.,:+-]+%?( [A-Za-z0-9.,:+-]+%?)*")
"""Neither a specifier (%h) nor a backslash, which continues a line (systemd.unit(5), systemd.syntax(7))."""
_OF_VARIABLE = re.compile(r"[A-Za-z0-9_.,:=+/-]*")
"""Without what is a comment or an escape in an option file, or a quote: # ; \\ ' "."""
_DEVICE = re.compile(r"[A-Za-z0-9][A-Za-z0-9!_-]*")
_PATH = re.compile(r"(/[^/\s\\,]+)+|/")
_WORDS_OF_HUGE_PAGES = {
    "enabled": ("always", "madvise", "never"),
    "defrag": ("always", "defer", "defer+madvise", "madvise", "never"),
}


def refuse_foreign(change: kinds.Change) -> None:
    """Raises RefusedError for a name that mydyno does not set, or a value that is none of its kind."""
    fault = next(_faults(change), None)
    if fault is not None:
        raise RefusedError(
            f"{change.target!a}: {fault}",
            "set it by hand if it is meant: mydyno sets what docs/reference/trust.md lists",
        )


def is_variable_set(name: str) -> bool:
    """Whether mydyno sets this server variable: one for speed, or one that a rule recommends."""
    row = catalogue().get(name)
    is_kept = name in _NEVER or "encrypt" in name
    return name in _ALSO or (row is not None and not is_kept and row.layer in _LAYERS and row.unit in _UNITS)


def _faults(change: kinds.Change) -> Iterator[str]:
    match change:
        case kinds.SetVariable(name=name, value=value):
            if not is_variable_set(name):
                yield "is not a variable that mydyno sets"
            yield from _misshapen(value, _OF_VARIABLE)
        case kinds.RemoveVariable(name=name):
            if not is_variable_set(name):
                yield "is not a variable whose lines mydyno removes"
        case kinds.SetSysctl(name=name, value=value):
            if name not in SYSCTLS:
                yield "is not a kernel setting that mydyno changes"
            if not _WORD.fullmatch(value):
                yield from _misshapen(value, _NUMBERS)
        case kinds.SetUnit(name=name, value=value):
            if name not in UNIT_PROPERTIES:
                yield "is not a property of a unit that mydyno sets"
            yield from _misshapen(value, _OF_UNIT)
        case kinds.SetQueue(disk=device, attribute=attribute, value=value):
            yield from _misshapen(device, _DEVICE)
            yield from _misshapen(value, _WORD if attribute == "scheduler" else _COUNT)
        case kinds.SetArray(array=device, value=value):
            yield from _misshapen(device, _DEVICE)
            yield from _misshapen(value, _COUNT)
        case kinds.SetSysfs(path=path, value=value):
            words = _WORDS_OF_HUGE_PAGES[path.rpartition("/")[2]]
            if value not in words:
                yield f"the value {value!a} is none of {', '.join(words)}"
        case kinds.SetMountOptions():
            yield from _misshapen(change.mount_point, _PATH)
            for option in (*change.add, *change.remove):
                if not _MOUNT_OPTIONS.fullmatch(option):
                    yield f"{option!a} is not a mount option that mydyno changes"
        case kinds.ByHand():
            return


def _misshapen(text: str, form: re.Pattern[str]) -> Iterator[str]:
    if not form.fullmatch(text):
        yield f"{text!a} has characters that do not belong there"
