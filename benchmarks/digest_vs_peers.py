"""The digest of a slow log against pt-query-digest and mysqldumpslow: time, CPU and memory on the same log.

    python benchmarks/digest_vs_peers.py [--bytes N] [--peer-bytes N] [--stream-bytes N] [--rounds N]

The logs are benchmarks/slow_log.py's, one of each dialect. The peers take minutes for a gigabyte: with
--peer-bytes they get a smaller one, and half of it, which tells whether time grows as the log does; what
they would take for the whole is worked out from it and marked with ~. At the end a stream is digested that is
never on a disk.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench_support import machine, print_table, say, spread
from slow_log import DIALECTS, write_log

from mydyno.machine.images import unpacked
from mydyno.machine.programs import find_program

SUITE = "bookworm"
_POLL_SECONDS = 0.02
_GIGABYTE = 1_000_000_000
_GENERATOR = Path(__file__).with_name("slow_log.py")


@dataclass(frozen=True)
class Run:
    """One command from its start to its end, with what it started itself."""

    wall_s: float
    cpu_s: float
    peak_bytes: int


@dataclass(frozen=True)
class Row:
    name: str
    runs: tuple[Run, ...]
    scale: float = 1
    """How much larger the log would have to be."""

    def wall(self) -> float:
        return statistics.median(run.wall_s for run in self.runs) * self.scale

    def cpu(self) -> float:
        return statistics.median(run.cpu_s for run in self.runs) * self.scale


def run(command: Sequence[str], stdin: int | None = None) -> Run:
    """Runs a command whose output nobody reads. Ends the benchmark when it fails."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with _followed(process.pid) as peak:
        _, status, usage = os.wait4(process.pid, 0)
    wall_s = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed with status {process.returncode}")
    return Run(wall_s, usage.ru_utime + usage.ru_stime, peak[0])


@contextmanager
def _followed(pid: int) -> Iterator[list[int]]:
    """The largest resident memory of a process and its children together, polled: `ru_maxrss` of a child
    begins with that of its parent."""
    peak = [0]
    stopped = threading.Event()

    def follow() -> None:
        while not stopped.wait(_POLL_SECONDS):
            children = _read(f"/proc/{pid}/task/{pid}/children").split()
            peak[0] = max(peak[0], sum(_high_water(each) for each in (str(pid), *children)))

    thread = threading.Thread(target=follow)
    thread.start()
    try:
        yield peak
    finally:
        stopped.set()
        thread.join()


def _high_water(pid: str) -> int:
    lines = _read(f"/proc/{pid}/status").splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def _read(path: str) -> str:
    """Of a process that may have ended."""
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def ours(log: str) -> list[str]:
    return [sys.executable, "-m", "mydyno.cli.main", "digest", log]


def engine(log: str, threads: int) -> list[str]:
    return [str(find_program("mydyno-engine")), "digest", f"--threads={threads}", log]


def pt_query_digest(log: str) -> list[str]:
    """That in PATH, else Debian's, unpacked into mydyno's cache: to read logs it needs perl only."""
    name = "pt-query-digest"
    fetched = unpacked.folder_of("percona-toolkit") / "usr" / "bin" / name
    program = shutil.which(name)
    if program is None and not fetched.is_file():
        unpacked.fetch("percona-toolkit", SUITE, say)
    return ["perl", program or str(fetched), "--no-version-check", log]


def mysqldumpslow(log: str) -> list[str]:
    return ["mysqldumpslow", log]


PEERS = {"pt-query-digest": pt_query_digest, "mysqldumpslow": mysqldumpslow}


def generate(path: Path, size: int, dialect: str) -> str:
    with path.open("wb") as file:
        for part in write_log(size, DIALECTS[dialect]):
            file.write(part)
    return str(path)


def measure(whole: str, part: str, half: str, options: argparse.Namespace) -> list[Row]:
    """In turns, so that the machine's moods hit all of them."""
    mine = {
        "mydyno digest": ours(whole),
        "mydyno-engine, 2 threads": engine(whole, 2),
        "mydyno-engine, 1 thread": engine(whole, 1),
    }
    runs: dict[str, list[Run]] = {name: [] for name in (*mine, *PEERS)}
    for number in range(options.rounds):
        say(f"round {number + 1} of {options.rounds}")
        for name, command in PEERS.items():
            for its_name, its_command in mine.items():
                runs[its_name].append(run(its_command))
            runs[name].append(run(command(part)))
    scale = options.bytes / options.peer_bytes
    if scale > 1:
        for name, command in PEERS.items():
            halved = run(command(half)).cpu_s
            whole_cpu = statistics.median(each.cpu_s for each in runs[name])
            print(f"{name}: twice the log takes {whole_cpu / halved:.2f} times the CPU")
    return [Row(name, tuple(those), scale if name in PEERS else 1) for name, those in runs.items()]


def print_rows(rows: Sequence[Row]) -> None:
    first = rows[0]
    cells = [
        (
            row.name,
            ("~" if row.scale > 1 else "") + spread([run.wall_s * row.scale for run in row.runs], 2),
            spread([run.cpu_s * row.scale for run in row.runs], 2),
            f"{max(run.peak_bytes for run in row.runs) / 1e6:,.0f}",
            f"{row.wall() / first.wall():,.1f}",
            f"{row.cpu() / first.cpu():,.1f}",
        )
        for row in rows
    ]
    print_table(("command", "wall s", "CPU s", "peak MB", "wall / mydyno", "CPU / mydyno"), cells)


def bench(folder: Path, dialect: str, options: argparse.Namespace) -> None:
    say(f"writing a log of {options.bytes / 1e6:,.0f} MB")
    whole = generate(folder / "slow.log", options.bytes, dialect)
    part = half = whole
    if options.peer_bytes != options.bytes:
        part = generate(folder / "part.log", options.peer_bytes, dialect)
        half = generate(folder / "half.log", options.peer_bytes // 2, dialect)
    print(f"\nA slow log of {options.bytes / 1e6:,.0f} MB, as {dialect} writes it; {machine()}\n")
    print_rows(measure(whole, part, half, options))


def stream(size: int) -> Run:
    """A log that is digested while it is written."""
    with subprocess.Popen([sys.executable, str(_GENERATOR), str(size)], stdout=subprocess.PIPE) as generator:
        assert generator.stdout is not None
        return run(ours("-"), generator.stdout.fileno())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bytes", type=int, default=_GIGABYTE)
    parser.add_argument("--peer-bytes", type=int, help="what the peers get (default: the whole)")
    parser.add_argument("--stream-bytes", type=int, default=10 * _GIGABYTE, help="0: no stream")
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    options.peer_bytes = options.peer_bytes or options.bytes
    for dialect in DIALECTS:
        with tempfile.TemporaryDirectory(prefix="mydyno-bench-") as name:
            bench(Path(name), dialect, options)
    if options.stream_bytes:
        streamed = stream(options.stream_bytes)
        print(
            f"\nA stream of {options.stream_bytes / 1e9:,.1f} GB: {streamed.wall_s:,.0f} s, as fast as it is "
            f"written, {streamed.cpu_s:,.1f} s CPU, at most {streamed.peak_bytes / 1e6:,.0f} MB in memory"
        )


if __name__ == "__main__":
    main()
