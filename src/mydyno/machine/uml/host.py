"""A User-Mode Linux guest as a host: booted, spoken to through its agent, ended."""

import json
import os
import shutil
import socket
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

from mydyno.core.errors import HostError, MissingToolError, MydynoError
from mydyno.core.units import format_bytes
from mydyno.core.writing import writing
from mydyno.machine.agent import AgentHost
from mydyno.machine.channel import Channel
from mydyno.machine.identity import guest_identity
from mydyno.machine.images.build import need
from mydyno.machine.local import LocalHost
from mydyno.machine.programs import find_program, inherited_environment
from mydyno.machine.uml.machine import AGENT, CONFIGURATION, UmlMachine

READY_SECONDS = 60.0
"""A guest answers after 1.5 s; on a machine with other work it may take many times that."""

_WRITE_BACK_SECONDS = 60.0
_KILLED_WITHIN_SECONDS = 10.0

_TEMPORARY = (Path("/dev/shm"), Path("/tmp"), Path("/var/tmp"))
_NAMESPACES = ("--mount", "--pid", "--fork", "--kill-child", "--mount-proc")


class UmlHost(AgentHost):
    """A guest that runs. It dies with mydyno, and ends when its channel does."""

    def __init__(self, machine: UmlMachine, console: Path, *, ready_seconds: float = READY_SECONDS) -> None:
        """Boots it and waits for its agent. `console` gets what the guest's kernel says.

        Raises HostError with the end of the console when the guest does not come, MissingToolError
        without bwrap where the kernel needs it.
        """
        if machine.kernel.libraries is not None:
            need("bwrap")
        if '"' in str(machine.folder):
            raise HostError(
                f"the kernel's command line cannot name {machine.folder}",
                "choose a lab without quotation marks",
            )
        self.console = console
        self._written = [share.path for share in machine.shares if not share.read_only]
        with writing(console):
            console.touch()
        self._console_start = console.stat().st_size
        _furnish(machine)
        ours, theirs = socket.socketpair()
        with ours, theirs:
            argv = machine.command_line(theirs.fileno(), isolation())
            memory = f"TMPDIR={machine.seen(_memory_folder(machine.memory_bytes))}"
            self._process = LocalHost().start(
                ["env", memory, *argv], output=console, inherited=[theirs.fileno()]
            )
            file = ours.detach()
        self._guest_channel = Channel(file, file, name="uml", console=self._output)
        try:
            super().__init__(
                self._guest_channel,
                name="uml",
                ephemeral=True,
                server_identity=guest_identity(),
                environment=_environment(),
                ready_seconds=ready_seconds,
            )
        except BaseException:
            self._end()
            raise

    @property
    def reservable_bytes(self) -> int:
        """Its memory: the kernel's address space is too small for those who reserve terabytes."""
        return self.hello.memory_bytes

    @property
    def pid(self) -> int:
        """The child of mydyno's that all of the guest's processes go with."""
        return self._process.pid

    def close(self) -> None:
        """Ends the guest; what it has written to shared folders is there. A lost one is only tidied up.

        The kernel's own way down would wait a second for every kind of array.
        """
        with suppress(HostError):
            for folder in self._written:
                self.run(["sync", "--file-system", str(folder)], timeout_seconds=_WRITE_BACK_SECONDS)
        self._end()

    def _end(self) -> None:
        self._process.kill()
        self._process.wait(_KILLED_WITHIN_SECONDS)
        self._guest_channel.close()

    def _output(self) -> str:
        with self.console.open("rb") as file:
            file.seek(self._console_start)
            return file.read().decode(errors="replace")


def _furnish(machine: UmlMachine) -> None:
    """Puts the agent and its settings into the guest's private folder."""
    with writing(machine.folder):
        shutil.copyfile(find_program("mydyno-agent"), machine.folder / AGENT)
        (machine.folder / AGENT).chmod(0o755)
        (machine.folder / CONFIGURATION).write_text(json.dumps(machine.configuration()))


def _environment() -> Mapping[str, str]:
    """This machine's programs are the guest's; its temporary folder is not."""
    return {name: value for name, value in inherited_environment().items() if name != "TMPDIR"}


def _memory_folder(size: int) -> Path:
    """A folder for the file that is the guest's memory: the kernel removes its name at once."""
    free = {}
    for folder in _TEMPORARY:
        with suppress(OSError):
            space = os.statvfs(folder)
            free[folder] = space.f_bavail * space.f_frsize
            if free[folder] > size:
                return folder
    raise MissingToolError(
        f"there is no room for a guest's memory of {format_bytes(size)}: "
        + ", ".join(f"{folder} has {format_bytes(room)} free" for folder, room in free.items()),
        "give the guest less (host: {kind: uml, memory: ...})",
    )


@cache
def isolation() -> tuple[str, ...]:
    """`unshare` with what this user may have; empty on a machine that allows none to an ordinary user.

    Without it a killed mydyno leaves helpers of the kernel behind, which the journal's undo ends.
    """
    user = () if os.geteuid() == 0 else ("--user", "--map-current-user")
    command = ("unshare", *user, *_NAMESPACES)
    try:
        return command if LocalHost().run([*command, "--", "true"]).returncode == 0 else ()
    except MydynoError:
        return ()
