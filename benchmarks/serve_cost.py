"""What `mydyno serve` costs: the run that is watched, its own CPU and memory, and how long the list takes.

    measurement      queries per second of the same run, in turn without `serve`, and with it and one browser
    CPU              of `serve` while a run writes its events, with 0, 1 and 20 watchers
    memory           of `serve` before and after one watcher has read the events of 24 hours
    list             seconds until the list of 10,000 trials is there

The browser is Chromium. The events of CPU and memory are made up, in the real format: an interval and a
sample for each second.

    python benchmarks/serve_cost.py [--rounds 8] [--seconds 5] [--watched 20] [--trials 10000]
"""

from __future__ import annotations

import argparse
import http.client
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from bench_support import machine, print_table, ratio, say
from lab.report.browser import browser
from serve.made import begin, make_many, make_run
from serve.site import MYDYNO, Site, process

from mydyno.lab.results.store import Lab
from mydyno.lab.trial import events

MOST_DIFFERENCE = 0.01
MOST_CPU = {0: 0.02, 1: 0.02, 20: 0.05}
MOST_LIST_S = 1.0
DAY_S = 86_400
LOOK = """
if (location.pathname === "/") {
  const run = document.querySelector("th a");
  if (run) run.click(); else location.reload();
}
"""
"""From the list to the run, as soon as there is one."""
EXPERIMENT = """
experiment: watched
setup: {{server: {{config: {{max_connections: 40, innodb_buffer_pool_size: 64M}}}}}}
workload:
  smack: {{scenario: select-key, rows: 20000}}
  connections: [8]
  each: {{warmup: 1s, measure: {seconds}s}}
design: {{repeats: 1, seed: {seed}}}
"""


def measured(folder: Path, seconds: float, number: int, *, watched: bool) -> float:
    """Queries per second of one trial."""
    name = f"{number}-{'watched' if watched else 'alone'}"
    lab, file = folder / name, folder / f"{name}.yaml"
    file.write_text(EXPERIMENT.format(seconds=seconds, seed=number))
    Lab.open(lab, write=True).close()
    with ExitStack() as stack:
        if watched:
            made = stack.enter_context(process(lab))[1]
            stack.enter_context(one_browser(made))
        command = [*MYDYNO, "run", str(file), "--lab", str(lab), "--no-report"]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    with Lab.open(lab, write=False) as opened:
        (trial,) = opened.find_run().trials()
    (phase,) = trial.phases
    assert phase.queries_per_second is not None
    return phase.queries_per_second


@contextmanager
def one_browser(made: Site) -> Iterator[None]:
    """Looks at the list, and at the run as soon as there is one."""
    ended = threading.Event()

    def look() -> None:
        try:
            with browser() as chromium, chromium.page() as page:
                page.call("Page.navigate", url=made.first)
                while not ended.wait(0.5):
                    page.ask(LOOK)
        except (pytest.skip.Exception, AssertionError):
            say("no Chromium: the run is watched by nobody")

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def watch(made: Site, path: str, ended: threading.Event) -> None:
    """Reads a stream until the end."""
    connection = http.client.HTTPConnection("127.0.0.1", made.port, timeout=2)
    connection.request("GET", path, headers={"Cookie": made.cookie})
    answer = connection.getresponse()
    while not ended.is_set():
        try:
            if not answer.read1(1 << 16):
                break
        except TimeoutError:
            continue
    connection.close()


def cpu_share(folder: Path, watchers: int, seconds: float) -> float:
    """CPU of `serve`, of one CPU, while a run writes an interval and a sample each second."""
    lab = folder / f"watchers-{watchers}"
    with Lab.open(lab, write=True) as opened:
        run = make_run(opened, 0, 8, 2)
        log = events.EventLog(run / "events.jsonl")
        log(events.RunStarted("oltp-0", str(run), 8, 2, 600.0))
        begin(log, 2, 8)
        ended = threading.Event()
        with process(lab) as (server, made):
            made.ask(f"/runs/{run.name}")
            path = f"/runs/{run.name}/events"
            threads = [threading.Thread(target=watch, args=(made, path, ended)) for _ in range(watchers)]
            for each in threads:
                each.start()
            time.sleep(1)
            before, began = cpu_seconds(server.pid), time.monotonic()
            while time.monotonic() - began < seconds:
                second(log)
                time.sleep(1)
            share = (cpu_seconds(server.pid) - before) / (time.monotonic() - began)
            ended.set()
            for each in threads:
                each.join()
    return share


