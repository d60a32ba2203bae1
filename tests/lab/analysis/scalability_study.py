"""How often the 95% interval of the optimum holds the true one (table of docs/reference/statistics.md).

`python tests/lab/analysis/scalability_study.py [EXPERIMENTS]`; 1,000 of each kind take some two minutes.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from lab.analysis.test_scalability import LOADS, fitted, law

TRUTHS = (
    ("10 to 400", LOADS, 62, 0.05),
    ("10 to 400", LOADS, 150, 0.3),
    ("1 to 100", (1, 5, 10, 15, 20, 30, 100), 30, 0.1),
    ("1, 8, 64, 400", (1, 8, 64, 400), 62, 0.05),
)
"""(how the loads are called, the loads, N*, sigma)"""


def row(called: str, loads: tuple[int, ...], peak: float, contention: float, n: int, experiments: int) -> str:
    truth = law(peak, contention)
    found = [fitted(truth.at, n=n, seed=seed, loads=loads) for seed in range(experiments)]
    held = [one.low <= peak <= one.high for one in found if one.low is not None and one.high is not None]
    lines = [one for one in found if one.outcome == "optimum"]
    peaks = [one.peak_interval.contains(truth.at(peak)) for one in lines if one.peak_interval is not None]
    width = statistics.median(one.high / one.low for one in lines if one.low and one.high) if lines else 0
    cells = (
        called,
        f"{peak}, {contention:g}",
        str(n),
        f"{100 * statistics.mean(held):.1f}",
        f"{100 * statistics.mean(peaks):.1f}" if peaks else "",
        f"{100 * len(lines) / experiments:.0f}",
        f"{width:.2f}",
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    for truth in TRUTHS:
        for n in (3, 5, 8):
            print(row(*truth, n, int(sys.argv[1]) if len(sys.argv) > 1 else 1000), flush=True)
