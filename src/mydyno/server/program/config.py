"""The private my.cnf: what mydyno sets itself, what it lets an experiment set, and how a value is written."""

from collections.abc import Mapping

from mydyno.core.server_variables import (
    CONTROLLED,
    IN_DATA_DIRECTORY,
    OFF_WORDS,
    ON_WORDS,
    Setting,
    leaves_data_directory,
)


def refusal(name: str, value: Setting) -> str | None:
    """Why an experiment may not set `name` (its plain spelling) to `value`; None when it may."""
    if name in CONTROLLED:
        return f"an experiment may not set it: {CONTROLLED[name]}"
    if name in IN_DATA_DIRECTORY and isinstance(value, str) and leaves_data_directory(value):
        return "may only be a place inside the data directory, so that nothing is left behind elsewhere"
    if isinstance(value, str) and any(ord(letter) < 32 for letter in value):
        return "its value holds a control character, which my.cnf cannot carry"
    return None


def render(own: Mapping[str, Setting], configured: Mapping[str, Setting]) -> str:
    """The text of my.cnf: mydyno's own settings, then the experiment's, which never overlap."""
    lines = ["[mysqld]", "# mydyno's own"]
    lines += [_line(name, value) for name, value in own.items()]
    lines += ["# set by the experiment"]
    lines += [_line(name, value) for name, value in configured.items()]
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
