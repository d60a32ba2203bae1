"""The pages look as they did when they were last looked at.

`python tests/lab/report/regenerate_golden.py` takes the golden screenshots anew.
"""

from __future__ import annotations

import json

import pytest

from lab.report.screenshots import FOLDER, KINDS, MADE_WITH, difference, made_with, screenshots

MEAN, LARGEST = 1.0, 90.0
"""Of 255. Text that Chromium smooths otherwise stays far below; a missing chart does not."""


def test_the_pages_look_as_they_did(chromium, tmp_path):
    wanted, here = json.loads(MADE_WITH.read_text()), made_with(chromium)
    if wanted != here:
        pytest.skip(f"the golden screenshots were made with {wanted}, here is {here}")
    taken = screenshots(chromium, tmp_path)
    found = {name: difference(chromium, FOLDER / f"page-{name}.png", taken[name]) for name in KINDS}
    assert all(mean < MEAN and largest < LARGEST for mean, largest in found.values()), found


def test_the_measure_sees_a_missing_chart_and_another_palette(chromium, tmp_path):
    light, dark, phone = (FOLDER / f"page-{name}.png" for name in ("desktop", "desktop-dark", "phone"))
    assert difference(chromium, light, light) == (0, 0)
    assert difference(chromium, light, dark)[0] > MEAN
    assert difference(chromium, light, phone) == (255, 255)
