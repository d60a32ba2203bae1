"""Spaces that mydyno proposes: variables that loads of one kind are known to answer to, for this release.

What a release does not have, or lists without heeding it, is left out; ranges are cut to what its binary
takes, sizes to the machine. Nothing here lowers the durability.
"""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace

from mydyno.lab.spec.paths import CONFIG_PATH
from mydyno.lab.spec.search import Parameter
from mydyno.server.program.binary import ServerBinary
from mydyno.server.program.config import argument
from mydyno.server.variables import catalogue

Range = tuple[float, float]
_MIB = 1 << 20
_LEAST_POOL = 16 * _MIB
_PART_OF_MEMORY = 0.5
"""The pool's share: the rest is for connections, the page cache and the load itself."""
_PART_OF_DISK = 0.1
_MOST_REDO = 4 << 30


@dataclass(frozen=True)
class Room:
    """What there is for the server."""

    memory_bytes: int
    free_bytes: int


@dataclass(frozen=True)
class _Varied:
    """A variable with its words, or with the range that is worth trying; sizes in bytes."""

    name: str
    words: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 0.0
    log: bool = False
    size: bool = False
    when: tuple[str, tuple[str, ...]] | None = None


_POOL = _Varied("innodb_buffer_pool_size", log=True, size=True)
_LOG = _Varied("innodb_log_file_size", log=True, size=True)
_REDO = _Varied("innodb_redo_log_capacity", log=True, size=True)
_METHOD = _Varied("innodb_flush_method", ("fsync", "O_DIRECT"))
_HASH = _Varied("innodb_adaptive_hash_index", ("OFF", "ON"))
_SCAN = _Varied("innodb_lru_scan_depth", low=256, high=8192, log=True)
_READERS = _Varied("innodb_read_io_threads", low=2, high=32, log=True)
_HANDLING = _Varied("thread_handling", ("one-thread-per-connection", "pool-of-threads"))
_POOLED = _Varied(
    "thread_pool_size", low=1, high=32, log=True, when=("thread_handling", ("pool-of-threads",))
)

_PRESETS: Mapping[str, tuple[_Varied, ...]] = {
    "innodb-write": (
        *(_POOL, _LOG, _REDO, _METHOD, _HASH, _SCAN),
        _Varied("innodb_io_capacity", low=100, high=20_000, log=True),
        _Varied("innodb_flush_neighbors", ("0", "1")),
        _Varied("innodb_max_dirty_pages_pct", low=50, high=95),
        _Varied("innodb_max_dirty_pages_pct_lwm", low=0, high=50),
        _Varied("innodb_write_io_threads", low=2, high=32, log=True),
        _Varied("innodb_change_buffering", ("none", "all")),
        _Varied("innodb_log_writer_threads", ("OFF", "ON")),
        *(_HANDLING, _POOLED),
    ),
    "innodb-read": (
        *(_POOL, _METHOD, _HASH, _SCAN, _READERS),
        _Varied("innodb_read_ahead_threshold", low=0, high=64),
        _Varied("innodb_random_read_ahead", ("OFF", "ON")),
        _Varied("innodb_old_blocks_pct", low=5, high=95),
        *(_HANDLING, _POOLED),
    ),
    "connections": (
        *(_HANDLING, _POOLED),
        _Varied("thread_cache_size", low=0, high=256),
        _Varied("back_log", low=50, high=2000, log=True),
        _Varied("table_open_cache", low=200, high=8000, log=True),
    ),
}


def names_of(preset: str) -> tuple[str, ...]:
    """Every variable that the preset may vary, whatever the release."""
    return tuple(each.name for each in _PRESETS[preset])


def words_of(preset: str, binary: ServerBinary) -> tuple[tuple[str, str], ...]:
    """(variable, word) of each variable that the preset varies by words and the binary has."""
    return tuple(
        (each.name, word) for each in _PRESETS[preset] if _there(each.name, binary) for word in each.words
    )


def preset_space(
    preset: str, binary: ServerBinary, limits: Mapping[str, Range], refused: Container[str], room: Room
) -> dict[str, Parameter]:
    """The parameters of the preset, by path, for this binary and machine; `limits` as `ranges` gives them,
    `refused` the arguments that the binary does not take (`refused_values`)."""
    there = {}
    for each in _PRESETS[preset]:
        words = tuple(word for word in each.words if argument(each.name, word) not in refused)
        if _there(each.name, binary) and (len(words) > 1 or not each.words):
            there[each.name] = replace(each, words=words)
    if "innodb_redo_log_capacity" in there:
        there.pop("innodb_log_file_size", None)
    return dict(_parameters(there, limits, room))


def _there(name: str, binary: ServerBinary) -> bool:
    row = catalogue().get(name)
    return name in binary.options and (row is None or not row.ignored(binary.version))


def _parameters(
    there: Mapping[str, _Varied], limits: Mapping[str, Range], room: Room
) -> Iterator[tuple[str, Parameter]]:
    for name, each in there.items():
        when = {}
        if each.when is not None:
            if each.when[0] not in there:
                continue
            when = {f"{CONFIG_PATH}{each.when[0]}": list(each.when[1])}
        if each.words:
            yield f"{CONFIG_PATH}{name}", Parameter.model_validate({"values": list(each.words), "when": when})
            continue
        low, high = _cut(_window(each, room), limits.get(name))
        if low < high:
            ends = [f"{int(end) // 1024}K" for end in (low, high)] if each.size else [int(low), int(high)]
            raw = {"range": ends, "log": each.log and low > 0, "when": when}
            yield f"{CONFIG_PATH}{name}", Parameter.model_validate(raw)


def _window(each: _Varied, room: Room) -> Range:
    if each.name == _POOL.name:
        return _LEAST_POOL, _PART_OF_MEMORY * room.memory_bytes // _MIB * _MIB
    if each.name in (_LOG.name, _REDO.name):
        return 16 * _MIB, min(_MOST_REDO, _PART_OF_DISK * room.free_bytes) // _MIB * _MIB
    return each.low, each.high


def _cut(window: Range, limit: Range | None) -> Range:
    if limit is None:
        return window
    return max(window[0], limit[0]), min(window[1], limit[1])
