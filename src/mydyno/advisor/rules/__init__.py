"""Every rule, one a file, in a folder for each layer; and what rule files import from here with `*`."""

from mydyno.advisor.counts import DAY, a_second, decimal, often, share, total, uptime
from mydyno.advisor.innodb import (
    GIB,
    MIB,
    checkpoint_age,
    history_list_length,
    is_mariadb,
    is_mysql,
    pool_bytes,
)
from mydyno.advisor.machine import (
    ENTRY_BYTES,
    arrays,
    data_volume,
    days_until_full,
    free_bytes,
    limit_of,
    past_page_cache,
    places,
    power_of_two,
    set_unit,
    unit_of,
    unit_seconds,
    usual_rate,
)
from mydyno.advisor.names import SHOWN, counted, first, quoted
from mydyno.advisor.rule import (
    Fine,
    Judgement,
    NotHere,
    Rule,
    Unknown,
    better,
    by_hand,
    finding,
    fine_if,
    require,
    worse,
)
from mydyno.advisor.setting import settings
from mydyno.advisor.targets import Targets
from mydyno.apply.change import (
    ByHand,
    Change,
    RemoveVariable,
    SetArray,
    SetMountOptions,
    SetQueue,
    SetSysctl,
    SetSysfs,
    SetUnit,
    SetVariable,
)
from mydyno.apply.finding import Effect, Finding, Severity, Size
from mydyno.core.server_variables import Setting
from mydyno.core.units import format_bytes, format_duration
from mydyno.server.variables.convert import size_text
from mydyno.survey.facts import (
    Array,
    FileSystem,
    FstabEntry,
    Index,
    Kernel,
    Memory,
    Server,
    Storage,
    System,
    Unit,
    Use,
)

__all__ = (
    "DAY", "ENTRY_BYTES", "GIB", "MIB", "SHOWN", "Array", "ByHand", "Change", "Effect", "FileSystem",
    "Finding", "Fine", "FstabEntry", "Index", "Judgement", "Kernel", "Memory", "NotHere", "RemoveVariable",
    "Rule", "Server", "SetArray", "SetMountOptions", "SetQueue", "SetSysctl", "SetSysfs", "SetUnit",
    "SetVariable", "Setting", "Severity", "Size", "Storage", "System", "Targets", "Unit", "Unknown", "Use",
    "a_second", "arrays", "better", "by_hand", "checkpoint_age", "counted", "data_volume",
    "days_until_full", "decimal", "finding", "fine_if", "first", "format_bytes", "format_duration",
    "free_bytes", "history_list_length", "is_mariadb", "is_mysql", "limit_of", "often", "past_page_cache",
    "places", "pool_bytes", "power_of_two", "quoted", "require", "set_unit", "settings", "share", "size_text",
    "total", "unit_of", "unit_seconds", "uptime", "usual_rate", "worse",
)  # fmt: skip
