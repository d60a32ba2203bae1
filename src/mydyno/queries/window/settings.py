"""Which variables make a slow log of what is wished, on which release: pure.

Sources: MySQL Reference Manual, "The Slow Query Log" and "Server System Variables"; MariaDB Knowledge Base,
"Slow Query Log Overview"; Percona Server, "Slow query log variables".
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from mydyno.core.errors import UsageError
from mydyno.core.plurals import counted
from mydyno.core.server_variables import Setting
from mydyno.core.server_version import Vendor, Version

Output = Literal["FILE", "TABLE"]

GLOBAL_CONTROL = "slow_query_log_use_global_control"
"""Percona's: for which variables sessions that are there already obey the global value."""

_VERBOSITY = "log_slow_verbosity"
_FIGURES = ("query_plan", "engine")
"""Of MariaDB's log_slow_verbosity: what has numbers. `explain` writes a plan below each statement, at the
price of a longer log; the digest reads plans itself."""
_PERCONAS_FIGURES = ("microtime", "query_plan", "innodb")
_OBEYED = ("long_query_time", "min_examined_row_limit", _VERBOSITY)
_NOT_USING_INDEXES = "log_queries_not_using_indexes"
_EVERY_KIND = "query_cache_miss"
"""Of MariaDB's log_slow_filter: every statement that no query cache has answered."""


@dataclass(frozen=True)
class Wish:
    """What is to be caught."""

    threshold: float
    """Seconds, to the microsecond: slower statements than that."""
    not_using_indexes: bool = False
    """Also those that use no index, however fast."""


@dataclass(frozen=True)
class Settings:
    values: Mapping[str, Setting]
    """In the order in which they are set: the log itself comes last, and goes first."""
    output: Output
    """Where the entries are read."""


def settings(
    variables: Mapping[str, str], wish: Wish, *, levels: Collection[str] = (), reads_file: bool
) -> Settings:
    """`variables`: SHOW GLOBAL VARIABLES. `levels`: words that MariaDB's log_slow_verbosity takes.
    `reads_file`: whether the log's file can be read. What is set as wished already is left out.

    Names are the older ones, which every release takes: MariaDB 10.11 has others, too.
    Raises UsageError when the general log would go to another place.
    """
    outputs, output = _outputs(variables, reads_file)
    wanted: dict[str, Setting] = {"log_output": outputs}
    if output == "FILE":
        wanted |= _figures(variables, levels)
    wanted["min_examined_row_limit"] = 0
    if wish.not_using_indexes:
        wanted[_NOT_USING_INDEXES] = "ON"
    changed = {name: value for name, value in wanted.items() if _words(variables, name) != _split(str(value))}
    always: dict[str, Setting] = {"long_query_time": wish.threshold, "slow_query_log": "ON"}
    return Settings(changed | always, output)


def is_on(variables: Mapping[str, str], name: str) -> bool:
    return variables.get(name, "OFF").upper() in ("ON", "1")


def _outputs(variables: Mapping[str, str], reads_file: bool) -> tuple[str, Output]:
    """The value of log_output, and which of its places is read."""
    present = _words(variables, "log_output") - {"none"}
    output: Output = "FILE" if reads_file else "TABLE"
    if output.lower() in present:
        return variables["log_output"], output
    if not is_on(variables, "general_log"):
        # A slow log that is on already goes on being written where its owner looks for it.
        keeps = present if is_on(variables, "slow_query_log") else frozenset()
        return ",".join(sorted({output, *map(str.upper, keeps)})), output
    if "table" in present:
        return variables["log_output"], "TABLE"
    raise UsageError(
        f"general_log is ON, and with log_output = {output} it would be written there too: log_output is "
        f"{variables.get('log_output')} now",
        "--ssh USER@HOST for the machine whose log file can be read, or turn the general log off"
        if not reads_file
        else "turn the general log off",
    )


