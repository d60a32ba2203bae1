"""docs/reference/rules.md is what the rules themselves say."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_documented_rules_are_the_real_ones() -> None:
    document = runpy.run_path(str(ROOT / "tools" / "document_rules.py"))["document"]
    assert (ROOT / "docs" / "reference" / "rules.md").read_text(encoding="utf-8") == document(), (
        "run: make docs"
    )


def test_the_readme_counts_them() -> None:
    readme = runpy.run_path(str(ROOT / "tools" / "document_rules.py"))["readme"]
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text == readme(text), "run: make docs"
