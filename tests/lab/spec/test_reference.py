"""The reference in the guide is what the sections say."""

from __future__ import annotations

from pathlib import Path

import pytest

from mydyno.lab.spec.reference import with_reference

GUIDE = Path(__file__).parents[3] / "docs" / "reference" / "experiment-file.md"


def test_the_reference_in_the_guide_is_up_to_date() -> None:
    guide = GUIDE.read_text("utf-8")
    assert with_reference(guide) == guide, (
        "run: python -m mydyno.lab.spec.reference docs/reference/experiment-file.md"
    )


def test_a_document_without_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="reference: begin"):
        with_reference("# No markers\n")
