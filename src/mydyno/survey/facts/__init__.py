"""What is known of a live system: plain records, read by `survey`, judged by `advise`, kept as JSON.

    System
    ├── host      machine.py   CPUs, memory, kernel settings, load; storage.py: disks, arrays, file systems
    │             process.py   the server's process: limits, unit
    ├── server    server.py    variables, status over an interval; tables.py: tables, indexes
    │             accounts.py  accounts without a user or with a host's name, errors of clients' hosts
    └── unread    unread.py    what could not be read, why, and what would help

Nothing here does I/O. None always means "not known", never "none of it".
"""

from mydyno.survey.facts.accounts import Accounts, HostCache
from mydyno.survey.facts.machine import Cpu, DiskLoad, Host, Kernel, Load, Memory
from mydyno.survey.facts.process import Limit, Process, Unit
from mydyno.survey.facts.server import Innodb, Origin, Reading, Role, Server, Status, Variable
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
from mydyno.survey.facts.system import System
from mydyno.survey.facts.tables import Index, Schema, Table
from mydyno.survey.facts.unread import Unread, missing_rights

__all__ = [
    "Accounts",
    "Array",
    "Cpu",
    "Disk",
    "DiskLoad",
    "DiskSpeed",
    "FileSystem",
    "FstabEntry",
    "Host",
    "HostCache",
    "Index",
    "Innodb",
    "Kernel",
    "Limit",
    "Load",
    "LogicalVolume",
    "Memory",
    "Origin",
    "Process",
    "Reading",
    "Role",
    "Schema",
    "Server",
    "Status",
    "Storage",
    "System",
    "Table",
    "Unit",
    "Unread",
    "Use",
    "Variable",
    "missing_rights",
]
