"""How large a report of 200 trials is, how long it takes to write, and how long its page takes to open.

The run is made of records, so no server is needed; the page is opened by a headless Chromium if there is one.
"Opened" is the load event and the first chart drawn live.

    python benchmarks/report_page.py
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from lab.report.browser import browser
from lab.report.builders import thread_cache_run
from lab.report.test_build import saved

from mydyno.lab.results.store import Lab

TRIALS, PHASES = 200, (10, 50, 100, 150, 200, 300, 400)
ROUNDS = 3
LARGEST, SLOWEST_WRITE_S, SLOWEST_OPEN_S = 5e6, 3.0, 2.0


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="mydyno-page-") as folder:
        lab = saved(thread_cache_run(repeats=TRIALS // 2, connections=PHASES), Path(folder) / "lab")
        small = saved(thread_cache_run(connections=PHASES), Path(folder) / "small")
        few, _ = _written(small, Path(folder) / "few")
        many, page = _written(lab, Path(folder) / "many")
        print(f"{'':44}{'measured':>12}{'goal':>12}")
        _row("time to write a report of 8 trials", f"{few:.2f} s", f"{SLOWEST_WRITE_S:g} s")
        _row(f"time to write a report of {TRIALS} trials", f"{many:.2f} s", "-")
        _row("size of its page", f"{page.stat().st_size / 1e6:.2f} MB", f"{LARGEST / 1e6:g} MB")
        try:
            opened = _opened(page)
        except pytest.skip.Exception as why:
            print(f"the page is not opened: {why}")
            return
        _row("time until it is loaded, its first chart drawn", f"{opened:.2f} s", f"{SLOWEST_OPEN_S:g} s")


def _written(lab: Path, out: Path) -> tuple[float, Path]:
    """The median of some rounds of the whole command, seconds, and its page."""
    with Lab.open(lab, write=False) as opened:
        name = opened.find_run().experiment.name
    command = [sys.executable, "-m", "mydyno.cli.main", "report", name, "--lab", str(lab), "--out", str(out)]
    taken = []
    for _ in range(ROUNDS):
        started = time.monotonic()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        taken.append(time.monotonic() - started)
    return statistics.median(taken), out / "report.html"


def _opened(page: Path) -> float:
    taken = []
    with browser() as chromium:
        for _ in range(ROUNDS):
            with chromium.page() as tab:
                started = time.monotonic()
                tab.open(page)
                tab.draw_first()
                taken.append(time.monotonic() - started)
    return statistics.median(taken)


def _row(what: str, measured: str, goal: str) -> None:
    print(f"{what:44}{measured:>12}{goal:>12}")


if __name__ == "__main__":
    main()
