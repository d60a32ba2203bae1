"""Server variables that mean something special to mydyno, under their plain names (underscores)."""

import re

from mydyno.core.words import words

Setting = str | int | float | bool
"""A value of a setting as an experiment gives it."""

ON_WORDS = frozenset({"on", "true", "1", "yes"})
OFF_WORDS = frozenset({"off", "false", "0", "no"})


def option_name(name: str) -> str:
    """The one spelling that mydyno compares by: the server takes dashes and underscores alike."""
    return name.strip().lower().replace("-", "_")


_MODIFIERS = ("loose_", "skip_", "disable_", "enable_", "maximum_", "autoset_")
"""Words that a server takes in front of an option's name (MySQL Reference Manual, "Program Option Modifiers";
MariaDB has autoset)."""


def possible_names(name: str) -> tuple[str, ...]:
    """Every variable that the option may set: itself, and what is left without each modifier in front."""
    names = [option_name(name)]
    while modifier := next((each for each in _MODIFIERS if names[-1].startswith(each)), None):
        names.append(names[-1].removeprefix(modifier))
    return tuple(names)


_BY_REASON = {
    "mydyno decides how a server is reached: use setup.server.network (false, true or {port: N})": (
        "admin_address admin_port bind_address extra_port mysqlx mysqlx_bind_address mysqlx_port "
        "mysqlx_socket port skip_networking"
    ),
    "mydyno uses the folder that belongs to the binary": "basedir lc_messages_dir",
    "mydyno starts and stops the server itself": (
        "bootstrap daemonize defaults_extra_file defaults_file gdb help initialize "
        "initialize_insecure no_defaults print_defaults verbose"
    ),
    "mydyno gives every server a separate private place": (
        "chroot datadir log_basename pid_file secure_file_priv socket tmpdir"
    ),
    "mydyno keeps the error log with the trial": "console log_error",
    "mydyno checks every name in full": "getopt_prefix_matching",
    "mydyno sets a random password at each start": "init_file skip_grant_tables",
    "mydyno never lets a server change a data directory of another release": "upgrade",
    "mydyno runs the server as its own user, or as `nobody` when it is started by root": "user",
    "only the server can say its version": "version",
}
CONTROLLED = {name: why for why, names in _BY_REASON.items() for name in names.split()}
"""Options that belong to mydyno, so that no experiment sets them, and why."""

IN_DATA_DIRECTORY = words(
    """
    aria_log_dir_path general_log_file innodb_buffer_pool_filename innodb_data_file_path
    innodb_data_home_dir innodb_directories innodb_doublewrite_dir innodb_log_group_home_dir
    innodb_temp_data_file_path innodb_temp_tablespaces_dir innodb_tmpdir innodb_undo_directory log_bin
    log_bin_index log_slow_query_file log_tc master_info_file relay_log relay_log_index
    relay_log_info_file replica_load_tmpdir slave_load_tmpdir slow_query_log_file
    """
)
"""Variables whose value is a place on disk, counted from the data directory. A place elsewhere would be left
behind after the trial, and the frozen dataset would not be there."""


def leaves_data_directory(value: str) -> bool:
    """Whether one of the places in the value of such a variable is outside: `/x`, `../x`, `~/x`.

    A place may have a size behind it, and `raw` for a disk without a file system (innodb_data_file_path).
    """
    for place in re.split(r"[;,]", value):
        path, *rest = place.strip().split(":")
        if path.startswith(("/", "~")) or ".." in path.split("/") or any("raw" in each for each in rest):
            return True
    return False
