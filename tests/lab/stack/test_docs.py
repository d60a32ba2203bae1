"""docs/reference/safety.md documents every way back, and what is refused of real disks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from mydyno.lab.stack.undo import Undo
from mydyno.machine.block_devices import STABLE_FOLDERS

SAFETY = (Path(__file__).parents[3] / "docs" / "reference" / "safety.md").read_text()


def test_every_way_back_has_its_row_and_no_row_is_left_over() -> None:
    kinds = {kind.model_fields["kind"].default for kind in get_args(get_args(Undo)[0])}
    lines = re.findall(r"^\| `([a-z-]+)` \|", SAFETY, re.MULTILINE)
    assert sorted(lines) == sorted(kinds)


def test_the_folders_of_stable_names_are_documented() -> None:
    for folder in STABLE_FOLDERS:
        assert f"`{folder}`" in SAFETY or f"`{folder.name}`" in SAFETY
