"""Whether the account may do what a window needs, checked before anything is set."""

from __future__ import annotations

from collections.abc import Iterable

from mydyno.core.errors import ServerError
from mydyno.queries.window.settings import Output
from mydyno.server.access import dbapi
from mydyno.server.variables import global_variables
from mydyno.survey.asking import account_of

_NEWER = "SYSTEM_VARIABLES_ADMIN"


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
