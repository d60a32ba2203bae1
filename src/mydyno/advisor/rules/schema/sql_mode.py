"""Whether the server refuses values that do not fit.

Without a strict mode a string that is too long is cut, a number out of range becomes the largest, an
invalid date becomes zeros, each with a warning that hardly any application reads. The data is then simply
wrong. Strict mode is the default since MySQL 5.7.5 and MariaDB 10.2.4; where it is off, somebody switched
it off for an application, so switching it on needs that application tested.
"""

from mydyno.advisor.rules import *

_NAME = "sql_mode"
_STRICT = ("STRICT_TRANS_TABLES", "STRICT_ALL_TABLES")


def _judge(system: System, _: Targets) -> Judgement:
    now = system.server.text(_NAME)
    if now is None:
        return Unknown(_NAME)
    if any(mode in now.upper().split(",") for mode in (*_STRICT, "TRADITIONAL")):
        return Fine("values that do not fit are refused")
    wanted = ",".join([_STRICT[0], *filter(None, now.split(","))])
    return RULE.finding(
        title="Values that do not fit are cut or zeroed with a mere warning",
        evidence=(f"{_NAME} = {now or 'empty'}: no strict mode",),
        recommendation=f"add {_STRICT[0]} after a test of the application",
        changes=by_hand(
            "test the application in strict mode, then switch it on, here and in the option file",
            f"SET GLOBAL {_NAME} = '{wanted}';",
        ),
        severity=Severity.MEDIUM,
        effect=better("safety", "medium", "wrong data is an error at once, not a surprise in a year"),
        risk="statements that passed with a warning fail",
    )


RULE = Rule(
    checks="whether sql_mode is strict",
    why="Without strict mode data is silently changed to fit.",
    expected="correct data; no effect on speed",
    risk="statements of careless applications fail",
    sources=("MySQL Reference Manual, Server SQL Modes, Strict SQL Mode", "MariaDB Documentation, SQL_MODE"),
    judge=_judge,
)
