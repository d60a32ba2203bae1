"""Server options that belong to mydyno: no experiment sets them."""

from __future__ import annotations

_PLACE = "every trial has a private place of its own"
_NETWORK = "use setup.server.network: false, true or {port: N}"
_LIFE = "mydyno starts and stops the server itself"
_ACCESS = "mydyno sets a random password at each start"

CONTROLLED = {
    "admin_address": _NETWORK,
    "admin_port": _NETWORK,
    "basedir": "the folder that belongs to the binary is used",
    "bind_address": _NETWORK,
    "bootstrap": _LIFE,
    "chroot": _PLACE,
    "daemonize": _LIFE,
    "datadir": _PLACE,
    "defaults_extra_file": _LIFE,
    "defaults_file": _LIFE,
    "extra_port": _NETWORK,
    "init_file": _ACCESS,
    "initialize": _LIFE,
    "initialize_insecure": _LIFE,
    "log_error": "the error log is kept with the trial",
    "no_defaults": _LIFE,
    "pid_file": _PLACE,
    "port": _NETWORK,
    "skip_grant_tables": _ACCESS,
    "skip_networking": _NETWORK,
    "socket": _PLACE,
    "tmpdir": _PLACE,
    "user": "the server runs as its own user, never as root",
}
"""Option name with underscores, and why it is taken or what to use instead."""
