"""Writes the golden texts and screenshots of the pages again, and the picture in docs/how-to/digest.md: look
at the difference before you commit it.

`--texts` leaves the screenshots, which need Chromium.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from lab.report.browser import browser
from lab.report.screenshots import MADE_WITH, digest_in_docs, made_with, screenshots
from lab.report.test_digest_text import golden_digests
from lab.report.test_text import GOLDEN, golden_texts

PICTURE = Path(__file__).parents[3] / "docs" / "images" / "digest.png"

GOLDEN.mkdir(exist_ok=True)
for name, text in (golden_texts() | golden_digests()).items():
    (GOLDEN / name).write_text(text)
if "--texts" not in sys.argv:
    with browser() as chromium, tempfile.TemporaryDirectory() as folder:
        for made in screenshots(chromium, Path(folder)).values():
            shutil.copy(made, GOLDEN / made.name)
        digest_in_docs(chromium, Path(folder), PICTURE)
        MADE_WITH.write_text(json.dumps(made_with(chromium), indent=2) + "\n")
