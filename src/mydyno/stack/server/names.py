"""The names of settings: which the binary under test knows, and what was probably meant by the others."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from mydyno.core.errors import SpecError
from mydyno.core.server_variables import OFF_WORDS, ON_WORDS, Setting
from mydyno.stack.server.binary import ServerBinary
from mydyno.stack.server.config import refusal
from mydyno.stack.server.options import option_name

_SKIPPING = ("skip_", "disable_")
_PLAIN = ("enable_", "loose_")

# A variable that a running server shows under a name that my.cnf does not take.
_STARTS_AS = {
    "tx_isolation": "transaction_isolation",
    "tx_read_only": "transaction_read_only",
    "time_zone": "default_time_zone",
    "storage_engine": "default_storage_engine",
    "skip_external_locking": "external_locking",
    "log_bin_basename": "log_bin",
}

# Variables that exist only in a running server: no option sets them at start
# (MySQL Reference Manual, "Server System Variable Reference", the rows without "Cmd-Line").
_ONLY_RUNNING = frozenset(
    {
        "character_set_client",
        "character_set_connection",
        "character_set_database",
        "character_set_results",
        "check_constraint_checks",
        "collation_connection",
        "collation_database",
        "foreign_key_checks",
        "insert_id",
        "last_insert_id",
        "profiling",
        "profiling_history_size",
        "sql_auto_is_null",
        "sql_big_selects",
        "sql_buffer_result",
        "sql_log_bin",
        "sql_log_off",
        "sql_notes",
        "sql_quote_show_create",
        "sql_select_limit",
        "sql_warnings",
        "timestamp",
        "unique_checks",
    }
)

# What a name turned into, or that it is gone; shown only when the binary under test lacks it.
# Sources: the release notes and upgrade chapters of the MySQL 5.7 to 8.4 Reference Manuals.
_HISTORY = {
    "innodb_log_file_size": "MySQL replaced it by innodb_redo_log_capacity (deprecated in 8.0.30)",
    "innodb_log_files_in_group": "MySQL replaced it by innodb_redo_log_capacity; MariaDB 10.6 removed it",
    "innodb_redo_log_capacity": "MySQL has it since 8.0.30; MariaDB calls it innodb_log_file_size",
    "innodb_buffer_pool_instances": "MariaDB removed it in 10.6: it has one buffer pool",
    "innodb_dedicated_server": "only MySQL has it, since 8.0.3",
    "innodb_thread_concurrency": "MariaDB removed it in 10.6",
    "innodb_locks_unsafe_for_binlog": "MySQL removed it in 8.0, MariaDB in 10.5",
    "query_cache_size": "MySQL removed the query cache in 8.0",
    "query_cache_type": "MySQL removed the query cache in 8.0",
    "table_cache": "it is table_open_cache since 5.1",
    "thread_concurrency": "MySQL removed it in 5.7",
    "tx_isolation": "it is transaction_isolation",
    "expire_logs_days": "it is binlog_expire_logs_seconds since MySQL 8.0",
    "log_slow_queries": "it is slow_query_log since 5.6",
    "thread_pool_size": "MySQL Community has no thread pool; MariaDB and Percona Server have",
}


@dataclass(frozen=True)
class SettingProblem:
    """One setting that cannot be used: its name as written, why, and names that may have been meant."""

    name: str
    why: str
    nearest: tuple[str, ...] = ()

    def __str__(self) -> str:
        meant = f" (did you mean {' or '.join(self.nearest)}?)" if self.nearest else ""
        return f"{self.name}: {self.why}{meant}"


class SettingsError(SpecError):
    """All the settings of one configuration that its binary cannot take."""

    def __init__(self, binary: ServerBinary, problems: tuple[SettingProblem, ...]) -> None:
        self.problems = problems
        lines = "\n".join(f"  - {problem}" for problem in problems)
        super().__init__(f"{binary.path} ({binary.version}) cannot be started with these settings:\n{lines}")


def find_problems(binary: ServerBinary, config: Mapping[str, Setting]) -> tuple[SettingProblem, ...]:
    """Every setting that this very binary does not know or that mydyno does not let an experiment set."""
    problems = []
    written_as: dict[str, str] = {}
    for written, value in config.items():
        problem = _problem(binary, written, value)
        if problem is None:
            name, _ = _resolve(binary, written, value) or (option_name(written), value)
            if name in written_as:
                problem = SettingProblem(written, f"is the same setting as {written_as[name]}")
            written_as.setdefault(name, written)
        if problem is not None:
            problems.append(problem)
    return tuple(problems)


def canonical(binary: ServerBinary, config: Mapping[str, Setting]) -> dict[str, Setting]:
    """The settings under the names that the binary lists: `skip-log-bin` is `log_bin: false`.

    Raises SettingsError with every problem.
    """
    problems = find_problems(binary, config)
    if problems:
        raise SettingsError(binary, problems)
    resolved = (_resolve(binary, written, value) for written, value in config.items())
    return dict(pair for pair in resolved if pair is not None)


def _resolve(binary: ServerBinary, written: str, value: Setting) -> tuple[str, Setting] | None:
    """The listed name and value that `written: value` means; None when the binary knows no such name.

    `skip_x` is x switched off (MySQL Reference Manual, "Program Option Modifiers"); a name that the
    binary itself lists, like skip_name_resolve, is that name.
    """
    name = option_name(written)
    if name in binary.options:
        return name, value
    for prefix in _PLAIN:
        if name.startswith(prefix) and name.removeprefix(prefix) in binary.options:
            return name.removeprefix(prefix), value
    for prefix in _SKIPPING:
        switched = name.removeprefix(prefix)
        if name.startswith(prefix) and switched in binary.options:
            word = str(value).lower()
            if word in ON_WORDS:
                return switched, False
            if word in OFF_WORDS:
                return switched, True
    return None


def _problem(binary: ServerBinary, written: str, value: Setting) -> SettingProblem | None:
    resolved = _resolve(binary, written, value)
    name = resolved[0] if resolved else option_name(written)
    why = refusal(name, value)
    if why is not None:
        return SettingProblem(written, why)
    if resolved is not None:
        return None
    if name in _STARTS_AS and _STARTS_AS[name] in binary.options:
        return SettingProblem(written, f"my.cnf calls it {_STARTS_AS[name]}")
    if name in _ONLY_RUNNING:
        return SettingProblem(written, "only a running server has it: no option sets it at start")
    return SettingProblem(written, _unknown(name), _nearest(binary, name))


def _unknown(name: str) -> str:
    history = _HISTORY.get(name)
    return f"this server has no such setting; {history}" if history else "this server has no such setting"


def _nearest(binary: ServerBinary, name: str) -> tuple[str, ...]:
    if name in _HISTORY:
        return ()
    return tuple(difflib.get_close_matches(name, binary.options, n=3, cutoff=0.75))
