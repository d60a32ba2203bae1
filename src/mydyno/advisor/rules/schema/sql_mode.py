"""Whether the server refuses values that do not fit.

Without a strict mode a string that is too long is cut, a number out of range becomes the largest, an
invalid date becomes zeros, each with a warning that hardly any application reads. The data is then wrong.
Strict mode is the default since MySQL 5.7.5 and MariaDB 10.2.4; where it is off, it was probably switched
off for an application, so test that application before switching it on.
"""

from mydyno.advisor.rules import *

_NAME = "sql_mode"
_STRICT = ("STRICT_TRANS_TABLES", "STRICT_ALL_TABLES")


@Rule(
    checks="whether sql_mode is strict",
    why="Without strict mode data is silently truncated.",
    expected="wrong data is an error at once, not discovered later; no effect on speed",
    risk="statements that passed with a warning fail",
    sources=("MySQL Reference Manual, Server SQL Modes, Strict SQL Mode", "MariaDB Documentation, SQL_MODE"),
)
def rule(system: System, _: Targets) -> Judgement:
    now = require(system.server.text(_NAME), _NAME)
    if any(mode in now.upper().split(",") for mode in (*_STRICT, "TRADITIONAL")):
        return Fine("values that do not fit are refused")
    wanted = ",".join([_STRICT[0], *filter(None, now.split(","))])
    return finding(
        title="Values that do not fit are truncated with only a warning",
        evidence=(f"{_NAME} = {now or 'empty'}: no strict mode",),
        recommendation=f"add {_STRICT[0]} after a test of the application",
        changes=by_hand(
            "test the application in strict mode, then switch it on, here and in the option file",
            f"SET GLOBAL {_NAME} = '{wanted}';",
        ),
        severity=Severity.MEDIUM,
        effect=better("safety", "medium"),
    )
