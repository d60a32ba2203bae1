"""The proofs as a table: for the terminal, and as Markdown."""

import textwrap
from collections.abc import Iterator

from mydyno.core.markdown import escaped
from mydyno.prove.proof import Proof, Proofs

HEADER = ("finding", "expected", "ratio (95% CI)", "verdict")
_MISSING = "—"


def markdown(proofs: Proofs) -> str:
    """A table of Markdown, with what was not measured below it."""
    lines = [f"What the advice on {escaped(proofs.server)} is worth{_in_metric(proofs)}.", ""]
    lines += [f"| {' | '.join(HEADER)} |", "|---|---|---|---|"]
    lines += [f"| {' | '.join(map(escaped, row(proof)))} |" for proof in proofs.proofs if proof.n is not None]
    notes = [f"- {escaped(note)}" for note in (*proofs.notes, *not_measured(proofs))]
    return "\n".join([*lines, *(["", *notes] if notes else [])]) + "\n"


def text(proofs: Proofs, width: int) -> str:
    """The same for a terminal: a finding a paragraph."""
    return "\n".join(_paragraphs(proofs, width)) + "\n"


def row(proof: Proof) -> tuple[str, str, str, str]:
    return (proof.level, proof.expected, ratio(proof), proof.worth)


def ratio(proof: Proof) -> str:
    """`1.12 (1.09 to 1.15)`."""
    if proof.ratio is None:
        return _MISSING
    if proof.low is None or proof.high is None:
        return f"{proof.ratio:.3g}"
    return f"{proof.ratio:.3f} ({proof.low:.3f} to {proof.high:.3f})"


def not_measured(proofs: Proofs) -> Iterator[str]:
    """A sentence for each finding, or part of one, that was not put to the test."""
    for proof in proofs.proofs:
        if proof.not_measured:
            yield f"{proof.level}, not measured: {'; '.join(proof.not_measured)}"


def _paragraphs(proofs: Proofs, width: int) -> Iterator[str]:
    yield f"What the advice on {proofs.server} is worth{_in_metric(proofs)}:"
    measured = [proof for proof in proofs.proofs if proof.n is not None]
    names = max((len(proof.level) for proof in measured), default=0)
    for proof in measured:
        yield from _wrapped(f"  {proof.level:{names}}  {proof.worth}", names + 4, width)
        if len(proof.findings) == 1:
            yield from _wrapped(f"  {'':{names}}  expected: {proof.expected}", names + 4, width)
    for note in (*proofs.notes, *not_measured(proofs)):
        yield from _wrapped(f"  {note}", 4, width)


def _in_metric(proofs: Proofs) -> str:
    return f" in {proofs.metric}" if proofs.metric else ""


def _wrapped(line: str, indent: int, width: int) -> list[str]:
    return textwrap.wrap(line, width, subsequent_indent=" " * indent, break_on_hyphens=False)
