"""The private my.cnf: what mydyno sets itself, what it lets an experiment set, and how a value is written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from mydyno.core.server_variables import CONTROLLED, OFF_WORDS, ON_WORDS, Setting

# Settings whose value is a place on disk. A place of their own would be left behind after the trial,
# and the frozen dataset would not be there.
PLACES = frozenset(
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
    if name in CONTROLLED:
        return f"an experiment may not set it: {CONTROLLED[name]}"
    if name in PLACES and isinstance(value, str):
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


def argument(name: str, value: Setting) -> str:
    """The same setting on a command line."""
    name, text = _written(name, value)
    return f"--{name}" if text is None else f"--{name}={text}"


def _line(name: str, value: Setting) -> str:
    name, text = _written(name, value)
    return name if text is None else f"{name}={_quoted(text)}"


def _written(name: str, value: Setting) -> tuple[str, str | None]:
    """The option and its value; None: it has none."""
    if name == "log_bin" and str(value).lower() in ON_WORDS | OFF_WORDS:
        # Its value is a file name: `log_bin=ON` would log to files called ON.
        return ("log_bin" if str(value).lower() in ON_WORDS else "skip_log_bin"), None
    if isinstance(value, bool):
        return name, "ON" if value else "OFF"
    if isinstance(value, float):
        return name, f"{value:f}".rstrip("0").rstrip(".")
    return name, str(value)


def _quoted(value: str) -> str:
    """Plain words stay plain; the rest is quoted, as `#` starts a comment and edges are trimmed.

    Inside quotes a backslash escapes (MySQL Reference Manual, "Using Option Files").
    """
    if value and all(letter.isalnum() or letter in "_-./:,+" for letter in value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
