"""Are the settings in force the configured ones? A difference fails the trial."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from mydyno.core.server_variables import OFF_WORDS, ON_WORDS, Setting

_NUMBER = re.compile(r"([+-]?\d+(?:\.\d+)?)([KMGTPE]?)", re.IGNORECASE)
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}

# Options that a running server shows under another name, newest name first.
_SHOWN_AS = {
    "transaction_isolation": ("transaction_isolation", "tx_isolation"),
    "transaction_read_only": ("transaction_read_only", "tx_read_only"),
    "default_time_zone": ("time_zone",),
    "table_cache": ("table_open_cache",),
}

# Variables that hold a list of flags of which an option names only those to change.
_SWITCHES = frozenset({"optimizer_switch"})

# Words in sql_mode that bring others with them, so more is in force than was configured.
_COMBINED_MODES = frozenset({"ansi", "traditional", "db2", "maxdb", "mssql", "oracle", "postgresql"})

# Block sizes that servers are known to round down to: the alignment of the variables in sys_vars.
_BLOCKS = (128, 512, 1024, 4096, 65536, 1048576)

_LIMITED_BY_FILES = frozenset({"max_connections", "table_open_cache", "open_files_limit"})


@dataclass(frozen=True)
class SettingDifference:
    """A setting that is not in force as configured. `in_force` None: the server does not show it at all."""

    name: str
    configured: str
    in_force: str | None
    why: str | None = None

    def __str__(self) -> str:
        shown = "not shown by the server" if self.in_force is None else f"in force {self.in_force}"
        return f"{self.name}: configured {self.configured}, {shown}" + (f" ({self.why})" if self.why else "")


def settings_difference(
    configured: Mapping[str, Setting], in_force: Mapping[str, str]
) -> tuple[SettingDifference, ...]:
    """Every configured setting that `SHOW GLOBAL VARIABLES` does not confirm.

    `configured` has the names that the binary lists (`names.canonical`). Sizes (256M), switches
    (ON, 1, true), letter case, six-digit decimals, trailing slashes and lists are compared by meaning.
    A value that the server rounded is a difference like any other; `why` explains it when the
    rounding accounts for it exactly.
    """
    differences = []
    for name, value in configured.items():
        shown = _shown(name, in_force)
        if shown is None:
            differences.append(
                SettingDifference(name, _text(value), None, "it cannot be confirmed on a running server")
            )
        elif not _same(name, value, shown):
            differences.append(
                SettingDifference(name, _text(value), shown, _why(name, value, shown, in_force))
            )
    return tuple(differences)


def number(text: str) -> float | int | None:
    """The number meant by a setting's text, in units of one: `256M` is 268435456; None when it is none."""
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        return None
    digits, suffix = match.groups()
    scale: int = 1024 ** _POWERS[suffix.upper()]
    return float(digits) * scale if "." in digits else int(digits) * scale


def _shown(name: str, in_force: Mapping[str, str]) -> str | None:
    if name == "external_locking" and "skip_external_locking" in in_force:
        return "OFF" if in_force["skip_external_locking"] == "ON" else "ON"
    for candidate in _SHOWN_AS.get(name, (name,)):
        if candidate in in_force:
            return in_force[candidate]
    return None


def _same(name: str, value: Setting, shown: str) -> bool:
    wanted_text = _text(value).strip()
    if name == "log_bin" and wanted_text.lower() not in OFF_WORDS:
        return shown == "ON"
    if name in _SWITCHES:
        return _words(wanted_text) <= _words(shown)
    if name == "sql_mode":
        wanted, shown_words = _words(wanted_text), _words(shown)
        return wanted == shown_words or (bool(wanted & _COMBINED_MODES) and wanted <= shown_words)
    if wanted_text.casefold() == shown.casefold():
        return True
    wanted_number, found_number = number(wanted_text), number(shown)
    if wanted_number is not None and found_number is not None:
        # The server shows decimals with six digits.
        return wanted_number == found_number or (
            "." in shown and math.isclose(wanted_number, found_number, rel_tol=0, abs_tol=0.5e-6)
        )
    wanted_switch, found_switch = _switch(wanted_text), _switch(shown)
    if wanted_switch is not None and found_switch is not None:
        return wanted_switch == found_switch
    return _words(wanted_text) == _words(shown) or _same_place(wanted_text, shown)


def _why(name: str, value: Setting, shown: str, in_force: Mapping[str, str]) -> str | None:
    configured, actual = number(_text(value)), number(shown)
    if not isinstance(configured, int) or not isinstance(actual, int):
        return None
    if name == "innodb_buffer_pool_size":
        chunk = number(in_force.get("innodb_buffer_pool_chunk_size", "")) or 0
        step = int(chunk) * int(number(in_force.get("innodb_buffer_pool_instances", "1")) or 1)
        if step and -(-configured // step) * step == actual:
            return f"the server rounds it up to a multiple of its chunks, {step} bytes"
    if configured == -1:
        return "-1 asks the server to choose, and this is what it chose"
    if name in _LIMITED_BY_FILES and actual < configured:
        return f"the server lowered it to fit the limit of open files, {in_force.get('open_files_limit')}"
    block = rounded_down(configured, actual)
    return f"the server rounds it down to a multiple of {block}" if block else None


def rounded_down(configured: int, in_force: int) -> int | None:
    """The block size of which a server has taken a multiple below `configured`; None: no rounding
    explains it."""
    if in_force == configured:
        return None
    return next((size for size in reversed(_BLOCKS) if 0 < in_force == configured // size * size), None)


def _switch(text: str) -> bool | None:
    word = text.lower()
    return True if word in ON_WORDS else False if word in OFF_WORDS else None


def _words(text: str) -> frozenset[str]:
    return frozenset(word.strip().casefold() for word in text.split(",") if word.strip())


def _same_place(configured: str, shown: str) -> bool:
    """`logs/` and `/private/data/logs` are one place: servers show some places in full."""
    plain, full = configured.rstrip("/").removeprefix("./"), shown.rstrip("/").removeprefix("./")
    return bool(plain) and "/" in configured + shown and (full == plain or full.endswith("/" + plain))


def _text(value: Setting) -> str:
    if isinstance(value, bool):
        return "ON" if value else "OFF"
    return f"{value:f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
