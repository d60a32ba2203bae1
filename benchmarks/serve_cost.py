"""What `mydyno serve` costs: the run that is watched, its own CPU and memory, and how long the list takes.

    measurement      queries per second of one run, with `serve` and one browser, and with both stopped;
                     and the CPU that both take meanwhile, of all CPUs: what the run cannot have
    CPU              of `serve` while a run writes its events, with 0, 1 and 20 watchers
    memory           of `serve` before and after one watcher has read the events of 24 hours
    list             seconds until the list of 10,000 trials is there

The browser is Chromium. The events of CPU and memory are made up, in the real format: an interval and a
sample for each second.

    python benchmarks/serve_cost.py [--pairs 150] [--watched 20] [--trials 10000]
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from bench_support import machine, print_table, ratio, say
from lab.report.browser import browser
from serve.made import begin, make_many, make_run
from serve.site import MYDYNO, Site, process

from mydyno.lab.results.store import Lab
from mydyno.lab.trial import events

CPUS = len(os.sched_getaffinity(0))
MOST_DIFFERENCE = 0.01
MOST_CPU = {0: 0.02, 1: 0.02, 20: 0.05}
MOST_LIST_S = 1.0
DAY_S = 86_400
WINDOW_S = 4.0
"""Seconds with and without watching in turn; the first interval of each is not used."""
LOOK = """
if (location.pathname === "/") {
  const run = document.querySelector("th a");
  if (run) run.click(); else location.reload();
}
location.pathname
"""
"""From the list to the run, as soon as there is one."""
EXPERIMENT = """
experiment: watched
setup: {{server: {{config: {{max_connections: 40, innodb_buffer_pool_size: 64M}}}}}}
workload:
  smack: {{scenario: select-key, rows: 20000}}
  connections: [8]
  each: {{warmup: 5s, measure: {seconds:.0f}s}}
design: {{repeats: 1}}
"""


def watched_and_alone(folder: Path, pairs: int) -> tuple[list[tuple[float, float]], float]:
    """Queries per second of one run, in pairs of neighbouring windows, watched and not, and the share of all
    CPUs that `serve` and the browser took in the windows that were watched.

    `serve` and the browser are there all the time; while the run is not watched, they are stopped (SIGSTOP).
    What they missed they read when they go on, in the second of the window that is not used.
    """
    lab, file = folder / "watched", folder / "watched.yaml"
    # Twice as long as it is watched: it is ended when the last window is over.
    file.write_text(EXPERIMENT.format(seconds=4 * pairs * WINDOW_S + 60))
    Lab.open(lab, write=True).close()
    command = [*MYDYNO, "run", str(file), "--lab", str(lab), "--no-report"]
    order = random.Random(1)
    windows: list[tuple[int, bool, float, float]] = []
    taken = 0.0
    with process(lab) as (server, made), browser() as chromium, chromium.page() as page:
        page.call("Page.navigate", url=made.first)
        run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while not str(page.ask(LOOK)).startswith("/runs/") or not rates(lab):
                assert run.poll() is None, "the run ended before it was measured"
                time.sleep(0.5)
            for pair in range(pairs):
                for watched in order.sample((True, False), 2):
                    watchers = [server.pid, *descendants(os.getpid(), leave_out=(run.pid, server.pid))]
                    for pid in watchers:
                        os.kill(pid, signal.SIGCONT if watched else signal.SIGSTOP)
                    began, before = time.time(), cpu_seconds(*watchers)
                    time.sleep(WINDOW_S)
                    windows.append((pair, watched, began, time.time()))
                    taken += cpu_seconds(*watchers) - before
        finally:
            for pid in (server.pid, *descendants(os.getpid(), leave_out=(run.pid, server.pid))):
                os.kill(pid, signal.SIGCONT)
            run.terminate()
            run.wait()
    measured = rates(lab)
    found: dict[int, dict[bool, float]] = {}
    for pair, watched, began, ended in windows:
        # An interval of a second ends at `at`: the first whole one after the change is left out.
        inside = [rate for at, rate in measured if began + 2 <= at <= ended]
        # A machine that stood still for seconds has none.
        if inside:
            found.setdefault(pair, {})[watched] = statistics.fmean(inside)
    share = taken / sum(ended - began for _, watched, began, ended in windows if watched) / CPUS
    return [(pair[True], pair[False]) for pair in found.values() if len(pair) == 2], share


def rates(lab: Path) -> list[tuple[float, float]]:
    """End and queries per second of each interval so far."""
    lines = [line for file in lab.glob("**/events.jsonl") for line in file.read_text().splitlines()]
    measured = [entry for entry in map(json.loads, lines) if entry["type"] == "measured"]
    return [(entry["at"], entry["queries_per_second"]) for entry in measured]


def descendants(pid: int, leave_out: tuple[int, ...]) -> list[int]:
    """Processes below one, without some of its children and what is below them."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    below = [int(child) for child in children if int(child) not in leave_out]
    return below + [deeper for child in below for deeper in descendants(child, leave_out)]


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


def cpu_seconds(*pids: int) -> float:
    """Of all of them; one that has ended counts as none."""
    ticks = 0
    for pid in pids:
        with suppress(FileNotFoundError, ProcessLookupError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


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
    parser.add_argument("--pairs", type=int, default=150, help="Windows with and without watching.")
    parser.add_argument("--watched", type=float, default=20.0, help="Seconds of each measurement of CPU.")
    parser.add_argument("--trials", type=int, default=10_000, help="Of the large lab.")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="mydyno-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        if arguments.pairs:
            say(f"{arguments.pairs} pairs of windows of {WINDOW_S:g} s")
            pairs, share = watched_and_alone(folder, arguments.pairs)
            watched, alone = zip(*pairs, strict=True)
            mean, low, high = ratio(watched, alone)
            kept = "kept" if max(abs(low - 1), abs(high - 1)) < MOST_DIFFERENCE else "not shown"
            rows.append(
                ["queries/s, watched over alone", f"{mean:.4f} [{low:.4f} {high:.4f}]", f"±1%: {kept}"]
            )
            judged = "kept" if share <= MOST_DIFFERENCE else "BROKEN"
            rows.append(["CPU of serve and Chromium", f"{share:.2%} of {CPUS} CPUs", f"1%: {judged}"])
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
