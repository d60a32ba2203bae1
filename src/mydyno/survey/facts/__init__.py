"""What is known of a live system: plain records, read by `survey`, judged by `advise`, kept as JSON.

    System
    ├── host      machine.py   CPUs, memory, kernel settings, load; storage.py: disks, arrays, file systems
    │                          the server's process: limits, unit
    ├── server    server.py    variables, status over an interval, tables, indexes, accounts, clients' hosts
    └── unread    system.py    what could not be read, why, and what would help

Nothing here does I/O. None always means "not known", never "none of it".
"""

from mydyno.survey.facts.machine import Cpu, DiskLoad, Host, Kernel, Limit, Load, Memory, Process, Unit
from mydyno.survey.facts.server import (
    Accounts,
    HostCache,
    Index,
    Innodb,
    Origin,
    Reading,
    Role,
    Schema,
    Server,
    Status,
    Table,
    Variable,
)
from mydyno.survey.facts.storage import (
    Array,
    Disk,
    DiskSpeed,
    FileSystem,
    FstabEntry,
    LogicalVolume,
    Storage,
    Use,
)
from mydyno.survey.facts.system import System, Unread, missing_rights

__all__ = [
    "Accounts", "Array", "Cpu", "Disk", "DiskLoad", "DiskSpeed", "FileSystem", "FstabEntry", "Host",
    "HostCache", "Index", "Innodb", "Kernel", "Limit", "Load", "LogicalVolume", "Memory", "Origin",
    "Process", "Reading", "Role", "Schema", "Server", "Status", "Storage", "System", "Table", "Unit",
    "Unread", "Use", "Variable", "missing_rights",
]  # fmt: skip
