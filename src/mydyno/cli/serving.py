"""`mydyno serve` next to a run, in a process of low priority that ends with it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from mydyno.cli import screen
from mydyno.cli.labs import LabOptions

_NICE = "10"
"""Enough for pages, on a machine whose CPUs are all busy."""


@contextmanager
def served(lab: LabOptions) -> Iterator[None]:
    """Serves the lab on a free port of this machine while the block runs; the address is printed first."""
    from mydyno.machine.identity import tied_to_parent

    command = [sys.executable, "-m", "mydyno", "serve", "--lab", str(lab.folder)]
    command += ["--listen", "127.0.0.1:0", *(["--trust"] if lab.trust else [])]
    process = subprocess.Popen(
        tied_to_parent(["nice", "-n", _NICE, *command], None, os.getpid()),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        # Ctrl-C is for the run, which ends it in turn.
        start_new_session=True,
    )
    assert process.stderr is not None
    try:
        screen.echo(process.stderr.readline().rstrip("\n"), err=True)
        # What it says later would be in the midst of the run's display.
        threading.Thread(target=_drain, args=(process.stderr,), daemon=True).start()
        yield
    finally:
        process.terminate()
        process.wait()


def _drain(stream: IO[str]) -> None:
    while stream.read(4096):
        pass
