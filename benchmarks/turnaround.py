"""What a change costs between two trials, through the real stack: everything that is not measuring.

    nothing              the same layers again
    server               another setting of the server, on the data as it is: stop, start
    clone and server     the next trial: stop, a fresh clone, start; what every trial of a run does
    full prepare         a dataset that is not there yet: system tables, loading, freeze, clone, start

For a small and a large dataset, interleaved; before each change the load has written for a while, so that the
server has dirty pages to deal with. Below it whole trials of `mydyno run`, less the time of their load, and a
clone of 2 GB on xfs, where blocks are shared (as root: on a loop device, in a private mount namespace).

    python benchmarks/turnaround.py [--rounds 5] [--rows 40000 4000000] [--prepares 2]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from bench_support import DATABASE, machine, print_table, run_engine, say, spread

from mydyno.core.errors import ExitCode
from mydyno.core.units import format_bytes
from mydyno.lab import workload
from mydyno.lab.results.store import Lab
from mydyno.lab.stack import (
    DataDirectoryLayer,
    DatasetLayer,
    FrozenDataset,
    Journal,
    Layer,
    RunningServer,
    ServerLayer,
    Setting,
    Site,
    Stack,
    find_binary,
    inspect_binary,
)
from mydyno.lab.stack.cache import PageCacheLayer
from mydyno.lab.stack.datasets import DatasetStore
from mydyno.machine.local import LocalHost

POOL = "512M"
WRITING_SECONDS = 2.0
MOST_SECONDS = 5.0
MOST_CLONE_SECONDS = 1.0
CLONED_BYTES = 2 << 30
KINDS = ("nothing", "server", "clone and server", "full prepare")
MYDYNO = Path(sys.executable).parent / "mydyno"

EXPERIMENT = """
experiment: turnaround
setup:
  server: {{config: {{innodb_buffer_pool_size: {pool}, max_connections: 50}}}}
factors:
  server.config.thread_cache_size: [8, 40]
workload:
  oltp-read-write: {{table_size: {rows}}}
  connections: 8
  each: {{measure: {seconds:g}s}}
design: {{repeats: {repeats}}}
"""


class Turnaround:
    """One dataset on one stack, moved from one state to the next."""

    def __init__(self, lab: Path, rows: int) -> None:
        self.rows = rows
        self._workload = {"program": workload.read("oltp-read-write").resolve({"table_size": rows}).program}
        self._binary = inspect_binary(LocalHost(), find_binary())
        self._site = Site(lab, LocalHost(), Journal(lab))
        self._folder = lab / f"server{rows}"
        self._folder.mkdir()
        self._stack = Stack(self._site)
        self._trial = 0
        self._cache = 8
        self.data_bytes = 0
        self.how = ""

    def change(self, kind: str) -> float:
        """Seconds from a server that has been written to, to one that answers with the change in place."""
        self._write()
        if kind == "server":
            self._cache += 1
        elif kind != "nothing":
            self._trial += 1
        started = time.monotonic()
        if kind == "full prepare":
            # The dataset on disk is that of the seed; another one has to be made from nothing.
            self._stack.close()
            store = DatasetStore(self._site.lab)
            for entry in store.entries():
                if entry.manifest is not None and entry.manifest.contents.get("rows") == self.rows:
                    store.remove(entry)
            started = time.monotonic()
        self._raise()
        return time.monotonic() - started

    def close(self) -> None:
        self._stack.close()

    def _raise(self) -> None:
        config: dict[str, Setting] = {"innodb_buffer_pool_size": POOL, "thread_cache_size": self._cache}
        layers: list[Layer] = [
            DatasetLayer(self._binary, config, contents={"rows": self.rows}, prepare=self._prepare),
            DataDirectoryLayer(trial=str(self._trial)),
            PageCacheLayer(drop=False),
            ServerLayer(self._binary, config, folder=self._folder),
        ]
        standing = self._stack.move_to(layers)
        server = standing.of(RunningServer)
        assert server.variables()["thread_cache_size"] == str(self._cache)
        self._server = server
        self.data_bytes = standing.of(FrozenDataset).size_bytes

    def _prepare(self, server: RunningServer) -> dict[str, Any]:
        run_engine(server, self._workload, [], prepare="create")
        return {}

    def _write(self) -> None:
        if not self._stack.layers:
            return
        work = {"kind": "timed", "warmup_s": 0.0, "measure_s": WRITING_SECONDS}
        run_engine(self._server, self._workload, [{"connections": 8, "work": work}])


def one_stack(arguments: argparse.Namespace, lab: Path) -> dict[tuple[int, str], list[float]]:
    times: dict[tuple[int, str], list[float]] = {}
    stands = [Turnaround(lab, rows) for rows in arguments.rows]
    try:
        for number in range(arguments.rounds):
            say(f"round {number + 1} of {arguments.rounds}")
            for stand in stands if number % 2 == 0 else stands[::-1]:
                kinds = KINDS if number < arguments.prepares else KINDS[:-1]
                # The first has to make the dataset anyway.
                for kind in kinds[::-1] if number % 2 == 0 else kinds:
                    say(f"  {stand.rows:,} rows: {kind}")
                    times.setdefault((stand.rows, kind), []).append(stand.change(kind))
        sizes = {stand.rows: stand.data_bytes for stand in stands}
    finally:
        for stand in stands:
            stand.close()
    rows = [
        [f"{rows:,} rows, {format_bytes(sizes[rows])}", kind, str(len(values)), spread(values, 2)]
        for (rows, kind), values in sorted(
            times.items(), key=lambda item: (item[0][0], KINDS.index(item[0][1]))
        )
    ]
    print_table(["dataset", "change", "n", "seconds, median [least most]"], rows)
    return times


def whole_trials(arguments: argparse.Namespace, folder: Path) -> dict[int, list[float]]:
    """Rows -> for each trial but the first, which makes the dataset, its seconds less those of its phases."""
    found: dict[int, list[float]] = {}
    for rows in arguments.rows:
        say(f"trials of mydyno run with {rows:,} rows")
        file, lab = folder / f"turnaround-{rows}.yaml", folder / f"lab{rows}"
        repeats = max(2, arguments.rounds // 2 + 1)
        file.write_text(EXPERIMENT.format(pool=POOL, rows=rows, seconds=WRITING_SECONDS, repeats=repeats))
        command = [str(MYDYNO), "run", str(file), "--lab", str(lab), "--no-report"]
        done = subprocess.run(command, capture_output=True, text=True)
        # An invalid trial, on a busy machine, has had its time too.
        if done.returncode not in (0, ExitCode.INVALID_TRIALS):
            raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
        with Lab.open(lab, write=False) as opened:
            trials = opened.find_run().trials()[1:]
        found[rows] = [
            trial.seconds - sum(phase.ended_s - phase.started_s for phase in trial.phases) for trial in trials
        ]
    table = [[f"{rows:,}", str(len(values)), spread(values, 2)] for rows, values in found.items()]
    print("\nA trial of `mydyno run` less its load\n")
    print_table(["rows", "n", "seconds, median [least most]"], table)
    return found


CLONING = """
import json, os, sys
from pathlib import Path
from mydyno.machine.local import LocalHost
from mydyno.lab.stack.datadir import clone_tree

