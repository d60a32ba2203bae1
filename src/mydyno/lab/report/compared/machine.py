"""A comparison of runs for programs: JSON, and JUnit's XML for CI servers."""

from __future__ import annotations

import json
import math
from typing import Any
from xml.etree import ElementTree

from mydyno.lab.analysis.gate import Gated
from mydyno.lab.report.compared.view import Compared, gate_text


def as_json(compared: Compared) -> str:
    """docs/how-to/compare.md explains the keys. A number that is missing or has no bound is null."""
    content = {
        "runs": list(compared.names),
        "state": compared.state,
        "allowed_loss": compared.allowed,
        "headline": compared.verdicts.headline,
        "comparisons": [_comparison(one) for one in compared.gated],
        "differences": [
            {"name": each.name, "values": dict(zip(compared.names, each.values, strict=True))}
            for each in compared.differences
        ],
        "notes": list(compared.notes),
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def junit(compared: Compared) -> str:
    """One test case for each comparison: failed when it is slower than allowed, skipped when unsure.

    The format is that of Ant's JUnit task, which CI servers read.
    """
    suite = ElementTree.Element(
        "testsuite",
        name=_printable(f"mydyno compare {' '.join(compared.names)}"),
        tests=str(len(compared.gated)),
        failures=str(sum(one.state == "failed" for one in compared.gated)),
        skipped=str(sum(one.state == "unsure" for one in compared.gated)),
        errors="0",
    )
    for one in compared.gated:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=_printable(compared.evidence.experiment.name),
            name=_printable(one.name or compared.names[-1]),
        )
        if one.state != "passed":
            kind = "failure" if one.state == "failed" else "skipped"
            ElementTree.SubElement(case, kind, message=_printable(gate_text(one)))
        ElementTree.SubElement(case, "system-out").text = _printable(gate_text(one))
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, encoding="unicode") + "\n"


def _comparison(one: Gated) -> dict[str, Any]:
    ratio = one.verdict.ratio
    interval = ratio.interval
    return {
        "name": one.name,
        "left": one.verdict.left.title,
        "right": one.verdict.right.title,
        "metric": one.verdict.metric.name,
        "better": one.verdict.metric.better,
        "state": one.state,
        "outcome": one.verdict.outcome,
        "ratio": _finite(ratio.value),
        "low": None if interval is None else _finite(interval.low),
        "high": None if interval is None else _finite(interval.high),
        "p_value": ratio.p_value,
        "adjusted_p_value": ratio.adjusted_p,
        "n": [ratio.n_left, ratio.n_right],
        "sentence": one.verdict.sentence,
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _printable(text: str) -> str:
    """Without what XML 1.0 does not allow."""
    return "".join(letter for letter in text if letter in "\t\n" or letter.isprintable())
