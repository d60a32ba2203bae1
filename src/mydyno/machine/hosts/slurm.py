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
import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mydyno.core.errors import HostError, MissingToolError, UsageError
from mydyno.machine.local import LocalHost

if TYPE_CHECKING:
    from mydyno.machine.hosts.entry import HostEntry

WAIT_SECONDS = 30
"""For a node that another job has: then it is refused, not waited for."""
_ANSWER_SECONDS = 60.0
# The shell lets go of its ends of the stream, so that the last one is that of the command. It is asked to end
# when srun waits for a step that says nothing any more.
HELD = (
    'unset SLURM_JOB_ID SLURM_JOBID; exec 3<&0; "$@" <&3 3<&- & trap "kill -KILL $!" TERM; '
    "exec 3<&- </dev/null; wait $!"
)
"""Runs a command that does not die with mydyno, and whose standard input ends with it."""

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
        require("srun")
        return [
            *("sh", "-c", HELD, "sh", "srun", "--exclusive", f"--immediate={WAIT_SECONDS}"),
            *(*self._partition, f"--nodelist={self._node}", f"--job-name={self._job}"),
            *step_options(line),
        ]

    def explained(self, errors: str) -> HostError:
        return slurm_error(self.address, errors, self._node)

    def give_up(self) -> None:
        """A node whose slurmstepd was killed keeps its job, for the step does not end. Raises HostError."""
        cancel(self._job)

    def limit(self, seconds: float) -> None:
        """Raises HostError."""
        limit_jobs(self._job, seconds)


def step_options(line: str) -> list[str]:
    """Of srun, for one task that runs a line of shell."""
    return [
        *("--quiet", "--unbuffered", "--nodes=1", "--ntasks=1", "--mem=0", "--cpu-bind=none", "--chdir=/"),
        *("env", "LC_ALL=C", "sh", "-c", line),
    ]


def cancel(name: str) -> None:
    """Ends the jobs of this name. Raises HostError."""
    _output(["scancel", f"--name={name}"])


def limit_jobs(name: str, seconds: float) -> None:
    """Lowers the time limit that the partition gave the jobs of this name; a lower one stays.

    Raises HostError.
    """
    minutes = max(1, math.ceil(seconds / 60))
    for job in _output(["squeue", "--noheader", f"--name={name}", "--format=%A"]).split():
        argv = ["scontrol", "update", f"JobId={job}", f"TimeLimit={minutes}"]
        done = LocalHost().run(argv, timeout_seconds=_ANSWER_SECONDS)
        # Only an administrator may raise it.
        if done.returncode != 0 and "denied" not in done.stderr:
            raise slurm_error("slurm", done.stderr)


def nodes_of(partition: str) -> dict[str, str | None]:
    """The nodes of a partition that are up, each with its IP address where Slurm knows it.

    Raises MissingToolError, HostError, UsageError for none.
    """
    require("sinfo")
    listed = _output(
        ["sinfo", "--noheader", "--responding", "--Node", f"--partition={partition}", "--format=%N %o"]
    )
    nodes = {node: _address(name) for node, name in map(str.split, listed.splitlines())}
    if not nodes:
        raise UsageError(
            f"the Slurm partition {partition} has no node that answers",
            "`sinfo` lists partitions and their nodes",
        )
    return nodes


def _address(name: str) -> str | None:
    """A cluster may name its nodes' addresses by numbers or by hosts."""
    try:
        return str(socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)[0][4][0])
    except OSError:
        return None


def require(*programs: str) -> None:
    """Raises MissingToolError."""
    for program in programs:
        if shutil.which(program) is None:
            raise MissingToolError(
                f"{program} of Slurm was not found", "run mydyno where Slurm's commands are: a login node"
            )


def _output(argv: Sequence[str]) -> str:
    done = LocalHost().run(argv, timeout_seconds=_ANSWER_SECONDS)
    if done.returncode != 0:
        raise slurm_error("slurm", done.stderr)
    return done.stdout


def slurm_error(address: str, errors: str, node: str = "NODE") -> HostError:
    lines = errors.strip().splitlines()
    last = lines[-1].strip() if lines else "the job ended"
    hint = next((hint for pattern, hint in _WHY if re.search(pattern, errors)), None)
    return HostError(f"{address}: {last}", hint.format(node=node) if hint else None)
