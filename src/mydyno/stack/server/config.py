"""The private my.cnf: what mydyno sets itself, what it lets an experiment set, and how a value is written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

Setting = str | int | float | bool
"""A value of a setting as an experiment gives it."""

ON_WORDS = frozenset({"on", "true", "1", "yes"})
OFF_WORDS = frozenset({"off", "false", "0", "no"})

_OWN_PLACE = "mydyno gives every server a private place of its own"
_OWN_NETWORK = "mydyno decides how its servers are reached, so that no port is opened by surprise"
_OWN_ACCESS = "mydyno sets a random password at each start"
_OWN_LIFE = "mydyno starts and stops the server itself"
_OWN_LOG = "mydyno keeps the error log with the trial"

_CONTROLLED = {
    "admin_address": _OWN_NETWORK,
    "admin_port": _OWN_NETWORK,
    "basedir": "mydyno uses the folder that belongs to the binary",
    "bind_address": _OWN_NETWORK,
    "bootstrap": _OWN_LIFE,
    "chroot": _OWN_PLACE,
    "console": _OWN_LOG,
    "daemonize": _OWN_LIFE,
    "datadir": _OWN_PLACE,
    "defaults_extra_file": _OWN_LIFE,
    "defaults_file": _OWN_LIFE,
    "extra_port": _OWN_NETWORK,
    "gdb": _OWN_LIFE,
    "getopt_prefix_matching": "mydyno checks every name in full",
    "help": _OWN_LIFE,
    "init_file": _OWN_ACCESS,
    "initialize": _OWN_LIFE,
    "initialize_insecure": _OWN_LIFE,
    "lc_messages_dir": "mydyno uses the folder that belongs to the binary",
    "log_basename": _OWN_PLACE,
    "log_error": _OWN_LOG,
    "mysqlx": _OWN_NETWORK,
    "mysqlx_bind_address": _OWN_NETWORK,
    "mysqlx_port": _OWN_NETWORK,
    "mysqlx_socket": _OWN_NETWORK,
    "no_defaults": _OWN_LIFE,
    "pid_file": _OWN_PLACE,
    "port": _OWN_NETWORK,
    "print_defaults": _OWN_LIFE,
    "secure_file_priv": _OWN_PLACE,
    "skip_grant_tables": _OWN_ACCESS,
    "skip_networking": _OWN_NETWORK,
    "socket": _OWN_PLACE,
    "tmpdir": _OWN_PLACE,
    "user": "mydyno runs the server as its own user, or as `nobody` when it is started by root",
    "verbose": _OWN_LIFE,
    "version": "only the server can say its version",
}

# Settings whose value is a place on disk. A place of their own would be left behind after the trial,
# and the frozen dataset would not be there.
_PLACES = frozenset(
    {
        "aria_log_dir_path",
        "general_log_file",
        "innodb_buffer_pool_filename",
        "innodb_data_home_dir",
        "innodb_directories",
        "innodb_doublewrite_dir",
        "innodb_log_group_home_dir",
        "innodb_temp_tablespaces_dir",
        "innodb_tmpdir",
        "innodb_undo_directory",
        "log_bin",
        "log_bin_index",
        "log_slow_query_file",
        "log_tc",
        "master_info_file",
        "relay_log",
        "relay_log_index",
        "relay_log_info_file",
        "slave_load_tmpdir",
        "replica_load_tmpdir",
        "slow_query_log_file",
    }
)


def refusal(name: str, value: Setting) -> str | None:
    """Why an experiment may not set `name` (its plain spelling) to `value`; None when it may."""
    if name in _CONTROLLED:
        return f"an experiment may not set it: {_CONTROLLED[name]}"
    if name in _PLACES and isinstance(value, str):
        place = PurePosixPath(value)
        if place.is_absolute() or ".." in place.parts:
            return "may only be a place inside the data directory, so that nothing is left behind elsewhere"
    if isinstance(value, str) and any(ord(letter) < 32 for letter in value):
        return "its value holds a control character, which my.cnf cannot carry"
    return None


def render(own: Mapping[str, Setting], asked: Mapping[str, Setting]) -> str:
    """The text of my.cnf: mydyno's own settings, then the experiment's, which never overlap."""
    lines = ["[mysqld]", "# mydyno's own"]
    lines += [_line(name, value) for name, value in own.items()]
    lines += ["# asked for by the experiment"]
    lines += [_line(name, value) for name, value in asked.items()]
    return "\n".join(lines) + "\n"


def _line(name: str, value: Setting) -> str:
    if name == "log_bin" and str(value).lower() in ON_WORDS | OFF_WORDS:
        # Its value is a file name: `log_bin=ON` would log to files called ON.
        return "log_bin" if str(value).lower() in ON_WORDS else "skip_log_bin"
    if isinstance(value, bool):
        return f"{name}={'ON' if value else 'OFF'}"
    if isinstance(value, float):
        return f"{name}={value:f}".rstrip("0").rstrip(".")
    return f"{name}={_quoted(str(value))}"


def _quoted(value: str) -> str:
    """Plain words stay plain; the rest is quoted, as `#` starts a comment and edges are trimmed.

    Inside quotes a backslash escapes (MySQL Reference Manual, "Using Option Files").
    """
    if value and all(letter.isalnum() or letter in "_-./:,+" for letter in value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
