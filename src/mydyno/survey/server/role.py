"""What an account may see, by its grants; and what else depends on a server: replicas, a cluster, a service.

A server shows an account without the right to more only its own sessions and the tables that it may use, and
no error: only the grants distinguish such an answer from a complete one (MySQL Reference Manual, "SHOW
PROCESSLIST Statement"; "INFORMATION_SCHEMA Tables", Privileges).
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from mydyno.core.server_variables import ON_WORDS
from mydyno.core.server_version import Version
from mydyno.survey.asking import Asking
from mydyno.survey.facts import Role

_RENAMED = (8, 0, 22)
"""MySQL's first release with SHOW REPLICA STATUS (MySQL 8.0 Release Notes, 8.0.22); 8.4 dropped the old."""
_DIVIDED = (10, 5, 9)
"""MariaDB's first release whose SLAVE MONITOR shows a replica's status (MariaDB Documentation, "GRANT")."""
_DUMPING = ("Binlog Dump", "Binlog Dump GTID")
"""Commands of the threads that send the binary log to replicas (MySQL Reference Manual, "Replication Source
Thread States")."""
_SERVICES = (
    (".rds.amazonaws.com", "Amazon RDS"),
    (".rds.amazonaws.com.cn", "Amazon RDS"),
    (".database.azure.com", "Azure Database"),
)
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


def read_role(
    asking: Asking,
    version: Version,
    variables: Mapping[str, str],
    plugins: Collection[str] | None,
    rights: Rights | None,
    host: str | None,
) -> Role:
    """The role, from what the server shows; `host` is the name by which it was reached.

    What the account may not see is None, with its reason in `asking.unread`. `plugins`, `rights` None: not
    known.
    """
    return Role(
        replica=_is_replica(asking, version),
        source=_is_source(asking, rights),
        galera=variables.get("wsrep_on", "").casefold() in ON_WORDS
        and variables.get("wsrep_provider", "none") not in ("", "none"),
        group_replication=_is_member(variables, plugins),
        managed=managed_by(variables, host),
    )


def _is_replica(asking: Asking, version: Version) -> bool | None:
    if version.is_mariadb:
        statement, right = "SHOW ALL SLAVES STATUS", "REPLICATION CLIENT"
        # REPLICA MONITOR, its other name, is none of MariaDB 10.5.8 and before.
        right = "SLAVE MONITOR" if version.numbers >= _DIVIDED else right
    else:
        statement = f"SHOW {'REPLICA' if version.numbers >= _RENAMED else 'SLAVE'} STATUS"
        right = "REPLICATION CLIENT"
    rows = asking.rows("whether the server is a replica", statement, f"{right} ON *.*")
    return None if rows is None else bool(rows)


def _is_source(asking: Asking, rights: Rights | None) -> bool | None:
    """Without the right PROCESS a server shows an account its own sessions only, and no error."""
    what = "whether replicas follow the server"
    sessions = asking.rows(what, "SHOW PROCESSLIST")
    if sessions is None:
        return None
    if any(str(session[4]) in _DUMPING for session in sessions):
        return True
    if rights is None or rights.all_sessions:
        return None if rights is None else False
    asking.lacks(what, "an account without PROCESS sees its own sessions only", "PROCESS ON *.*")
    return None


def _is_member(variables: Mapping[str, str], plugins: Collection[str] | None) -> bool | None:
    if not variables.get("group_replication_group_name"):
        return False
    return None if plugins is None else "group_replication" in plugins


def managed_by(variables: Mapping[str, str], host: str | None) -> str | None:
    """The service whose console owns the settings; None: it is not managed.

    Amazon shows itself by its folder and variables, Google by its version's name, Azure by the address.
    """
    if "aurora_version" in variables:
        return "Amazon Aurora"
    if variables.get("basedir", "").startswith("/rdsdbbin"):
        return "Amazon RDS"
    if "-google" in variables.get("version", "") or "(Google)" in variables.get("version_comment", ""):
        return "Cloud SQL"
    name = (host or "").lower().rstrip(".")
    return next((service for suffix, service in _SERVICES if name.endswith(suffix)), None)
