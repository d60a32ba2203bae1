"""What a server's error log says about its end, and what to do about it."""

from __future__ import annotations

import re

_QUOTED_LINES = 5
_SERIOUS = re.compile(r"\[(ERROR|FATAL)\]|^ERROR: |\bmysqld got signal\b|\bmariadbd got signal\b")

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
        r"unknown (?:variable|option)|ambiguous option|unknown suffix|Error while setting value|"
        r"doesn't support value|Wrong value|requires an argument",
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
        r"page size|[Uu]pgrade after a crash is not supported|Invalid redo log header|unsupported redo log",
        "the dataset was made by another release or with other page settings: remove it from the lab's cache",
    ),
)


def last_words(log: str) -> tuple[str, ...]:
    """The last few lines that tell of an error, or when there are none, the last few lines."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    serious = [line for line in lines if _SERIOUS.search(line)]
    return tuple((serious or lines)[-_QUOTED_LINES:])


def hint(log: str) -> str | None:
    """The way out that the log's serious lines suggest; None when none is known."""
    text = "\n".join(last_words(log))
    return next((advice for pattern, advice in _HINTS if re.search(pattern, text)), None)
