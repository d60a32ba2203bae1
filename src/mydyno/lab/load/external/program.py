"""A foreign program: found, its version queried, run as a child that cannot outlive mydyno.

It gets a private folder (mode 0700) as its home, its working directory and its TMPDIR, so that no option
file of the user changes what it does, and an environment of four variables, so that MYSQL_PWD and its
like do not reach it.
"""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mydyno.core.errors import EngineError, MissingToolError
from mydyno.core.secrets import Secret
from mydyno.machine.identity import tied_to_parent
from mydyno.machine.local import MemoryFile

_ENDS_WITHIN_S = 10.0
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Program:
    """An installed program. `name` is what it is called here, `version` what it says of itself."""

    path: Path
    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def find(names: Sequence[str], package: str, version: re.Pattern[str]) -> Program:
    """The first of `names` on PATH; `version` finds its version in what --version prints.

    Raises MissingToolError, which names the Debian package that has it.
    """
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        raise MissingToolError(
            f"{' or '.join(names)} was not found on PATH",
            f"install it: apt-get install {package} (Debian, Ubuntu)",
        )
    answer = subprocess.run(
        [found, "--version"], capture_output=True, text=True, errors="replace", timeout=10, check=False
    )
    match = version.search(answer.stdout)
    if answer.returncode or match is None:
        said = (answer.stdout + answer.stderr).strip()[:200]
        raise MissingToolError(
            f"{found} --version said {said!r}", f"this mydyno runs the one of the package {package}"
        )
    return Program(Path(found), Path(found).name, match[1])


class PrivateFolder:
    """A folder that only this user can look into, for the files of one program; `remove` it in the end.

    What must not be read later is on no disk: whatever ends mydyno, no password is left behind.
    """

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="mydyno-load-"))
        self._held: list[MemoryFile] = []

    def hold(self, text: str) -> str:
        """The path under which the program opens a file with `text`."""
        held = MemoryFile(text.encode())
        self._held.append(held)
        return held.path

    @property
    def descriptors(self) -> tuple[int, ...]:
        """Of the held files: the program inherits them."""
        return tuple(held.descriptor for held in self._held)

    def remove(self) -> None:
        while self._held:
            self._held.pop().wipe()
        shutil.rmtree(self.path, ignore_errors=True)


def refuse_in_file(password: Secret, unwritable: str, most_bytes: int, program: str) -> None:
    """Raises EngineError when the program's option file has no way to hold `password`."""
    text = password.reveal()
    if any(letter in unwritable or not letter.isprintable() for letter in text) or (
        len(text.encode()) > most_bytes
    ):
        raise EngineError(
            f"{program} cannot read this password from an option file, and elsewhere others could see it",
            f"give the account a password of at most {most_bytes} printable bytes without {unwritable}",
        )


@dataclass(frozen=True)
class Line:
    """One line of output (without its end) and when it was read, in ns of time.monotonic_ns()."""

    text: str
    at_ns: int


@dataclass(frozen=True)
class Closed:
    """The output has ended: no line follows."""


@dataclass(frozen=True)
class Ended:
    """How a program ended: a negative exit code is the signal. CPU is that of its whole life."""

    exit_code: int
    user_s: float
    system_s: float


class Child:
    """A running program. Each line of its output goes to `deliver`, from a separate thread; then Closed.

    It is started in a separate process group, so that Ctrl-C reaches mydyno alone. The thread that makes it
    must outlive it: the kernel kills it with that thread.
    """

    def __init__(
        self, argv: Sequence[str], folder: PrivateFolder, deliver: Callable[[Line | Closed], None]
    ) -> None:
        home = str(folder.path)
        self._process = subprocess.Popen(
            tied_to_parent(argv, None, os.getpid()),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=home,
            env={"PATH": os.environ.get("PATH", os.defpath), "HOME": home, "TMPDIR": home, "LC_ALL": "C"},
            process_group=0,
            pass_fds=folder.descriptors,
        )
        self._deliver = deliver
        self._reader = threading.Thread(target=self._read, name="mydyno-program-output", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._deliver(Line(line.decode(errors="replace").rstrip("\r\n"), time.monotonic_ns()))
        self._deliver(Closed())

    @property
    def pid(self) -> int:
        return self._process.pid

    def cpu_s(self) -> tuple[float, float]:
        """User and system seconds so far, in steps of a clock tick; those of an ended process too."""
        text = Path(f"/proc/{self.pid}/stat").read_text(errors="replace")
        fields = text[text.rindex(")") + 2 :].split()  # From field 3 on; 14 and 15 are utime and stime.
        return int(fields[11]) / _TICKS_PER_SECOND, int(fields[12]) / _TICKS_PER_SECOND

    def terminate(self) -> None:
        self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self._process.kill()

    def end(self) -> Ended:
        """Waits for its end, which its closed output has announced; kills it when it does not come."""
        deadline = time.monotonic() + _ENDS_WITHIN_S
        while self._process.returncode is None:
            pid, status, usage = os.wait4(self.pid, os.WNOHANG)
            if pid:
                self._process.returncode = os.waitstatus_to_exitcode(status)
                self._ended = Ended(self._process.returncode, usage.ru_utime, usage.ru_stime)
            elif time.monotonic() > deadline:
                self.kill()
                deadline = float("inf")
            else:
                time.sleep(0.005)
        self._reader.join()
        assert self._process.stdout is not None
        self._process.stdout.close()
        return self._ended


class Patience:
    """Notices that a program does nothing: its CPU time does not grow."""

    def __init__(self, child: Child, seconds: float) -> None:
        self._child = child
        self._seconds = seconds
        self._seen = child.cpu_s()
        self._since = time.monotonic()

    def is_over(self) -> bool:
        seen = self._child.cpu_s()
        if seen != self._seen:
            self._seen, self._since = seen, time.monotonic()
        return time.monotonic() - self._since > self._seconds
