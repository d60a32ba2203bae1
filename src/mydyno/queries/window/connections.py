"""Connections that were open before the window: they keep the thresholds that they began with."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from mydyno.core.errors import ServerError
from mydyno.core.plurals import listed
from mydyno.queries.window.settings import Output
from mydyno.server.access import dbapi
from mydyno.server.access.login import Login
from mydyno.server.access.session import session, show_global
from mydyno.server.variables import global_variables
from mydyno.survey.asking import account_of

_INTERNAL = frozenset({"system user", "event_scheduler", "system"})
_NO_STATEMENTS = ("Daemon", "Binlog Dump", "Connect", "Register Slave")
_NAMED = 5

_THRESHOLDS = """
SELECT COUNT(*)
  FROM performance_schema.variables_by_thread AS v JOIN performance_schema.threads AS t USING (thread_id)
 WHERE v.variable_name = 'long_query_time' AND v.variable_value + 0 > %s
   AND t.processlist_id <> CONNECTION_ID()
"""
_NEWER = "SYSTEM_VARIABLES_ADMIN"


@dataclass(frozen=True)
class Sessions:
    """Those of others, at one moment."""

    users: dict[int, str]
    """By connection id, as far as this account may see them (PROCESS)."""
    count: int
    above: int | None = None
    """How many have a threshold above the wished one; None: the server does not show it."""

    def who(self) -> str:
        """`app 16, cron 1`: the accounts with the most connections."""
        most = Counter(self.users.values()).most_common()
        return listed([f"{user} {count}" for user, count in most], _NAMED)


def sessions(cursor: dbapi.Cursor, threshold: float) -> Sessions:
    """Raises dbapi.Error."""
    cursor.execute("SELECT CONNECTION_ID()")
    (own,) = cursor.fetchone() or (0,)
    cursor.execute("SHOW PROCESSLIST")
    users = {
        int(row[0]): str(row[1])
        for row in cursor.fetchall()
        if int(row[0]) != own and str(row[1]) not in _INTERNAL and not str(row[4]).startswith(_NO_STATEMENTS)
    }
    connected = int(show_global(cursor, "STATUS LIKE 'Threads_connected'").get("Threads_connected", 1)) - 1
    return Sessions(users, max(len(users), connected), _above(cursor, threshold))


def still_there(login: Login, before: Sessions) -> int | None:
    """How many of them are connected still; None: not known."""
    try:
        with session(login) as cursor:
            cursor.execute("SHOW PROCESSLIST")
            return len({int(row[0]) for row in cursor.fetchall()} & before.users.keys())
    except ServerError:
        return None


def _above(cursor: dbapi.Cursor, threshold: float) -> int | None:
    try:
        cursor.execute(_THRESHOLDS, (threshold,))
    except dbapi.Error:
        return None
    row = cursor.fetchone()
    return int(row[0]) if row else None


def must_be_allowed(cursor: dbapi.Cursor, names: Iterable[str], output: Output) -> None:
    """Raises ServerError that names the GRANT which is missing."""
    refusals = {name: why for name in names if (why := global_variables.refusal(cursor, name)) is not None}
    if refusals:
        account = account_of(cursor)
        right = _NEWER if any(_NEWER in why for why in refusals.values()) else "SUPER"
        name, why = next(iter(refusals.items()))
        raise ServerError(
            f"{account} cannot set {', '.join(refusals)}: {name}: {why}",
            f"GRANT {right} ON *.* TO {account}; on a managed server, which does not grant this, set them "
            "in its parameter group and give its log to `mydyno digest`",
        )
    if output == "TABLE":
        _must_read_the_table(cursor)


def _must_read_the_table(cursor: dbapi.Cursor) -> None:
    try:
        cursor.execute("SELECT start_time FROM mysql.slow_log LIMIT 0")
    except dbapi.Error as error:
        raise ServerError(
            f"mysql.slow_log cannot be read, nor can the log's file from here: {dbapi.text_of(error)}",
            f"GRANT SELECT ON mysql.slow_log TO {account_of(cursor)}; or --ssh USER@HOST for the file",
        ) from None