def _figures(variables: Mapping[str, str], levels: Collection[str]) -> dict[str, Setting]:
    """What makes the log's file hold more than times and rows."""
    wanted: dict[str, Setting] = {}
    if "log_slow_extra" in variables:
        wanted["log_slow_extra"] = "ON"
    if GLOBAL_CONTROL in variables:
        wanted[_VERBOSITY] = _with(variables, _VERBOSITY, _PERCONAS_FIGURES)
        if "all" not in _words(variables, GLOBAL_CONTROL):
            wanted[GLOBAL_CONTROL] = _with(variables, GLOBAL_CONTROL, _OBEYED)
    elif _VERBOSITY in variables:
        wanted[_VERBOSITY] = _with(variables, _VERBOSITY, [each for each in _FIGURES if each in levels])
    return wanted


def _with(variables: Mapping[str, str], name: str, more: Collection[str]) -> str:
    present = [word for word in variables[name].split(",") if word and word.lower() != "none"]
    if {"full", "all"} & _split(",".join(present)):
        return variables[name]
    return ",".join(dict.fromkeys((*present, *more)))


def _words(variables: Mapping[str, str], name: str) -> frozenset[str]:
    return _split(variables.get(name, ""))


def _split(text: str) -> frozenset[str]:
    return frozenset(word.strip().lower() for word in text.split(",") if word.strip())


def hidden(version: Version, variables: Mapping[str, str], wish: Wish) -> tuple[str, ...]:
    """Settings that are left as they are and keep statements out of the log, a sentence each."""
    return tuple(_hidden(version, variables, wish))


def _hidden(version: Version, variables: Mapping[str, str], wish: Wish) -> Iterator[str]:
    rate = variables.get("log_slow_rate_limit", "1")
    if rate not in ("0", "1"):
        of = variables.get("log_slow_rate_type", "query")
        yield f"log_slow_rate_limit = {rate}: one {of} in {rate} is logged, so counts and times are a part"
    kinds = frozenset(word for word in variables.get("log_slow_filter", "").lower().split(",") if word)
    if kinds and (version.vendor is Vendor.PERCONA or _EVERY_KIND not in kinds):
        yield f"log_slow_filter = {','.join(sorted(kinds))}: statements of other kinds are not logged"
    disabled = variables.get("log_slow_disabled_statements", "").lower()
    if disabled:
        yield f"log_slow_disabled_statements = {disabled}: {_disabled(disabled)}"
    if "log_slow_admin_statements" in variables and not is_on(variables, "log_slow_admin_statements"):
        yield "log_slow_admin_statements = OFF: ALTER TABLE, ANALYZE TABLE and so on are not logged"
    for name in ("log_slow_replica_statements", "log_slow_slave_statements"):
        if name in variables and is_on(variables, "read_only") and not is_on(variables, name):
            yield f"{name} = OFF: what this replica replays is not logged"
            break
    throttle = variables.get("log_throttle_queries_not_using_indexes", "0")
    if wish.not_using_indexes and throttle != "0":
        yield (
            f"log_throttle_queries_not_using_indexes = {throttle}: at most that many of them are logged "
            "in a minute"
        )


def unseen(
    version: Version, variables: Mapping[str, str], wish: Wish, sessions: int, above: int | None
) -> str | None:
    """What becomes of `sessions` connections that are open already; None: they are seen like others.

    `above`: how many have a higher threshold, where the server shows it (MySQL 5.7 on).

    A connection takes long_query_time over when it begins (all forks), and in MariaDB the switch of the log,
    too: seen on MariaDB 10.11 and 11.8, not so on MySQL 5.6 and 9.7.
    """
    if not sessions or GLOBAL_CONTROL in variables:
        return None
    if version.is_mariadb and not is_on(variables, "slow_query_log"):
        return _count(sessions) + " open before the log was turned on, and MariaDB never logs what they run"
    if above is not None:
        return _count(above) + f" open before, with {_HIGHER}" if above else None
    if float(variables.get("long_query_time", "0")) > wish.threshold:
        old = f"{float(variables['long_query_time']):g} s"
        return _count(sessions) + f" open before, with {_HIGHER}: {old} unless they have set another"
    return None


_HIGHER = "a higher threshold"


def _count(sessions: int) -> str:
    return counted(sessions, "connection", "was")


def _disabled(kinds: str) -> str:
    if kinds == "sp":
        return "statements inside stored procedures are not logged one by one, their CALL is"
    return "statements of these kinds are not logged"
