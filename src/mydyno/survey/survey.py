"""A live server and its host as one `System`."""

from __future__ import annotations

from datetime import UTC, datetime

from mydyno import __version__
from mydyno.facts import System, Unread
from mydyno.stack.server.login import Login
from mydyno.survey.host.machine import Machine
from mydyno.survey.server.interval import Tell, Wait, pause
from mydyno.survey.server.read import read_server

INTERVAL_SECONDS = 10.0


def survey(
    login: Login,
    machine: Machine | None = None,
    *,
    seconds: float = INTERVAL_SECONDS,
    tell: Tell = lambda text: None,
    wait: Wait = pause,
) -> System:
    """Reads the server behind `login`, and the machine that it runs on.

    `machine` None: this one, if the server's process can be seen here. Status is counted over `seconds`.
    Raises ServerError when there is no way in, HostError when the machine cannot be reached.
    """
    unread: list[Unread] = []
    read = read_server(login, unread, seconds=seconds, tell=tell, wait=wait)
    return System(
        mydyno=__version__,
        read_at=datetime.now(UTC).isoformat(timespec="seconds"),
        server=read.with_origins(None),
        host=None,
        unread=tuple(unread),
    )