def second(log: events.EventLog) -> None:
    log(events.Measured(0, 8, 1000.0, 1_500_000, 0, p50_ns=800_000, p99_ns=2_500_000))
    log(events.Sampled(1.25, 1e6, 2e6, 30.0, 8))


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def memory(folder: Path) -> tuple[int, int]:
    """Bytes of `serve` after the first hour and after the last of a day."""
    lab = folder / "day"
    with Lab.open(lab, write=True) as opened:
        run = make_run(opened, 0, 8, 2)
        file = run / "events.jsonl"
        log = events.EventLog(file)
        log(events.RunStarted("oltp-0", str(run), 8, 2, 600.0))
        begin(log, 2, 8)
        size = file.stat().st_size
        second(log)
        pair = file.read_bytes()[size:]
        ended = threading.Event()
        found = []
        with process(lab) as (server, made):
            thread = threading.Thread(target=watch, args=(made, f"/runs/{run.name}/events", ended))
            thread.start()
            for _ in range(24):
                with file.open("ab") as more:
                    more.write(pair * (DAY_S // 24))
                made.ask(f"/runs/{run.name}")
                time.sleep(1)
                found.append(resident_bytes(server.pid))
            ended.set()
            thread.join()
    return found[0], found[-1]


def list_seconds(folder: Path, trials: int) -> list[float]:
    lab = folder / "large"
    make_many(lab, trials // 100, 100)
    taken = []
    with process(lab) as (_, made):
        for _ in range(5):
            began = time.monotonic()
            assert made.ask("/").status == 200
            taken.append(time.monotonic() - began)
            time.sleep(1.2)  # The list is kept for a second.
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=5.0, help="Of each trial.")
    parser.add_argument("--watched", type=float, default=20.0, help="Seconds of each measurement of CPU.")
    parser.add_argument("--trials", type=int, default=10_000, help="Of the large lab.")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="mydyno-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        rates: dict[bool, list[float]] = {False: [], True: []}
        for number in range(arguments.rounds):
            for watched in (False, True) if number % 2 == 0 else (True, False):
                say(f"round {number + 1} of {arguments.rounds}, {'watched' if watched else 'alone'}")
                rates[watched].append(measured(folder, arguments.seconds, number, watched=watched))
        if arguments.rounds:
            mean, low, high = ratio(rates[True], rates[False])
            kept = (
                "kept" if abs(low - 1) < MOST_DIFFERENCE and abs(high - 1) < MOST_DIFFERENCE else "not shown"
            )
            rows.append(
                ["queries/s, watched over alone", f"{mean:.4f} [{low:.4f} {high:.4f}]", f"±1%: {kept}"]
            )
        for watchers, most in MOST_CPU.items():
            say(f"{watchers} watchers")
            share = cpu_share(folder, watchers, arguments.watched)
            judged = "kept" if share <= most else "BROKEN"
            rows.append([f"CPU with {watchers} watchers", f"{share:.2%} of one", f"{most:.0%}: {judged}"])
        say("a day of events")
        first, last = memory(folder)
        rows.append(["memory after 1 h and 24 h", f"{first / 1e6:.1f} and {last / 1e6:.1f} MB", "flat"])
        say(f"{arguments.trials} trials")
        taken = list_seconds(folder, arguments.trials)
        judged = "kept" if max(taken) < MOST_LIST_S else "BROKEN"
        found = f"{statistics.median(taken):.3f} s, at most {max(taken):.3f} s"
        rows.append([f"list of {arguments.trials} trials", found, f"{MOST_LIST_S:g} s: {judged}"])
    print(f"\nWhat mydyno serve costs. {machine()}\n")
    print_table(("what", "measured", "promise"), rows)


if __name__ == "__main__":
    main()
