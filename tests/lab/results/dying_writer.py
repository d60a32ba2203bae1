"""A writer that kills itself: `python dying_writer.py LAB TRIALS STEP...`.

It saves trials t001, t002... and SIGKILLs itself right before its STEP-th act on the disk (a write, an fsync,
a rename, a statement of SQLite). STEP 0: it never does, so that its parent can. Each saved trial is announced
on standard output; at the end it prints the number of acts.

With several STEPs, each is a process of its own (forked, to pay for the imports once) with a lab of its own,
LAB/STEP, and its output in LAB/STEP.out.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lab.results.builders import experiment, save, trial
from mydyno.lab.results.store import Lab


class Fuse:
    """Counts acts once lit; at the given one the process is gone."""

    def __init__(self, step: int) -> None:
        self.step = step
        self.acts = 0
        self.lit = False

    def burn(self, *_: object) -> None:
        if not self.lit:
            return
        self.acts += 1
        if self.acts == self.step:
            os.kill(os.getpid(), signal.SIGKILL)

    def before(self, act: Callable[..., Any]) -> Callable[..., Any]:
        def burning(*arguments: Any, **named: Any) -> Any:
            self.burn()
            return act(*arguments, **named)

        return burning


def main(lab_path: Path, trials: int, step: int) -> None:
    fuse = Fuse(step)
    os.fsync = fuse.before(os.fsync)
    Path.rename = fuse.before(Path.rename)  # type: ignore[method-assign]
    Path.write_bytes = fuse.before(Path.write_bytes)  # type: ignore[method-assign]
    connect = sqlite3.connect

    def traced(*arguments: Any, **named: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **named)
        connection.set_trace_callback(fuse.burn)
        return connection

    sqlite3.connect = traced  # type: ignore[assignment]
    with Lab.open(lab_path, write=True) as lab:
        run = lab.run(experiment(trials=trials), "{}")
        fuse.lit = True
        for number in range(1, trials + 1):
            if f"t{number:03}" in run.completed():
                continue
            save(run, trial(number))
            print(f"t{number:03}", flush=True)
    print(fuse.acts, flush=True)


def main_of_many(folder: Path, trials: int, steps: list[int]) -> None:
    folder.mkdir()
    for step in steps:
        child = os.fork()
        if child == 0:
            output = os.open(folder / f"{step}.out", os.O_WRONLY | os.O_CREAT)
            os.dup2(output, 1)
            main(folder / str(step), trials, step)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status != -signal.SIGKILL:
            sys.exit(f"step {step} was not reached: exit status {status}")


if __name__ == "__main__":
    lab, trials, *steps = sys.argv[1:]
    if len(steps) == 1:
        main(Path(lab), int(trials), int(steps[0]))
    else:
        main_of_many(Path(lab), int(trials), [int(step) for step in steps])
