"""In slices where servers leave each other alone, else in blocks: decided by what a run has recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from lab.results.builders import experiment, save, trial

from mydyno.lab.analysis.soundness import CHECK
from mydyno.lab.results.records import Remark
from mydyno.lab.results.run import Run
from mydyno.lab.results.store import Lab
from mydyno.tune.task import in_sound_order


@pytest.fixture
def saved(tmp_path: Path) -> Iterator[dict[str, Run]]:
    """`sound`, `unsound` in slices, and `blocks`."""
    wrote = Remark(check=CHECK, message="server 2 wrote 168 MB/s while another server was driven", phase=0)
    other = Remark(check="clock", message="went back")
    remarks = {"sound": (other,), "unsound": (other, wrote), "blocks": ()}
    runs = {}
    with Lab.open(tmp_path / "lab", write=True) as lab:
        for number, (name, own) in enumerate(remarks.items()):
            run = lab.run(experiment(f"{number}0ffee0123456789"), "{}")
            save(run, trial(1))
            save(run, replace(trial(2), remarks=own))
            runs[name] = lab.find_run(run.folder.name)
        yield runs


@pytest.mark.parametrize(
    ("in_slices", "blocked", "asked"),
    [
        ("sound", False, ["sound"]),
        ("unsound", False, ["unsound", "blocks"]),
        ("sound", True, ["blocks"]),
    ],
)
def test_slices_in_which_servers_disturb_each_other_are_measured_again_in_blocks(
    saved: dict[str, Run], in_slices: str, blocked: bool, asked: list[str]
) -> None:
    said: list[str] = []
    measured: list[str] = []

    def measure(text: str) -> Run:
        measured.append(text)
        return saved[text]

    made = in_sound_order(
        measure, lambda in_blocks: "blocks" if in_blocks else in_slices, blocked, said.append
    )
    assert measured == asked
    assert made == (saved[asked[-1]], asked[-1] == "blocks")
    assert bool(said) == (len(asked) == 2)
