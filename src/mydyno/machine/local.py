"""This machine as a host."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import IO, BinaryIO, cast

from mydyno.core.errors import MissingToolError, ServerError
from mydyno.core.facts import HostFacts
from mydyno.core.removal import remove_tree
from mydyno.core.writing import writing
from mydyno.machine.environment import Environment, read_environment, read_facts
from mydyno.machine.identity import Identity, server_identity, tied_to_parent
from mydyno.machine.programs import find_program, inherited_environment
from mydyno.machine.protocol import Finished, HeldFile, Host

# The kernel kills a tied process when the THREAD that started it ends, so one thread that lives as
# long as mydyno starts them all, whichever thread asks.
_launcher = ThreadPoolExecutor(max_workers=1, thread_name_prefix="launcher")
OWNER_ONLY = 0o600
READABLE = 0o444


class MemoryFile:
    """Anonymous memory (memfd_create(2)) that children inherit as a descriptor and open as a file.

    Give `descriptor` as one of `pass_fds` to a child that opens `path`. Programs of another user need
    the mode READABLE. Clients of MySQL and MariaDB ignore an option file that anybody may write.
    """

    def __init__(self, content: bytes, mode: int = OWNER_ONLY) -> None:
        self.descriptor = os.memfd_create("held", 0)
        os.write(self.descriptor, content)
        os.fchmod(self.descriptor, mode)

    @property
    def path(self) -> str:
        return f"/proc/self/fd/{self.descriptor}"

    def wipe(self) -> None:
        """Empties it, for the processes that have it too, and closes it. May be called twice."""
        if self.descriptor >= 0:
            os.ftruncate(self.descriptor, 0)
            os.close(self.descriptor)
            self.descriptor = -1


def _launch_again() -> None:
    """A fork has the queue for that thread, and not the thread: what it requested would never start."""
    global _launcher
    _launcher = ThreadPoolExecutor(max_workers=1, thread_name_prefix="launcher")


os.register_at_fork(after_in_child=_launch_again)


class LocalProcess:
    """A child of this process, in a separate process group: Ctrl-C in the terminal does not reach it."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self._child = child
        self.pid = child.pid

    def returncode(self) -> int | None:
        return self._child.poll()

    def wait(self, seconds: float) -> int | None:
        try:
            return self._child.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def terminate(self) -> None:
        self._child.terminate()

    def kill(self) -> None:
        self._child.kill()


class LocalConversation(LocalProcess):
    """The same, with pipes to it. Its errors go to a file without a name, so that they never block it."""

    def __init__(self, child: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
        super().__init__(child)
        self.stdin, self.stdout = cast(BinaryIO, child.stdin), cast(BinaryIO, child.stdout)
        self._errors = errors

    def errors(self) -> str:
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")

    def close(self) -> None:
        if self._child.poll() is None:
            self._child.kill()
        for pipe in (self.stdin, self.stdout):
            # What a dead process has not read cannot be flushed to it any more.
            with suppress(BrokenPipeError):
                pipe.close()
        self._child.wait()
        self._errors.close()


class LocalHost(Host):
    """Commands run here, directly."""

    name = "local"
    ephemeral = False

    def __init__(self) -> None:
        self.server_identity = server_identity()

    def run(
        self,
        argv: Sequence[str],
        *,
        identity: Identity | None = None,
        stdin: bytes = b"",
        timeout_seconds: float = 60.0,
    ) -> Finished:
        child = launch(argv, identity, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            stdout, stderr = child.communicate(stdin, timeout_seconds)
        except subprocess.TimeoutExpired as error:
            raise ServerError(f"{argv[0]} did not end within {timeout_seconds:g} s and was killed") from error
        finally:
            if child.returncode is None:
                child.kill()
                child.wait()
        return Finished(
            tuple(argv), child.returncode, stdout.decode(errors="replace"), stderr.decode(errors="replace")
        )

    def start(
        self,
        argv: Sequence[str],
        *,
        identity: Identity | None = None,
        output: Path,
        held: Sequence[HeldFile] = (),
        inherited: Sequence[int] = (),
    ) -> LocalProcess:
        """As every host's; `inherited` are descriptors of this process that it has too, by their numbers."""
        descriptors = (*inherited, *(each.descriptor for each in held if isinstance(each, MemoryFile)))
        with output.open("ab") as log:
            return LocalProcess(
                launch(argv, identity, stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=descriptors)
            )

    def open(self, argv: Sequence[str], *, identity: Identity | None = None) -> LocalConversation:
        errors = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the process)
        try:
            child = launch(argv, identity, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)
        except BaseException:
            errors.close()
            raise
        return LocalConversation(child, errors)

    def hold(self, content: bytes) -> HeldFile:
        return MemoryFile(content, READABLE)

    def dial(self, path: Path) -> socket.socket:
        stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            stream.connect(str(path))
        except BaseException:
            stream.close()
            raise
        return stream

    def program(self, name: str) -> Path:
        return find_program(name)

    def exists(self, path: Path) -> bool:
        return path.exists()

    def make_folder(self, path: Path, *, mode: int = 0o700, owner: Identity | None = None) -> None:
        with writing(path):
            path.mkdir(mode=mode)
            if owner is not None:
                os.chown(path, owner.uid, owner.gid, follow_symlinks=False)

    def remove_tree(self, path: Path) -> None:
        with writing(path):
            if path.is_dir() and not path.is_symlink():
                remove_tree(path)
            else:
                path.unlink(missing_ok=True)

    def read_text(self, path: Path) -> str | None:
        try:
            return path.read_text(errors="replace")
        except OSError:
            return None

    def write_text(self, path: Path, text: str, *, owner: Identity | None = None) -> None:
        with writing(path):
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "w") as file:
                if owner is not None:
                    os.fchown(descriptor, owner.uid, owner.gid)
                file.write(text)

    def facts(self, path: Path) -> HostFacts:
        return read_facts(path)

    def environment(self, path: Path) -> Environment:
        return read_environment(path)


def launch(
    argv: Sequence[str],
    identity: Identity | None,
    *,
    stdin: int,
    stdout: int | IO[bytes],
    stderr: int | IO[bytes],
    pass_fds: tuple[int, ...] = (),
) -> subprocess.Popen[bytes]:
    """Starts a child that dies with mydyno, in a separate process group. Raises MissingToolError.

    Not in a separate session: the kernel shares the CPUs out between sessions (sched(7), "The autogroup
    feature"), and mydyno would wait for seconds for its turn between a server and an engine under load.
    """
    if shutil.which(argv[0]) is None:
        raise MissingToolError(f"{argv[0]} was not found on this machine, or may not be executed")
    command = tied_to_parent(argv, identity, os.getpid())
    return _launcher.submit(
        lambda: subprocess.Popen(
            command,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            pass_fds=pass_fds,
            env=inherited_environment(),
            cwd="/",
            process_group=0,
        )
    ).result()
