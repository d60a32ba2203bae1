"""A Slurm cluster of three nodes on this machine, from Debian's packages unpacked into a folder, as root.

Nothing is installed: slurmd takes a node's name (-N), and nodes differ in their ports. `auth/none` is enough
where all daemons are on one machine, and needs no munge.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from live.packages import unpacked

ASKED = "MYDYNO_TEST_SLURM"
PARTITION = "lab"
NODES = ("n1", "n2", "n3")
_PACKAGES = (
    *("libhwloc15", "liblua5.1-0", "libmunge2"),
    *("slurm-wlm-basic-plugins", "slurm-client", "slurmd", "slurmctld"),
)
_COMMANDS = ("srun", "salloc", "sinfo", "squeue", "scontrol", "scancel")
_READY_SECONDS = 60.0


@dataclass(frozen=True)
class Cluster:
    folder: Path
    commands: Path
    """A folder for PATH with Slurm's commands, for this cluster."""
    start: Callable[[str], subprocess.Popen[bytes]]
    """The daemon of a node."""
    daemons: dict[str, subprocess.Popen[bytes]]

    def kill_daemon(self, node: str, away_s: float) -> None:
        """It is started again after so many seconds."""
        self.daemons[node].kill()
        self.daemons[node].wait(20)
        time.sleep(away_s)
        self.daemons[node] = self.start(node)

    def output(self, command: str, *arguments: str) -> str:
        done = subprocess.run(
            [self.commands / command, *arguments], capture_output=True, text=True, check=True, timeout=60
        )
        return done.stdout

    def steps(self, job: str) -> list[int]:
        """The slurmstepd of a job, by what they call themselves."""
        named = re.compile(rf"slurmstepd\S*: \[{job}\.".encode())
        steps = []
        for place in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                if named.match(place.read_bytes()):
                    steps.append(int(place.parent.name))
        return steps

    def jobs(self) -> dict[str, str]:
        """Node -> the job that has it."""
        return dict(
            line.split() for line in self.output("squeue", "--noheader", "--format=%N %A").splitlines()
        )


@contextmanager
def private_slurm(folder: Path) -> Iterator[Cluster]:
    """Runs until the block ends; skips the test, aloud, where it is not asked for or cannot be."""
    if not os.environ.get(ASKED):
        pytest.skip(f"a Slurm cluster is set up only when {ASKED}=1 asks for it: it downloads 4 MB")
    if os.geteuid() != 0:
        pytest.skip("daemons of Slurm for several nodes on one machine need root")
    root = unpacked(_PACKAGES, folder)
    libraries = root / "usr/lib/x86_64-linux-gnu"
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": f"{libraries}:{libraries}/slurm-wlm",
        "SLURM_CONF": str(folder / "slurm.conf"),
    }
    (folder / "slurm.conf").write_text(_configuration(folder, libraries / "slurm-wlm"))
    commands = _commands(folder, root, environment)
    controller = [str(root / "usr/sbin/slurmctld-wlm"), "-i", "-D"]
    daemon = [str(root / "usr/sbin/slurmd-wlm"), "-D", "-d", str(root / "usr/sbin/slurmstepd-wlm"), "-N"]

    def start(node: str) -> subprocess.Popen[bytes]:
        return _started([*daemon, node], folder / f"{node}.log", environment)

    daemons: dict[str, subprocess.Popen[bytes]] = {}
    controlling = _started(controller, folder / "controller.log", environment)
    try:
        for node in NODES:
            daemons[node] = start(node)
        cluster = Cluster(folder, commands, start, daemons)
        deadline = time.monotonic() + _READY_SECONDS
        while cluster.output("sinfo", "--noheader", "--format=%T %D").split() != ["idle", str(len(NODES))]:
            assert time.monotonic() < deadline, (folder / "controller.log").read_text()
            time.sleep(0.5)
        yield cluster
        # Its steps are children of none of these.
        cluster.output("scancel", f"--partition={PARTITION}")
    finally:
        for process in (*daemons.values(), controlling):
            process.terminate()
            process.wait(20)


def _started(argv: list[str], log: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    with log.open("ab") as output:
        return subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "--", *argv], env=environment, stdout=output, stderr=output
        )


def _commands(folder: Path, root: Path, environment: dict[str, str]) -> Path:
    """The commands with the libraries and the configuration of this cluster, which mydyno need not know."""
    place = folder / "bin"
    place.mkdir()
    for name in _COMMANDS:
        command = place / name
        command.write_text(
            f"#!/bin/sh\nexport LD_LIBRARY_PATH={environment['LD_LIBRARY_PATH']} "
            f'SLURM_CONF={environment["SLURM_CONF"]}\nexec {root}/usr/bin/{name} "$@"\n'
        )
        command.chmod(0o755)
    return place


def _configuration(folder: Path, plugins: Path) -> str:
    host = socket.gethostname().partition(".")[0]
    ports = [_free_port() for _ in (*NODES, "controller")]
    for name in ("state", "log", *(f"spool/{node}" for node in NODES)):
        (folder / name).mkdir(parents=True)
    nodes = "".join(
        f"NodeName={node} NodeAddr=127.0.0.1 NodeHostname={host} Port={port} CPUs=2 RealMemory=500\n"
        for node, port in zip(NODES, ports, strict=False)
    )
    return f"""ClusterName=private
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[-1]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
PluginDir={plugins}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmdPidFile={folder}/%n.pid
SlurmctldPidFile={folder}/controller.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=20
SlurmdParameters=config_overrides
{nodes}PartitionName={PARTITION} Nodes={",".join(NODES)} Default=YES OverSubscribe=EXCLUSIVE MaxTime=60
"""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def remove_node_folders() -> None:
    """mydyno's own of these nodes, which lie in /var/tmp of this machine."""
    for node in NODES:
        shutil.rmtree(f"/var/tmp/mydyno-{os.getuid()}-{node}", ignore_errors=True)
