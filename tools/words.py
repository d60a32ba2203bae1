"""Finds words that a manual would not use, in the pages and in the texts of src.

    python tools/words.py             exit code 1 and a line for each hit
    python tools/words.py --update    write down how many are left in each package of src

No page may have one, but for the lines of ALLOWED. In src (help, messages, docstrings) no package may have
more of them than tools/words.json says, which --update lowers.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
BASELINE = ROOT / "tools" / "words.json"
INSTEAD = {
    r"told|tells?|telling": "say, show, report, print, distinguish",
    r"(?:held|holds?|holding)(?: \w+){0,2} against": "compare with",
    r"asked": "configured, requested, queried",
    r"raising|taking down|taken down|takes? (?:\w+ )?down": "start, stop, build, remove",
    r"stands(?! for| out)|stood": "what is running, is",
    r"anew": "again",
    r"likewise": "also",
    r"counts? as none": "equivalence margin",
    r"wants? to be read": "with warnings",
    r"beside": "next to, with",
    r"puts? (?:\w+ )?back|putting back": "restore",
    r"(?<!here )(?:is|are) no (?!longer|more|less|larger|better|faster|higher|lower)": "unknown, not a",
    r"grounds?(?! transport)": "environment",
    r"given up|gives? up": "query timeout, stop",
    r"mend(?:s|ed|ing)?": "fix",
    r"things?": "the noun",
    r"of (?:its|their|his) own": "separate",
    r"the like": "(drop it)",
    r"nothing of": "none of",
    r"whoever|somebody|nobody": "who it is: user, client, another session",
}
_WRONG = {words: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for words in INSTEAD}
_CODE = re.compile(r"`[^`]*`")
GENERATED = {"docs/reference/cli.md", "docs/reference/rules.md"}
"""Their texts are checked in src."""
SHOWN = re.compile(
    r"<!-- reference: begin.*<!-- reference: end -->|^```(?:text|json|console)\n.*?^```",
    re.DOTALL | re.MULTILINE,
)
"""What a page shows of the program's output."""
ALLOWED = ("`setup.limits` is set with prlimit(1)",)
"""Beginnings of lines in which such a word is the right one."""


def pages() -> Iterator[tuple[str, int, str]]:
    """Each line that people read: file, number, text."""
    files = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("experiments/**/*.yaml")]
    for file in sorted(files):
        name = file.relative_to(ROOT).as_posix()
        if name not in GENERATED and name != "CHANGELOG.md":
            text = SHOWN.sub(lambda shown: "\n" * shown[0].count("\n"), file.read_text("utf-8"))
            yield from ((name, number, line) for number, line in enumerate(text.splitlines(), 1))


def texts() -> Iterator[tuple[str, str]]:
    """Package and text of each string literal of src, without code: names and what is in backquotes."""
    for file in sorted(ROOT.glob("src/mydyno/**/*.py")):
        package = file.relative_to(ROOT / "src" / "mydyno").parts[0]
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
                yield package, _CODE.sub("", node.value)


def main(update: bool) -> int:
    """The exit code, after one line on standard output for each hit."""
    wrong = []
    for name, number, line in pages():
        for words, pattern in _WRONG.items():
            if (match := pattern.search(_CODE.sub("", line))) and not line.startswith(ALLOWED):
                wrong.append(f"{name}:{number}: {match[0]!r}; rather: {INSTEAD[words]}")
    counted: Counter[str] = Counter()
    for package, text in texts():
        for words, pattern in _WRONG.items():
            counted[f"{package}: {words}"] += len(pattern.findall(text))
    now = {key: count for key, count in sorted(counted.items()) if count}
    if update:
        BASELINE.write_text(json.dumps(now, indent=1) + "\n", "utf-8")
    before = json.loads(BASELINE.read_text("utf-8"))
    for key, count in now.items():
        if count > before.get(key, 0):
            instead = INSTEAD[key.split(": ", 1)[1]]
            wrong.append(f"src/mydyno/{key}: {count} times, {before.get(key, 0)} before; rather: {instead}")
    sys.stdout.writelines(f"{each}\n" for each in wrong)
    sys.stdout.write(f"{len(wrong)} to reword; {sum(now.values())} left in src\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main("--update" in sys.argv[1:]))