place, size = Path(sys.argv[1]), int(sys.argv[2])
(place / "frozen" / "data").mkdir(parents=True)
for number in range(16):
    with (place / "frozen" / "data" / f"t{number}.ibd").open("wb") as file:
        for _ in range(size // 16 >> 20):
            file.write(os.urandom(1 << 20))
os.sync()
free = os.statvfs(place).f_bavail * os.statvfs(place).f_frsize
for number in range(int(sys.argv[3])):
    (place / f"trial{number}").mkdir()
    done = clone_tree(LocalHost(), place / "frozen" / "data", place / f"trial{number}" / "data", size)
    os.sync()
    left = os.statvfs(place).f_bavail * os.statvfs(place).f_frsize
    print(json.dumps({"how": done.how, "seconds": done.seconds, "taken": free - left}), flush=True)
    free = left
"""


@contextmanager
def on_xfs(folder: Path) -> Iterator[list[str]]:
    """A command that runs what follows it where `folder`/xfs is an xfs of its own."""
    image, place = folder / "xfs.img", folder / "xfs"
    with image.open("wb") as file:
        file.truncate(2 * CLONED_BYTES)
    place.mkdir()
    subprocess.run(["mkfs.xfs", "-q", str(image)], check=True)
    mounted = f'mount -o loop "{image}" "{place}" && exec "$@"'
    yield ["unshare", "--mount", "--propagation", "private", "sh", "-c", mounted, "sh"]
    with suppress(FileNotFoundError):
        image.unlink()


def clones_on_xfs(arguments: argparse.Namespace, folder: Path) -> list[float]:
    if os.geteuid() != 0:
        say("no clone on xfs: mounting needs root")
        return []
    say(f"clones of {format_bytes(CLONED_BYTES)} on xfs")
    with on_xfs(folder) as inside:
        command = [*inside, sys.executable, "-c", CLONING, str(folder / "xfs"), str(CLONED_BYTES)]
        done = subprocess.run([*command, str(arguments.rounds)], check=True, capture_output=True, text=True)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    seconds = [each["seconds"] for each in told]
    most = format_bytes(max(each["taken"] for each in told))
    how = ", ".join(sorted({each["how"] for each in told}))
    print(f"\nA clone of {format_bytes(CLONED_BYTES)} on xfs\n")
    table = [how, str(len(seconds)), spread(seconds, 3), most]
    print_table(["how", "n", "seconds, median [least most]", "disk taken, at most"], [table])
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", type=int, nargs="+", default=[40_000, 4_000_000])
    parser.add_argument("--prepares", type=int, default=2, help="Rounds that make the dataset anew.")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mydyno-bench-") as name:
        folder = Path(name)
        # The server runs as another user when root starts it.
        folder.chmod(0o755)
        (folder / "lab").mkdir()
        say(f"{machine()}; buffer pool {POOL}, {WRITING_SECONDS:g} s of {DATABASE} writes before each change")
        times = one_stack(arguments, folder / "lab")
        trials = whole_trials(arguments, folder)
        clones = clones_on_xfs(arguments, folder)
    restarts = [seconds for (_, kind), values in times.items() if kind == "server" for seconds in values]
    overheads = [seconds for values in trials.values() for seconds in values]
    for what, values, most in (
        ("restarts of the server", restarts, MOST_SECONDS),
        ("trials less their load", overheads, MOST_SECONDS),
        ("clones on xfs", clones, MOST_CLONE_SECONDS),
    ):
        kept = sum(seconds < most for seconds in values)
        print(f"{kept} of {len(values)} {what} took less than {most:g} s")


if __name__ == "__main__":
    main()
