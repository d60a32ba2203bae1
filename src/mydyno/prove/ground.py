"""Where advice is put to the test, and what that place takes."""

from collections.abc import Callable
from dataclasses import dataclass

from mydyno.core.grounds import GUESTS
from mydyno.prove.place import Place
from mydyno.survey.facts import FileSystem, System


def takes_all(name: str, value: str) -> str | None:
    """Of a server that was not queried."""
    return None


@dataclass(frozen=True)
class Ground:
    """A place, with what is known of it and of the system that the advice is about."""

    on: Place
    refuses: Callable[[str, str], str | None] = takes_all
    """Why the server there does not take a variable with that value; None when it does."""
    system: System | None = None
    """The facts that the advice was made of, where they are at hand."""
    most_open_files: int | None = None
    """Above this no process of ours can be allowed; None: not known."""

    @property
    def has_storage(self) -> bool:
        """Whether it builds separate disks and file systems."""
        return self.on in GUESTS

    @property
    def data(self) -> FileSystem | None:
        """The file system of the advised server's data directory."""
        host = self.system.host if self.system else None
        return host.storage.of("data") if host else None

    @property
    def data_disks(self) -> frozenset[str]:
        return frozenset(self.data.disks if self.data else ())
