"""What a rule said, in a form that a test compares."""

from __future__ import annotations

from mydyno.advise.finding import Finding
from mydyno.advise.rule import Judgement


def found(judged: Judgement) -> Finding:
    """The finding, or a failure that shows what there was instead."""
    assert isinstance(judged, Finding), judged
    return judged


def sentences(judged: Judgement) -> list[str]:
    """The finding's changes as people read them."""
    return [change.sentence() for change in found(judged).changes]
