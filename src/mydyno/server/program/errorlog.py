"""What a server's error log says about a failure, and what to do about it."""

import re

_QUOTED_LINES = 5
# Some complaints come before the log has its form: `mariadbd: Character set 'x' is not ...`.
_SERIOUS = re.compile(
    r"\[(?:ERROR|FATAL)\]|^ERROR: |\b(?:mysqld|mariadbd) got signal\b|^\S*(?:mysqld|mariadbd): "
)

# Text in the log -> the way out. The first that matches wins, so the particular come before the general.
_HINTS = (
    (r"Address already in use|Bind on TCP/IP port", "another program has that port: choose another"),
    (
        r"Cannot allocate (?:\d+ bytes of )?memory|Out of memory|Failed to (?:map|reserve)|"
        r"Cannot map|innodb_buffer_pool_size=\S+: failed",
        "the machine cannot give that much memory: lower innodb_buffer_pool_size",
    ),
    (r"No space left on device|Errcode: 28\b|error:? 28\b", "the disk is full: free some space"),
    (
        r"[Uu]nknown (?:variable|option|suffix)|ambiguous option|not a compiled character set|"
        r"Error while setting value|doesn't support value|Wrong value|requires an argument",
        "the server does not take one of the settings: correct it in the experiment's `config`",
    ),
    (
        r"Permission denied|Errcode: 13\b|error:? 13\b|Operating system error number 13\b",
        "the server's user may not reach its files: choose a lab that it may enter; where AppArmor or "
        "SELinux guards the packaged server, a private one needs its own profile",
    ),
    (
        r"io_setup\(\) failed|io_uring_queue_init\(\) failed|Cannot initialize AIO",
        "the kernel gives no more asynchronous I/O (fs.aio-max-nr): stop other servers, or set "
        "innodb_use_native_aio to OFF",
    ),
    (r"Too many open files|Errcode: 24\b", "the limit of open files is too low: raise it with `ulimit -n`"),
    (
        r"Unable to lock|Can't lock aria|Check that you do not already have another",
        "another server is using this data directory: run `mydyno cleanup`",
    ),
    (
        r"page size|wrong space ID|[Uu]pgrade after a crash is not supported|Invalid redo log header|"
        r"unsupported redo log",
        "the dataset was made by another release or with other page settings: remove it from the lab's cache",
    ),
)


def telling_lines(log: str) -> tuple[str, ...]:
    """The first few lines that report an error, as the first is the cause; without any, the last few."""
    serious = _serious(log)
    return serious[:_QUOTED_LINES] or _lines(log)[-_QUOTED_LINES:]


def hint(log: str) -> str | None:
    """The way out that the log's complaints suggest; None when none is known."""
    text = "\n".join(_serious(log))
    return next((advice for pattern, advice in _HINTS if re.search(pattern, text)), None)


def _serious(log: str) -> tuple[str, ...]:
    return tuple(line for line in _lines(log) if _SERIOUS.search(line))


def _lines(log: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in log.splitlines() if line.strip())
