"""Every environment variable that mydyno reads, in one place."""

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Variable:
    """An environment variable: its name and, for the documentation, what it does."""

    name: str
    meaning: str

    def read(self) -> str | None:
        """The value, or None when it is unset or empty."""
        return os.environ.get(self.name) or None


LAB = Variable("MYDYNO_LAB", "the folder that holds results, when --lab is not given (default: ./lab)")
ENGINE = Variable("MYDYNO_ENGINE", "the mydyno-engine binary to use instead of the installed one")
AGENT = Variable("MYDYNO_AGENT", "the mydyno-agent binary to use instead of the installed one")
SERVER = Variable("MYDYNO_SERVER", "the mysqld or mariadbd binary that `release: system` means")
CACHE = Variable(
    "MYDYNO_CACHE",
    "the folder for images, kernels and servers (default: $XDG_CACHE_HOME/mydyno, else ~/.cache/mydyno)",
)
STATE = Variable(
    "MYDYNO_STATE",
    "the folder that keeps what mydyno has changed outside the lab (default: /var/lib/mydyno for root, else "
    "$XDG_STATE_HOME/mydyno, else ~/.local/state/mydyno)",
)

ALL = (LAB, ENGINE, AGENT, SERVER, CACHE, STATE)
