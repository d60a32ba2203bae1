"""In slices where servers leave each other alone, else in blocks: decided by what a run has recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from lab.results.builders import experiment, save, trial

from mydyno.lab.analysis.soundness import CHECK
from mydyno.lab.results.records import Remark
from mydyno.lab.results.run import Run
from mydyno.lab.results.store import Lab
from mydyno.tune.task import measure


@dataclass
class SavedRuns:
    """A bench whose experiments were measured before."""

    hosts = 1
    runs: dict[str, Run]
    asked: list[str] = field(default_factory=list)

    def refused(self, text: str) -> str | None:
        return None if text in self.runs else "unknown"

    def seconds(self, text: str) -> float:
        return sum(each.seconds for each in self.runs[text].trials())

    def measure(self, text: str) -> Run:
        self.asked.append(text)
        return self.runs[text]

    def recovery_seconds(self, text: str, level: str) -> float:
        raise NotImplementedError(f"{text}, {level}: no server to kill")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[SavedRuns]:
    """`sound`, `unsound` in slices, and `blocks`."""
    wrote = Remark(check=CHECK, message="server 2 wrote 168 MB/s while another server was driven", phase=0)
    other = Remark(check="clock", message="went back")
    remarks = {"sound": (other,), "unsound": (other, wrote), "blocks": ()}
    with Lab.open(tmp_path / "lab", write=True) as lab:
        for number, own in enumerate(remarks.values()):
            run = lab.run(experiment(f"{number}0ffee0123456789"), "{}")
            save(run, trial(1))
            save(run, replace(trial(2), remarks=own))
        yield SavedRuns(dict(zip(remarks, sorted(lab.runs(), key=lambda run: run.folder.name), strict=True)))


@pytest.mark.parametrize(
    ("in_slices", "blocked", "asked"),
    [
        ("sound", False, ["sound"]),
        ("unsound", False, ["unsound", "blocks"]),
        ("sound", True, ["blocks"]),
    ],
)
def test_slices_in_which_servers_disturb_each_other_are_measured_again_in_blocks(
    bench: SavedRuns, in_slices: str, blocked: bool, asked: list[str]
) -> None:
    said: list[str] = []
    made = measure(bench, lambda in_blocks: "blocks" if in_blocks else in_slices, blocked, said.append)
    assert bench.asked == asked
    assert made == (bench.runs[asked[-1]], asked[-1] == "blocks")
    assert bool(said) == (len(asked) == 2)
