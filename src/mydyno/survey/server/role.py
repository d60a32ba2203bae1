"""What else depends on a server: replicas, a cluster, the service that manages it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from mydyno.core.server_variables import ON_WORDS
from mydyno.core.server_version import Version
from mydyno.facts import Role
from mydyno.survey.asking import Asking

_RENAMED = (8, 0, 22)
"""MySQL's first release with SHOW REPLICA STATUS (MySQL 8.0 Release Notes, 8.0.22); 8.4 dropped the old."""
_DUMPING = ("Binlog Dump", "Binlog Dump GTID")
"""Commands of the threads that send the binary log to replicas (MySQL Reference Manual, "Replication Source
Thread States")."""
_SERVICES = (
    (".rds.amazonaws.com", "Amazon RDS"),
    (".rds.amazonaws.com.cn", "Amazon RDS"),
    (".database.azure.com", "Azure Database"),
)


def read_role(
    asking: Asking, version: Version, variables: Mapping[str, str], plugins: Collection[str], host: str | None
) -> Role:
    """The role that the server's own words tell; `host` is the name by which it was reached."""
    if version.is_mariadb:
        statement, grant = "SHOW ALL SLAVES STATUS", "REPLICATION CLIENT, REPLICA MONITOR ON *.*"
        grant = grant if version.numbers >= (10, 5, 0) else "REPLICATION CLIENT ON *.*"
    else:
        word = "REPLICA" if version.numbers >= _RENAMED else "SLAVE"
        statement, grant = f"SHOW {word} STATUS", "REPLICATION CLIENT ON *.*"
    following = asking.rows("whether the server is a replica", statement, grant)
    # Without the right PROCESS a server shows an account its own sessions only, and no error.
    sessions = asking.rows("whether replicas follow the server", "SHOW PROCESSLIST") or []
    return Role(
        replica=bool(following),
        source=any(str(session[4]) in _DUMPING for session in sessions),
        galera=_on(variables, "wsrep_on") and variables.get("wsrep_provider", "none") not in ("", "none"),
        group_replication="group_replication" in plugins
        and bool(variables.get("group_replication_group_name")),
        managed=managed_by(variables, host),
    )


def managed_by(variables: Mapping[str, str], host: str | None) -> str | None:
    """The service whose console owns the settings; None: nobody's.

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


def _on(variables: Mapping[str, str], name: str) -> bool:
    return variables.get(name, "").casefold() in ON_WORDS
