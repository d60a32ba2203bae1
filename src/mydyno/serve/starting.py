"""Starting and stopping runs from the pages, where `--allow-run` was given."""

import os
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from mydyno.core.errors import UsageError
from mydyno.page.format import printable_lines
from mydyno.serve.activity import lock_holder

_LAST_LINES = 12


@dataclass
class Runner:
    """Starts `mydyno run` on the experiment files that the lab keeps of its runs, one at a time."""

    command: Sequence[str]
    """Of mydyno, to which the arguments are added."""
    lab: Path
    trust: bool
    _process: subprocess.Popen[bytes] | None = None
    _run: str = ""
    _output: IO[bytes] | None = field(default=None, repr=False)

    def start(self, run: Path, size: str, *, again: bool) -> None:
        """Continues the run in that folder, or measures its experiment again. Raises UsageError while another
        run is under way. The process goes on when this one ends."""
        if lock_holder(self.lab) is not None or (self._process is not None and self._process.poll() is None):
            raise UsageError("another run is under way", "stop it first, or wait until it ends")
        arguments = [*self.command, "run", str(run / "experiment.yaml"), "--lab", str(self.lab)]
        arguments += ["--size", size] if size else []
        arguments += ["--again"] if again else []
        arguments += ["--trust"] if self.trust else []
        if self._output is not None:
            self._output.close()
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - as long as its process
        self._run = run.name
        self._process = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=self._output,
            start_new_session=True,
        )

    def stop(self) -> None:
        """As Ctrl-C does: finished trials stay. Raises UsageError where nothing runs."""
        pid = lock_holder(self.lab)
        if pid is None:
            raise UsageError("no run is under way", "reload the page")
        os.kill(pid, signal.SIGINT)

    def failure(self, run: str) -> list[str]:
        """The last lines of the start of this run, where it has ended with an error."""
        if self._process is None or self._output is None or self._run != run:
            return []
        if self._process.poll() in (None, 0):
            return []
        self._output.seek(0)
        text = self._output.read().decode(errors="replace")
        return [line for line in printable_lines(text) if line.strip()][-_LAST_LINES:]
