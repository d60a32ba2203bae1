"""What an experiment file may set only with `--trust`: a file of another user runs no code here.

Names of settings: the MySQL Reference Manual ("Server System Variables", "Server Command Options"), the
MariaDB documentation ("Server System Variables", the pages of its plugins) and the Percona Server
documentation, of all releases since 5.1. What mydyno refuses with and without trust is in
`core/server_variables.py`.
"""

import re
from collections.abc import Iterator

from mydyno.core.document.problems import Problem, shorten
from mydyno.core.document.tree import Location
from mydyno.core.server_variables import IN_DATA_DIRECTORY, OFF_WORDS, ON_WORDS, possible_names
from mydyno.lab.spec.config_value import ConfigValue
from mydyno.lab.spec.experiment import Variant
from mydyno.lab.spec.generators import OwnFile
from mydyno.lab.spec.workload import Workload
from mydyno.lab.workload.external_program.passed import dashed
from mydyno.lab.workload.external_program.slap import SQL_OPTIONS, ExternalSlap
from mydyno.lab.workload.statement_trust import WHY_STATEMENT, reaches, reaching_statements
from mydyno.server.access.address import External

_CODE = "it makes the server load code from a file"
_PROGRAM = "it makes the server run a program"
_SQL = "it makes the server run the SQL in its value"
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
"""Ends of the names of settings that hold a path: of plugins that are not listed above."""
_NO_PLACES = frozenset(
    {"aria_sync_log_dir", "innodb_buffer_pool_in_core_file", "innodb_validate_tablespace_paths"}
)
"""Names that end so and whose values are words."""


_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def trust_needed(written: str, value: ConfigValue, *, external: bool = False) -> str | None:
    """Why a setting needs `--trust`; None when it does not. `written` may have modifiers in front (`loose-`).

    A place inside the data directory needs none on a private server, whose data mydyno has made; elsewhere it
    is refused anyway. An `external` server has other data there.
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


def trust_problems(
    variant: Variant, *, own_server: bool = False, own_data: bool = False
) -> Iterator[Problem]:
    """Everything in one combination of levels that needs trust, at its place in the file.

    `own_server`, `own_data`: the external server, the data were chosen on the command line, not by the file.
    """
    if variant.setup.data is not None and not own_data:
        message = "data needs --trust: the server runs the SQL, triggers and routines in it"
        yield variant.problem(("setup", "data"), message, at_key=True)
    server = variant.setup.server
    for name, value in server.config.items():
        if why := trust_needed(name, value, external=server.external is not None):
            message = f"{name} needs --trust: {why}"
            yield variant.problem(("setup", "server", "config", name), message, at_key=True)
    if server.external is not None and not own_server and _sends_password(server.external):
        message = f"password_file needs --trust: the password is sent to {server.external.host}"
        yield variant.problem(("setup", "server", "external", "password_file"), message, at_key=True)
    for location, sql in _of_workload(variant.workload):
        message = f"{shorten(sql)!r} needs --trust: {WHY_STATEMENT}"
        yield variant.problem(location, message)


def _of_workload(workload: Workload) -> Iterator[tuple[Location, str]]:
    """The statements of a file or of options that reach beyond the tables of the load, and where they are."""
    options = workload.options
    if isinstance(options, OwnFile):
        for sql in reaching_statements(options.resolve().program):
            yield ("workload", "file", "path"), sql
    if isinstance(options, ExternalSlap):
        for name, value in options.options.items():
            if dashed(name) in SQL_OPTIONS and any(map(reaches, str(value).split(";"))):
                yield ("workload", "mysqlslap", "options", name), str(value)


def _sends_password(external: External) -> bool:
    """Whether a password of this machine goes to a host that the file names."""
    return external.password_file is not None and external.host not in (None, *_LOOPBACK)
