"""Writes the golden texts of the report anew: look at the difference before you commit it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from report.test_text import GOLDEN, golden_texts

GOLDEN.mkdir(exist_ok=True)
for name, text in golden_texts().items():
    (GOLDEN / name).write_text(text)
