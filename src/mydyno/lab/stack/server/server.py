"""What a trial sees of the server under test, started by mydyno or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from mydyno.core.server_variables import Setting
from mydyno.core.server_version import Version
from mydyno.machine.process_limits import LimitInForce
from mydyno.machine.protocol import Host
from mydyno.server.access import dbapi
from mydyno.server.access.login import Login


@runtime_checkable
class Server(Protocol):
    """A server that answers: a private one of mydyno's (RunningServer), or another's (ExternalServer)."""

    @property
    def version(self) -> Version: ...

    @property
    def login(self) -> Login:
        """How the load gets in, from `host`."""

    @property
    def host(self) -> Host:
        """Where the load runs: on the server's host, if mydyno can be there."""

    @property
    def pid(self) -> int | None:
        """The server's process on `host`; None when it runs elsewhere, or cannot be seen."""

    @property
    def settings(self) -> Mapping[str, Setting]:
        """The configured ones."""

    def alive(self) -> bool:
        """Whether it is still there; not whether it answers at once."""

    def connect(self, *, answer_seconds: int = 30) -> dbapi.Connection[dbapi.Cursor]:
        """A new connection for administration. Raises dbapi.Error."""

    def variables(self) -> dict[str, str]:
        """`SHOW GLOBAL VARIABLES`: the settings in force. Raises ServerError when it does not answer."""

    def limits(self) -> tuple[LimitInForce, ...]:
        """What the operating system lets its process have; nothing when that cannot be seen."""
