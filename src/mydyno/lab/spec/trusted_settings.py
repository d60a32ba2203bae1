"""Server variables that let a server load code, run programs, talk to other machines, or use files outside
its data directory.

An experiment may set them only with `--trust` (docs/reference/trust.md). Names: the MySQL Reference Manual
("Server System Variables", "Server Command Options"), the MariaDB documentation ("Server System Variables"
and the pages of its plugins) and the Percona Server documentation, of all releases since 5.1. What
mydyno refuses whether it is trusted or not is in `core/server_variables.py`.
"""

from __future__ import annotations

import re

from mydyno.core.server_variables import IN_DATA_DIRECTORY, OFF_WORDS, ON_WORDS, possible_names
from mydyno.lab.spec.config_value import ConfigValue

_CODE = "it makes the server load code from a file"
_PROGRAM = "it makes the server run a program"
_SQL = "it makes the server run SQL of its own"
_READS = "it makes the server read a file outside its data directory"
_WRITES = "it says where the server writes files"
_NETWORK = "it makes the server talk to other machines"
_KEYS = "it names files or servers with keys"
_RIGHTS = "it lets others use the server, or files outside its data directory"

TRUSTED: dict[str, str] = {
    **dict.fromkeys(
        (
            *("plugin_dir", "plugin_load", "plugin_load_add", "early_plugin_load", "plugin_maturity"),
            *("allow_suspicious_udfs", "connect_class_path", "connect_java_wrapper", "connect_jvm_path"),
            *("innodb_ft_server_stopword_library", "malloc_lib"),
        ),
        _CODE,
    ),
    **dict.fromkeys(("init_connect", "init_replica", "init_slave"), _SQL),
    **dict.fromkeys(
        (
            *("character_sets_dir", "des_key_file", "ft_stopword_file", "language"),
            *("cracklib_password_check_dictionary", "validate_password_dictionary_file"),
            *("defaults_group_suffix", "login_path", "oqgraph_file", "mecab_rc_file"),
        ),
        _READS,
    ),
    **dict.fromkeys(
        (
            *("debug", "debug_dbug", "innodb_log_arch_dir", "innodb_parallel_doublewrite_path"),
            *("innodb_redo_log_archive_dirs", "log_ddl_recovery", "log_isam", "mroonga_log_file"),
            *("mroonga_query_log_file", "optimizer_trace_file", "query_cache_trace_file"),
            *("rocksdb_datadir", "rocksdb_persistent_cache_path", "rocksdb_wal_dir", "secure_log_path"),
            *("sql_error_log_filename", "tokudb_data_dir", "tokudb_log_dir", "tokudb_tmp_dir"),
        ),
        _WRITES,
    ),
    **dict.fromkeys(
        (
            *("handlersocket_address", "master_host", "proxy_protocol_networks", "redirect_url"),
            *("report_host", "s3_host_name", "gssapi_keytab_path", "gssapi_principal_name"),
        ),
        _NETWORK,
    ),
    **dict.fromkeys(("symbolic_links", "utility_user", "utility_user_password"), _RIGHTS),
}
"""Plain name -> why it needs trust, for every value."""

FAMILIES: dict[str, str] = {
    "plugin_": _CODE,
    "wsrep_": "it lets a cluster's library or script run, or reaches other machines",
    "keyring": _KEYS,
    "component_keyring": _KEYS,
    "file_key_management": _KEYS,
    "aws_key_management": _KEYS,
    "hashicorp_key_management": _KEYS,
    "caching_sha2_password_private": _KEYS,
    "caching_sha2_password_public": _KEYS,
    "sha256_password_private": _KEYS,
    "sha256_password_public": _KEYS,
    "ssl_": _KEYS,
    "admin_ssl_": _KEYS,
    "mysqlx_ssl_": _KEYS,
    "master_ssl_": _KEYS,
    "authentication_": "it names files or servers that accounts are checked with",
    "audit_log": _WRITES,
    "server_audit": _WRITES,
    "clone_": _NETWORK,
    "feedback": _NETWORK,
    "group_replication": _NETWORK,
    "ndb_": _NETWORK,
    "percona_telemetry": _NETWORK,
    "s3_": _NETWORK,
    "spider_": _NETWORK,
    "telemetry": _NETWORK,
}
"""Beginnings of names of which all need trust, and why."""

_PLACE = re.compile(
    r"(^|_)(capath|cmd|command|conf|config|crlpath|datadir|dir|directory|dirs|filename|file|home|keytab|library"
    r"|path|paths|proxy|script|socket|uri|url)$"
)
"""Ends of names that say a place: of plugins that nobody has entered above."""
_NO_PLACES = frozenset(
    {"aria_sync_log_dir", "innodb_buffer_pool_in_core_file", "innodb_validate_tablespace_paths"}
)
"""Names that end so and whose values are words."""


def trust_needed(written: str, value: ConfigValue, *, external: bool = False) -> str | None:
    """Why a setting needs `--trust`; None when it does not. `written` may have modifiers in front (`loose-`).

    A place inside the data directory needs none on a private server, whose data mydyno has made; elsewhere it
    is refused anyway. An `external` server has data of its own there.
    """
    names = possible_names(written.replace(".", "_"))
    if any(name in IN_DATA_DIRECTORY for name in names):
        return _WRITES if external and not _is_plain(value) else None
    if any(name in _NO_PLACES for name in names):
        return None
    for name in names:
        if reason := TRUSTED.get(name) or _of_family(name):
            return reason
    return _WRITES if any(map(_PLACE.search, names)) and not _is_plain(value) else None


def _of_family(name: str) -> str | None:
    return next((why for family, why in FAMILIES.items() if name.startswith(family)), None)


def _is_plain(value: ConfigValue) -> bool:
    """A switch, a number or nothing, which name no file."""
    return (
        not isinstance(value.written, str)
        or value.number is not None
        or value.written.lower() in ON_WORDS | OFF_WORDS | {""}
    )
