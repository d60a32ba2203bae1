"""What `mydyno apply` shows before it asks: pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mydyno.apply.diff import unified
from mydyno.core.visible import visible_line

if TYPE_CHECKING:
    from mydyno.apply.preparing import Prepared


def lines(prepared: Prepared) -> Iterator[str]:
    """Findings, what they do to durability, every file's difference, every act, what is left to the user."""
    proposal = prepared.proposal
    for finding in proposal.findings:
        yield visible_line(f"{finding.rule}: {finding.title}")
        if finding.durability != "keeps":
            why = f": {finding.durability_says}" if finding.durability_says else ""
            yield visible_line(f"  {finding.durability} durability{why}")
        if finding.risk:
            yield visible_line(f"  risk: {finding.risk}")
    for path, (old, new) in proposal.texts.changed().items():
        yield ""
        yield unified(path, old, new)
    yield from _part("At once:", (act.sentence() for act in prepared.live))
    yield from _part("At the server's next start:", iter(prepared.waiting))
    yield from _part("Left to you:", _by_hand(prepared))
    yield from _part("Left out:", (f"{each.finding.rule}: {each.because}" for each in proposal.left_out))
    yield ""


def _by_hand(prepared: Prepared) -> Iterator[str]:
    for rule, change in prepared.proposal.by_hand:
        yield visible_line(f"{rule}: {change.says}")
        yield from (f"  {visible_line(command)}" for command in change.commands)


def _part(title: str, parts: Iterator[str]) -> Iterator[str]:
    blocks = list(parts)
    if blocks:
        yield ""
        yield title
        yield from (f"  {visible_line(line)}" for part in blocks for line in part.split("\n"))
