"""A node of a Slurm cluster: srun(1) carries the bytes, within an exclusive allocation of that node.

The allocation lasts as long as what runs there, and no longer than its time limit. A killed srun would leave
its job behind, so it does not die with mydyno: a shell does, and srun reads the end of its standard input,
which ends the agent there, and the job with it.
"""

from __future__ import annotations

import math
import re
import secrets
import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mydyno.core.errors import HostError, MissingToolError, UsageError
from mydyno.machine.local import LocalHost

if TYPE_CHECKING:
    from mydyno.machine.hosts.entry import HostEntry

_WAIT_SECONDS = 30
"""For a node that another job has: then it is refused, not waited for."""
_ANSWER_SECONDS = 60.0
# The shell lets go of its ends of the stream, so that the last one is srun's.
_HELD = 'unset SLURM_JOB_ID SLURM_JOBID; exec 3<&0; "$@" <&3 3<&- & exec 3<&- </dev/null; wait $!'

_WHY = (
    (
        "Unable to allocate resources: (.*)",
        "`squeue --nodelist={node}` shows who has it; wait, or leave it out",
    ),
    ("invalid partition|Invalid node name", "`sinfo` lists partitions and their nodes"),
    ("Unable to contact slurm controller", "does `sinfo` work here? Run mydyno where Slurm's commands do"),
    ("TIME LIMIT|Time limit", "the partition's time limit is shorter than the run: take fewer repeats"),
)
"""What srun says, and how to fix it."""


class SlurmLauncher:
    def __init__(self, entry: HostEntry) -> None:
        self._node = entry.destination
        self._partition = (f"--partition={entry.partition}",) if entry.partition is not None else ()
        self._job = f"mydyno-{secrets.token_hex(4)}"

    @property
    def address(self) -> str:
        return f"slurm:{self._node}"

    def command(self, line: str) -> list[str]:
        """Raises MissingToolError."""
        _require("srun")
        return [
            *("sh", "-c", _HELD, "sh", "srun", "--quiet", "--unbuffered", "--nodes=1", "--ntasks=1"),
            *("--exclusive", "--mem=0", "--cpu-bind=none", "--chdir=/", f"--immediate={_WAIT_SECONDS}"),
            *(*self._partition, f"--nodelist={self._node}", f"--job-name={self._job}"),
            *("env", "LC_ALL=C", "sh", "-c", line),
        ]

    def explained(self, errors: str) -> HostError:
        return _error(f"slurm:{self._node}", errors, self._node)

    def limit(self, seconds: float) -> None:
        """Lowers the time limit that the partition gave; a lower one stays. Raises HostError."""
        jobs = _output(["squeue", "--noheader", f"--name={self._job}", "--format=%A"]).split()
        minutes = max(1, math.ceil(seconds / 60))
        for job in jobs:
            done = LocalHost().run(
                ["scontrol", "update", f"JobId={job}", f"TimeLimit={minutes}"],
                timeout_seconds=_ANSWER_SECONDS,
            )
            # Only an administrator may raise it.
            if done.returncode != 0 and "denied" not in done.stderr:
                raise _error(self.address, done.stderr, self._node)


def nodes_of(partition: str) -> tuple[str, ...]:
    """The nodes of a partition that are up. Raises MissingToolError, HostError, UsageError for none."""
    _require("sinfo")
    listed = _output(
        ["sinfo", "--noheader", "--responding", "--Node", f"--partition={partition}", "--format=%N"]
    )
    nodes = tuple(dict.fromkeys(listed.split()))
    if not nodes:
        raise UsageError(
            f"the Slurm partition {partition} has no node that answers",
            "`sinfo` lists partitions and their nodes",
        )
    return nodes


def _require(program: str) -> None:
    if shutil.which(program) is None:
        raise MissingToolError(
            f"{program} of Slurm was not found", "run mydyno where Slurm's commands are: a login node"
        )


def _output(argv: Sequence[str]) -> str:
    done = LocalHost().run(argv, timeout_seconds=_ANSWER_SECONDS)
    if done.returncode != 0:
        raise _error("slurm", done.stderr)
    return done.stdout


def _error(address: str, errors: str, node: str = "NODE") -> HostError:
    lines = errors.strip().splitlines()
    last = lines[-1].strip() if lines else "the job ended"
    hint = next((hint for pattern, hint in _WHY if re.search(pattern, errors)), None)
    return HostError(f"{address}: {last}", hint.format(node=node) if hint else None)
