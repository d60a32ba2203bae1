"""What another machine costs: the CPU of an idle agent there, the round trip of a command over ssh, and a
load at a given rate from two generators against the same from one.

A private sshd on 127.0.0.1 plays the other machine. The idle session has a folder of its own, as that of a
trial, so the agent watches for mydyno's end meanwhile.

And what a fleet gains: 12 trials of a load that mostly sleeps, on three hosts side by side and on one.

    python benchmarks/hosts.py [--seconds 60] [--commands 200] [--measure 8] [--rate 500] [--repeats 3]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from bench_support import machine, print_table, say

from mydyno.core.plurals import counted
from mydyno.lab.results.store import Lab
from mydyno.machine.hosts.entry import HostEntry
from mydyno.machine.hosts.host import RemoteHost, connect

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from live.sshd import Sshd, private_sshd

MOST_IDLE = 0.001
MOST_OF_FLEET = 0.4
"""Time on three hosts over that on one, with the dataset there and no A/A over hosts."""
MYDYNO = Path(sys.executable).parent / "mydyno"
SLEEPING = """experiment: sleeping
setup: {{host: ssh, server: {{config: {{innodb_buffer_pool_size: 16M}}}}}}
workload:
  oltp04: {{table_size: 1000}}
  connections: [1]
  think: 200ms
  each: {{measure: {measure:g}s}}
design: {{repeats: {repeats}, control: false}}
"""
MOST_APART = 0.02
SPLIT = """experiment: generators
load: {{hosts: [{hosts}], address: 127.0.0.1}}
workload:
  oltp-point-select: {{table_size: 1000}}
  connections: 4
  each: {{warmup: 1s, measure: 10s}}
  arrival: {{fixed: {rate}/s}}
design: {{repeats: 1}}
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60, help="of idleness")
    parser.add_argument("--commands", type=int, default=200)
    parser.add_argument("--measure", type=float, default=8, help="seconds of load in a trial of the fleet")
    parser.add_argument("--rate", type=int, default=500, help="transactions a second")
    parser.add_argument("--repeats", type=int, default=3, help="of each load, whose medians are compared")
    options = parser.parse_args()
    print(f"{machine()}\n")
    with tempfile.TemporaryDirectory(prefix="mydyno-bench-") as name:
        folder = Path(name)
        # The ordinary user of the sshd passes through it.
        folder.chmod(0o755)
        places = [folder / str(number) for number in range(3)]
        with ExitStack() as running:
            for place in places:
                place.mkdir(mode=0o755)
            fleet = [running.enter_context(private_sshd(place, for_root=False)) for place in places]
            sshd = fleet[0]
            entry = HostEntry.model_validate({"destination": "there", "config": str(sshd.config)})
            began = time.monotonic()
            with closing(connect(entry, session=True)) as host:
                first = time.monotonic() - began
                trips = [_round_trip(host) for _ in range(options.commands)]
                share = _idle_share(_agent_of(host), options.seconds)
            began = time.monotonic()
            connect(entry, session=True).close()
            again = time.monotonic() - began
            alone, together = _fleet_seconds(folder, fleet, options.measure)
        one, two = (
            [_rate_of(folder, hosts, options.rate) for _ in range(options.repeats)]
            for hosts in (["c1"], ["c1", "c2"])
        )
    print_table(
        ("what", "measured", "wanted"),
        [
            ("CPU of an idle agent", f"{share:.3%}", f"at most {MOST_IDLE:.1%}"),
            ("a command there, median", f"{statistics.median(trips) * 1e3:.2f} ms", ""),
            ("connect with the programs copied", f"{first:.2f} s", ""),
            ("connect and close", f"{again:.2f} s", "at most 1 s of a trial"),
            ("12 trials on one host", f"{alone:.1f} s", ""),
            (
                "the same on a fleet of 3",
                f"{together:.1f} s, {together / alone:.2f} of it",
                f"at most {MOST_OF_FLEET:g} of it",
            ),
            (
                f"load at {options.rate}/s: two generators against one",
                f"{statistics.median(two) / statistics.median(one) - 1:+.2%}",
                f"within {MOST_APART:.0%}",
            ),
        ],
    )


def _fleet_seconds(folder: Path, fleet: Sequence[Sshd], measure: float) -> tuple[float, float]:
    """Of `mydyno run` with 12 trials, on the first host and on all of them."""
    _run_on(folder, fleet, measure, 1)  # Makes the dataset, and copies the programs.
    return _run_on(folder, fleet[:1], measure, 12), _run_on(folder, fleet, measure, 12)


def _run_on(folder: Path, fleet: Sequence[Sshd], measure: float, repeats: int) -> float:
    say(f"{counted(repeats, 'trial')} on {counted(len(fleet), 'host')}")
    experiment, hosts = folder / "sleeping.yaml", folder / "hosts.yaml"
    experiment.write_text(SLEEPING.format(measure=measure, repeats=repeats))
    entries = (
        f"  db{number}: {{destination: there, config: {sshd.config}, allow_production: true}}\n"
        for number, sshd in enumerate(fleet)
    )
    hosts.write_text(f"hosts:\n{''.join(entries)}")
    began = time.monotonic()
    subprocess.run(
        [MYDYNO, "run", experiment, "--hosts", hosts, "--no-report", "--again"],
        env={**os.environ, "MYDYNO_LAB": str(folder / "lab")},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return time.monotonic() - began


def _rate_of(folder: Path, hosts: list[str], rate: int) -> float:
    """Transactions a second that were carried out. Each generator has an sshd of its own."""
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=folder, prefix="g")))
        place.chmod(0o755)
        lines = []
        for name in hosts:
            (place / name).mkdir(mode=0o755)
            sshd = stack.enter_context(private_sshd(place / name, for_root=False))
            lines.append(f"  {name}: {{destination: there, config: {sshd.config}, allow_production: true}}\n")
        (place / "hosts.yaml").write_text(f"hosts:\n{''.join(lines)}")
        (place / "experiment.yaml").write_text(SPLIT.format(hosts=", ".join(hosts), rate=rate))
        named = ["--hosts", str(place / "hosts.yaml"), "--lab", str(place / "lab"), "--no-report"]
        subprocess.run(
            [MYDYNO, "run", str(place / "experiment.yaml"), *named], stdout=subprocess.DEVNULL, check=False
        )
        with Lab.open(place / "lab", write=False) as lab:
            [trial] = lab.find_run().trials()
    [phase] = trial.phases
    assert phase.transactions_per_second is not None
    return phase.transactions_per_second


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
