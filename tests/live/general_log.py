"""What a server was sent, from its general log: commands and statements without their literals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby

from live.engine import ask
from mydyno.lab.stack import RunningServer
from mydyno.lab.stack.undo.base import comes_true
from mydyno.queries.fingerprints import fingerprints

_WITH_SQL = ("Query", "Prepare", "Execute")
_BEGINNINGS = ("begin", "commit", "select", "insert", "update", "delete", "set autocommit")


@dataclass(frozen=True)
class Stretch:
    """Statements of one shape, one after the other; `command` is the log's, as Query or Close stmt."""

    command: str
    shape: str
    count: int


def sent(server: RunningServer, database: str, work: Callable[[], object]) -> list[Stretch]:
    """What came meanwhile on the connections that were opened in this schema, in order.

    Preparations are sorted: their order is no work of the server's.
    """
    ask(server, "SET GLOBAL log_output = 'TABLE'")
    ask(server, "TRUNCATE mysql.general_log")
    ask(server, "SET GLOBAL general_log = 1")
    try:
        work()
        # A client that has gone may have sent statements without an answer, which the server still logs.
        open_ = f"SELECT id FROM information_schema.processlist WHERE db = '{database}'"
        assert comes_true(lambda: not ask(server, open_), 10.0)
    finally:
        ask(server, "SET GLOBAL general_log = 0")
    rows = [
        (int(thread), str(command), _text(argument))
        for thread, command, argument in ask(
            server, "SELECT thread_id, command_type, argument FROM mysql.general_log"
        )
    ]
    ours = {thread for thread, command, text in rows if command == "Connect" and f" on {database} " in text}
    entries = [(command, text) for thread, command, text in rows if thread in ours and command != "Quit"]
    shapes = fingerprints([text if command in _WITH_SQL else "" for command, text in entries])
    commands = [
        (command, shape.text)
        for (command, _), shape in zip(entries, shapes, strict=True)
        if command != "Query" or shape.text.startswith(_BEGINNINGS)
    ]
    ordered: list[tuple[str, str]] = []
    for is_preparation, group in groupby(commands, lambda one: one[0] == "Prepare"):
        run = list(group)
        ordered += sorted(run) if is_preparation else run
    return [Stretch(*one, len(list(group))) for one, group in groupby(ordered)]


def _text(argument: object) -> str:
    """Without the zero byte that mysqlslap sends at the end of its generated statements."""
    return (argument.decode() if isinstance(argument, bytes) else str(argument)).rstrip("\0")
