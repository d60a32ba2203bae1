"""The auto-generated load of mysqlslap / mariadb-slap (as of mariadb-slap 10.11), as programs for the engine.

Its counts are kept by default, since users compare them: 99 rows for 100, 11 texts for 10. `corrected` does
what the options say instead. Each oddity that a choice of options meets has a name (oddities.py).
"""

from mydyno.lab.workload.slap.options import Oddity, Options, engine_names, met, number_list, split_columns
from mydyno.lab.workload.slap.program import Load, OwnSql, build, reported_per_client, resolve

__all__ = [
    "Load",
    "Oddity",
    "Options",
    "OwnSql",
    "build",
    "engine_names",
    "met",
    "number_list",
    "reported_per_client",
    "resolve",
    "split_columns",
]
