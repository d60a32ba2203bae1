"""The SQL driver, PyMySQL, which no other module imports; and what its errors say.

A name of it is looked up when it is used (`dbapi.Error`): PyMySQL takes a while to load, and most commands
need no server.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pymysql.connections import Connection as Connection
    from pymysql.connections import MySQLResult as MySQLResult
    from pymysql.constants import CR as CR
    from pymysql.constants import ER as ER
    from pymysql.cursors import Cursor as Cursor
    from pymysql.cursors import SSCursor as SSCursor
    from pymysql.err import Error as Error
    from pymysql.err import OperationalError as OperationalError
    from pymysql.protocol import MysqlPacket as MysqlPacket

else:
    _MODULES = {
        "Connection": "connections",
        "MySQLResult": "connections",
        "CR": "constants",
        "ER": "constants",
        "Cursor": "cursors",
        "SSCursor": "cursors",
        "Error": "err",
        "OperationalError": "err",
        "MysqlPacket": "protocol",
    }

    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"pymysql.{_MODULES[name]}"), name)


def number_of(error: BaseException) -> int | None:
    """The server's or the client library's number of an error; None when it has none."""
    number = error.args[0] if error.args else None
    return number if isinstance(number, int) else None


def text_of(error: BaseException) -> str:
    """What the server said, without the number."""
    return str(error.args[1] if len(error.args) > 1 else error)
