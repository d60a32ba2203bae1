"""A machine over OpenSSH's own client: one shell there that answers, nothing installed, nothing written."""

import os
import secrets
import select
import shlex
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing

from mydyno.core.errors import HostError
from mydyno.machine.hosts.ssh import ssh_command, ssh_error
from mydyno.machine.local import LocalHost
from mydyno.machine.protocol import Finished
from mydyno.survey.host.machine import PATIENCE_SECONDS

_NO_SUCH_PROGRAM = 127
_MOST_AT_ONCE = 200
"""Requests on their way before an answer is read, so that neither side waits for the other to read."""
_BLOCK = 65536


class SshMachine:
    """`target` as ssh(1) takes it: USER@HOST, or a name of ~/.ssh/config. It must let one in without a
    password (BatchMode). `options` go to ssh before the target."""

    def __init__(self, target: str, port: int | None = None, options: Sequence[str] = ()) -> None:
        """Connects. Raises HostError, with the words of ssh."""
        self._target = target
        self._refused: dict[str, str] = {}
        self._texts: dict[str, str | None] = {}
        self._mark = f"mydyno-{secrets.token_hex(8)}"
        self._received = b""
        self._client = ssh_command(target, port, options)
        self._shell = LocalHost().open([*self._client, "exec env LC_ALL=C sh"])
        try:
            self._many([["true"]])
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Ends the shell there and the client here."""
        self._shell.close()

    @property
    def name(self) -> str:
        return self._target

    @property
    def refused(self) -> Mapping[str, str]:
        return self._refused

    def fetch(self, paths: Iterable[str]) -> None:
        wanted = [path for path in dict.fromkeys(paths) if path not in self._texts]
        for path, done in zip(wanted, self._many([["cat", "--", path] for path in wanted]), strict=True):
            self._texts[path] = done.stdout if done.returncode == 0 else None
            if done.returncode != 0:
                self._refused[path] = _reason(done.stderr)

    def read_text(self, path: str) -> str | None:
        self.fetch([path])
        return self._texts[path]

    def listing(self, folder: str) -> tuple[str, ...] | None:
        # The slash makes ls follow a link to a folder.
        (done,) = self._many([["ls", "-A", "--", f"{folder}/"]])
        if done.returncode != 0:
            self._refused[folder] = _reason(done.stderr)
            return None
        return tuple(sorted(done.stdout.splitlines()))

    def glob(self, pattern: str) -> tuple[str, ...]:
        (done,) = self._answers([f'for f in {pattern}; do [ -e "$f" ] && printf "%s\\n" "$f"; done'])
        return tuple(sorted(done.stdout.splitlines()))

    def real_path(self, path: str) -> str:
        (done,) = self._many([["readlink", "-f", "--", path]])
        return done.stdout.rstrip("\n") or path

    def run(self, argv: Sequence[str], *, patience_seconds: float = PATIENCE_SECONDS) -> Finished | None:
        (done,) = self._many([argv], patience_seconds)
        return None if done.returncode == _NO_SUCH_PROGRAM else done

    def blocks(self, line: str) -> Iterator[bytes]:
        """What a shell command writes, byte for byte, over a separate connection. It ends without an error
        however the command ends: the reader knows how much there should be."""
        far_shell = shlex.join(["exec", "env", "LC_ALL=C", "sh", "-c", line])
        with closing(LocalHost().open([*self._client, far_shell])) as far:
            far.stdin.close()
            while block := os.read(far.stdout.fileno(), _BLOCK):
                yield block

    def _many(
        self, commands: Sequence[Sequence[str]], patience_seconds: float = PATIENCE_SECONDS
    ) -> list[Finished]:
        done = self._answers([shlex.join(command) for command in commands], patience_seconds)
        return [
            Finished(tuple(command), each.returncode, each.stdout, each.stderr)
            for command, each in zip(commands, done, strict=True)
        ]

    def _answers(self, lines: Sequence[str], patience_seconds: float = PATIENCE_SECONDS) -> list[Finished]:
        """The answers to shell commands, in as few round trips as the lines allow."""
        done: list[Finished] = []
        for begin in range(0, len(lines), _MOST_AT_ONCE):
            batch = lines[begin : begin + _MOST_AT_ONCE]
            self._send("".join(map(self._framed, batch)))
            done += [self._answer(line, patience_seconds) for line in batch]
        return done

    def _framed(self, line: str) -> str:
        """Output, the mark, errors, the mark with the exit code: on one stream, so that nothing can stall."""
        mark = self._mark
        return (
            f'{{ e=$({{ {line}\n}} </dev/null 2>&1 1>&3 3>&-); r=$?; }} 3>&1; printf "\\n{mark}\\n"; '
            f'printf "%s" "$e"; printf "\\n{mark} %s\\n" "$r"\n'
        )

    def _send(self, text: str) -> None:
        try:
            self._shell.stdin.write(text.encode())
            self._shell.stdin.flush()
        except OSError:
            raise self._lost() from None

    def _answer(self, line: str, patience_seconds: float) -> Finished:
        deadline = time.monotonic() + patience_seconds
        output = self._up_to(f"\n{self._mark}\n".encode(), deadline)
        errors = self._up_to(f"\n{self._mark} ".encode(), deadline)
        code = self._up_to(b"\n", deadline)
        return Finished((line,), int(code), output.decode(errors="replace"), errors.decode(errors="replace"))

    def _up_to(self, mark: bytes, deadline: float) -> bytes:
        while mark not in self._received:
            ready, _, _ = select.select([self._shell.stdout], [], [], max(0.0, deadline - time.monotonic()))
            block = os.read(self._shell.stdout.fileno(), _BLOCK) if ready else b""
            if not block:
                raise self._lost() if ready else HostError(f"{self._target} did not answer in time")
            self._received += block
        before, _, self._received = self._received.partition(mark)
        return before

    def _lost(self) -> HostError:
        self._shell.wait(2.0)
        return ssh_error(self._target, self._shell.errors())


def _reason(errors: str) -> str:
    """`cat: /x: Permission denied` without what is known anyway."""
    lines = errors.strip().splitlines()
    return lines[-1].rpartition(": ")[2].lower() if lines else "it failed"
