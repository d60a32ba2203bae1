"""How data files are opened and synced.

Without O_DIRECT a page that InnoDB reads is in memory twice, in the buffer pool and in the cache of the
file system, and writes go through that cache. O_DIRECT bypasses it: the memory is the pool's, and the
kernel has no own dirty pages to write at a bad moment. It is the default since MySQL 8.4 and MariaDB 10.6.
MariaDB 11.0 split it into four settings, of which innodb_data_file_buffering is this one.

It is advised only where the pool holds the data or most of the memory: as long as the pool is small, what
it cannot hold comes from the file system's cache, and O_DIRECT would send every miss to the disk. tmpfs,
network and overlay file systems are left alone.

nosync and littlesync are for tests of the server and skip syncs that recovery needs. O_DIRECT_NO_FSYNC
skips those of data files: after a crash a file may be shorter than InnoDB thinks on file systems that keep
sizes in their journal (XFS), and a disk's own cache is not emptied.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_flush_method"
_BUFFERING = "innodb_data_file_buffering"
_UNSAFE = ("nosync", "littlesync")
_LESS_SAFE = "o_direct_no_fsync"
_DIRECT = ("o_direct", "async_unbuffered", "unbuffered")
_FILE_SYSTEMS = ("ext4", "xfs", "ext3", "btrfs")
_MOST_OF_MEMORY = 0.5


@Rule(
    checks="how data files are opened and synced, and the pool's share of memory and data",
    why="Two copies of a page waste memory, and skipped syncs lose data.",
    expected="more memory for what is used, steadier writes; safety where syncs were skipped",
    durability="kept, or raised where syncs were skipped",
    risk="each buffer pool miss reads the disk: follow buffer-pool-size as well",
    sources=(
        'MySQL Reference Manual, "InnoDB Startup Options and System Variables", innodb_flush_method',
        'MySQL 8.4 Reference Manual, "What Is New in MySQL 8.4 since MySQL 8.0", table of new defaults',
        'MariaDB Documentation, "InnoDB Flush Method"',
    ),
    variables=(_NAME, _BUFFERING),
)
def rule(system: System, targets: Targets) -> Judgement:
    server = system.server
    method = (server.text(_NAME) or "").casefold()
    divided = server.has(_BUFFERING)
    if not divided and not server.has(_NAME):
        return Unknown(_NAME)
    changes = _changes(server, method)
    if method in _UNSAFE and not divided:
        return _unsafe(server, changes)
    if method == _LESS_SAFE:
        return _less_safe(server, changes)
    if divided and server.switch(_BUFFERING) is False:
        return Fine(f"{_BUFFERING} is OFF: data files are opened with O_DIRECT")
    if method in _DIRECT and not divided:
        return Fine(f"{_NAME} is {server.text(_NAME)}")
    lies_on = system.host.storage.of("data") if system.host else None
    if lies_on is not None and lies_on.kind not in _FILE_SYSTEMS:
        return NotHere(f"the data is on {lies_on.kind}, where O_DIRECT does not help or does not work")
    if lies_on is None:
        return Unknown("the file system under the data")
    if (kept := _cache_is_needed(system, targets)) is not None:
        return kept
    return _buffered(server, changes)


def _changes(server: Server, method: str) -> tuple[SetVariable, ...]:
    """In MariaDB 11 the old name still decides at start over what it was divided into (tried on 11.8)."""
    wanted: dict[str, Setting] = {_BUFFERING: "OFF"} if server.has(_BUFFERING) else {_NAME: "O_DIRECT"}
    if server.has(_BUFFERING) and method not in _DIRECT:
        wanted[_NAME] = "O_DIRECT"
    return settings(server, wanted)


def _cache_is_needed(system: System, targets: Targets) -> Judgement | None:
    """Why the file system's cache should stay in use; None when the pool does without it."""
    pool = pool_bytes(system, targets)
    if system.host is None or pool is None:
        return Unknown("the machine's memory")
    schema = system.server.schema_facts
    data = schema.innodb_bytes if schema else None
    memory = system.host.memory.usable
    if data is None and pool < _MOST_OF_MEMORY * memory:
        return Unknown("the size of InnoDB's tables: whether the pool takes all of them")
    if (data is not None and data <= pool) or pool >= _MOST_OF_MEMORY * memory:
        return None
    return Fine(
        f"a pool of {format_bytes(pool)} of {format_bytes(memory)}: the file system's cache serves the rest"
    )


def _unsafe(server: Server, changes: tuple[SetVariable, ...]) -> Finding:
    return finding(
        title=f"{_NAME} is {server.text(_NAME)}: syncs that recovery relies on are skipped",
        evidence=(f"{_NAME} = {server.text(_NAME)}, which the manual keeps for tests of the server",),
        recommendation=f"set {_NAME} to O_DIRECT",
        changes=changes,
        severity=Severity.CRITICAL,
        effect=worse("throughput", "medium", "data files are synced again"),
        durability="raises",
        durability_says="the database can be recovered after a power cut",
    )


def _less_safe(server: Server, changes: tuple[SetVariable, ...]) -> Finding:
    return finding(
        title=f"{_NAME} is {server.text(_NAME)}: data files are not synced",
        evidence=(f"{_NAME} = {server.text(_NAME)}; what the disk's own cache holds is lost in a power cut",),
        recommendation=f"set {_NAME} to O_DIRECT, unless every disk has a cache that survives a power cut",
        changes=changes,
        severity=Severity.HIGH,
        effect=worse("throughput", "small", "data files are synced again"),
        durability="raises",
        durability_says="pages that a checkpoint relies on are on the disk",
    )


def _buffered(server: Server, changes: tuple[SetVariable, ...]) -> Judgement:
    if not changes:
        return Fine("data files are opened with O_DIRECT")
    name = changes[0].name
    return finding(
        title="Pages are in memory twice: in the buffer pool and in the file system's cache",
        evidence=(f"{name} = {server.text(name) or 'not set, which is fsync'}",),
        recommendation=f"set {name} to {changes[0].value}",
        changes=changes,
        severity=Severity.MEDIUM,
        effect=better("memory", "medium", "no second copy of the data in memory; steadier writes"),
    )
