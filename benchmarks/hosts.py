"""What another machine costs: the CPU of an idle agent there, and the round trip of a command over ssh.

A private sshd on 127.0.0.1 plays the other machine. The idle session has a folder of its own, as that of a
trial, so the agent watches for mydyno's end meanwhile.

    python benchmarks/hosts.py [--seconds 60] [--commands 200]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from bench_support import machine, print_table

from mydyno.machine.hosts.entry import HostEntry
from mydyno.machine.hosts.host import RemoteHost, connect

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from live.sshd import private_sshd

MOST_IDLE = 0.001


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60, help="of idleness")
    parser.add_argument("--commands", type=int, default=200)
    options = parser.parse_args()
    print(f"{machine()}\n")
    with tempfile.TemporaryDirectory(prefix="mydyno-bench-") as name:
        folder = Path(name)
        # The ordinary user of the sshd passes through it.
        folder.chmod(0o755)
        with private_sshd(folder, for_root=False) as sshd:
            entry = HostEntry.model_validate({"destination": "there", "config": str(sshd.config)})
            began = time.monotonic()
            with closing(connect(entry, session=True)) as host:
                first = time.monotonic() - began
                trips = [_round_trip(host) for _ in range(options.commands)]
                share = _idle_share(_agent_of(host), options.seconds)
            began = time.monotonic()
            connect(entry, session=True).close()
            again = time.monotonic() - began
    print_table(
        ("what", "measured", "wanted"),
        [
            ("CPU of an idle agent", f"{share:.3%}", f"at most {MOST_IDLE:.1%}"),
            ("a command there, median", f"{statistics.median(trips) * 1e3:.2f} ms", ""),
            ("connect with the programs copied", f"{first:.2f} s", ""),
            ("connect and close", f"{again:.2f} s", "at most 1 s of a trial"),
        ],
    )


def _round_trip(host: RemoteHost) -> float:
    began = time.monotonic()
    host.run(["true"])
    return time.monotonic() - began


def _agent_of(host: RemoteHost) -> int:
    """The process that starts commands there, which is here."""
    return int(host.run(["sh", "-c", "echo $PPID"]).stdout)


def _idle_share(pid: int, seconds: float) -> float:
    """CPU seconds a second of a process, user and system."""
    before, began = _cpu_seconds(pid), time.monotonic()
    time.sleep(seconds)
    return (_cpu_seconds(pid) - before) / (time.monotonic() - began)


def _cpu_seconds(pid: int) -> float:
    # In ns: the ticks of stat are too coarse for a process that hardly runs.
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


if __name__ == "__main__":
    main()
