"""Running the load of mysqlslap: a new schema for each iteration, the engine in between."""

from mydyno.lab.load.slap.report import Block, Pass, as_csv, as_text, figures
from mydyno.lab.load.slap.run import Emit, Result, Settings, complain, run

__all__ = [
    "Block",
    "Emit",
    "Pass",
    "Result",
    "Settings",
    "as_csv",
    "as_text",
    "complain",
    "figures",
    "run",
]
