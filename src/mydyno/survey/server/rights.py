"""What an account may see, by its grants: pure.

A server shows an account without the right to more only its own sessions and the tables that it may use, and
no error: only the grants distinguish such an answer from a complete one (MySQL Reference Manual, "SHOW
PROCESSLIST Statement"; "INFORMATION_SCHEMA Tables", Privileges).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_GLOBAL = re.compile(r"^GRANT (.+?) ON \*\.\* TO ")
_PARTIAL_REVOKE = re.compile(r"^REVOKE (.+?) ON .+ FROM ")
"""MySQL with partial_revokes shows schemas that a global right leaves out like this."""
_SOME_COLUMNS = re.compile(r"^GRANT [^`]*\(.+\).* ON ")
_ALL = "ALL PRIVILEGES"


@dataclass(frozen=True)
class Rights:
    all_tables: bool
    """It sees every table, with all of its columns and indexes."""
    all_sessions: bool
    some_columns: bool
    """Of some tables it sees only a part of the columns, and of the indexes on them."""


def rights_of(grants: Iterable[str]) -> Rights:
    """From the lines of SHOW GRANTS for the session's own account and its active roles."""
    lines = tuple(grants)
    everywhere = {name for line in lines for name in _names(_GLOBAL, line)}
    left_out = {name for line in lines for name in _names(_PARTIAL_REVOKE, line)}
    return Rights(
        all_tables=bool(everywhere & {_ALL, "SELECT"}) and not left_out & {_ALL, "SELECT"},
        all_sessions=bool(everywhere & {_ALL, "PROCESS"}),
        some_columns=any(_SOME_COLUMNS.match(line) for line in lines),
    )


def _names(pattern: re.Pattern[str], line: str) -> tuple[str, ...]:
    match = pattern.match(line)
    return tuple(name.strip().upper() for name in match[1].split(",")) if match else ()
