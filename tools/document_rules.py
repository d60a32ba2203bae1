"""Writes docs/reference/rules.md from the rules (tests/advisor/test_docs.py compares)."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from mydyno.advisor import RULES
from mydyno.advisor.report.rule_text import by_layer, explanation
from mydyno.advisor.rule import Rule
from mydyno.page.markup import escaped

README = Path(__file__).parents[1] / "README.md"
_COUNT = re.compile(r"\d+(?= \[rules\]\(docs/reference/rules\.md\))")
TARGET = Path(__file__).parents[1] / "docs" / "reference" / "rules.md"


def document() -> str:
    """The whole of docs/reference/rules.md."""
    lines = [
        "# The rules of advice",
        "",
        "Written by `make docs` from the rules themselves. `mydyno rules show RULE` shows one of them, and"
        " with a server what it finds there; [Advice](../how-to/advice.md) explains how they work together.",
        "",
        f"{len(RULES)} rules, from the disks up:",
        "",
        "| layer | rules |",
        "|---|---|",
    ]
    lines += [
        f"| {layer} | {', '.join(f'[{rule.id}](#{rule.id})' for rule in rules)} |"
        for layer, rules in by_layer()
    ]
    for layer, rules in by_layer():
        lines += ["", f"## Layer: {layer}"]
        for rule in rules:
            lines += ["", *_rule(rule)]
    return "\n".join(lines) + "\n"


def readme(text: str) -> str:
    """The README with the number of rules that there are. Raises ValueError where it does not tell it."""
    if len(_COUNT.findall(text)) != 1:
        raise ValueError("README.md has to say once how many [rules](docs/reference/rules.md) there are")
    return _COUNT.sub(str(len(RULES)), text)


def _rule(rule: Rule) -> Iterator[str]:
    yield f"### {rule.id}"
    yield ""
    yield escaped(rule.why)
    for paragraph in explanation(rule).split("\n\n"):
        yield ""
        yield escaped(paragraph)
    yield ""
    yield f"- **Checks** {escaped(rule.checks)}"
    yield f"- **Brings** {escaped(rule.expected)}"
    yield f"- **Durability** {escaped(rule.durability)}"
    yield f"- **Risk** {escaped(rule.risk)}"
    yield f"- **Sets** {', '.join(f'`{name}`' for name in rule.variables) or 'no server variable'}"
    yield f"- **Sources** {escaped('; '.join(rule.sources))}"


if __name__ == "__main__":
    TARGET.write_text(document(), encoding="utf-8")
    README.write_text(readme(README.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(f"wrote {TARGET.name}\n")
