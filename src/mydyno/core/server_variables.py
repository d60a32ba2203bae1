"""Server variables that mean something special to mydyno, under their plain names (underscores)."""

from __future__ import annotations

Setting = str | int | float | bool
"""A value of a setting as an experiment gives it."""

ON_WORDS = frozenset({"on", "true", "1", "yes"})
OFF_WORDS = frozenset({"off", "false", "0", "no"})


def option_name(name: str) -> str:
    """The one spelling that mydyno compares by: the server takes dashes and underscores alike."""
    return name.strip().lower().replace("-", "_")


_OWN_PLACE = "mydyno gives every server a private place of its own"
_OWN_NETWORK = "mydyno decides how a server is reached: use setup.server.network (false, true or {port: N})"
_OWN_ACCESS = "mydyno sets a random password at each start"
_OWN_LIFE = "mydyno starts and stops the server itself"
_OWN_LOG = "mydyno keeps the error log with the trial"

CONTROLLED = {
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
    "upgrade": "mydyno never lets a server change a data directory of another release",
    "user": "mydyno runs the server as its own user, or as `nobody` when it is started by root",
    "verbose": _OWN_LIFE,
    "version": "only the server can say its version",
}
"""Options that belong to mydyno, so that no experiment sets them, and why."""
