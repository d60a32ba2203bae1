"""The advice of MySQLTuner, the real program, as settings that an experiment can compare with ours."""

from mydyno.prove.mysqltuner.program import fetch, find, run
from mydyno.prove.mysqltuner.settings import Report, Settings, read_report, settings_of

__all__ = ["Report", "Settings", "fetch", "find", "read_report", "run", "settings_of"]
