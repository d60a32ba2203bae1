"""What a trial sees of the server under test, started by mydyno or not."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

from mydyno.core.server_variables import Setting
from mydyno.core.server_version import Version
from mydyno.machine.process_limits import LimitInForce, in_force
from mydyno.machine.protocol import Host
from mydyno.server.access import dbapi
from mydyno.server.access.login import Login


@dataclass(eq=False, kw_only=True)
class Server(ABC):
    """A server that answers: a private one of mydyno's (RunningServer), or another's (ExternalServer)."""

    login: Login
    """How the load gets in, from `host`."""
    version: Version
    host: Host
    """Where the load runs: on the server's host, if mydyno can be there."""
    pid: int | None
    """The server's process on `host`; None when it runs elsewhere, or cannot be seen."""
    settings: Mapping[str, Setting]
    """The configured ones, under the names that the server knows."""

    @abstractmethod
    def alive(self) -> bool:
        """Whether it is still there; not whether it answers at once."""

    @abstractmethod
    def connect(self, *, answer_seconds: int = 30) -> dbapi.Connection[dbapi.Cursor]:
        """A new connection for administration. Raises dbapi.Error."""

    @abstractmethod
    def variables(self) -> dict[str, str]:
        """`SHOW GLOBAL VARIABLES`: the settings in force. Raises ServerError when it does not answer."""

    def limits(self) -> tuple[LimitInForce, ...]:
        """What the operating system lets its process have; nothing when that cannot be seen."""
        return () if self.pid is None else in_force(self.host, self.pid)
