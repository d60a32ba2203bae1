"""Finds words that a manual would not use, in the pages and in the texts of src (help, messages, docstrings).

    python tools/words.py             exit code 1 and a line for each hit

None may have one, but for the lines of ALLOWED and the texts of STORED.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
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
_ANY = re.compile(rf"\b(?:{'|'.join(INSTEAD)})\b", re.IGNORECASE)
_CODE = re.compile(r"`[^`]*`")
_JOINT = re.compile(r"""["']\s*[rf]*["']""")
"""Of literals that Python joins to one text."""
PAGES = ("*.md", "docs/**/*.md", "experiments/**/*.yaml", "src/mydyno/**/*.toml", "src/mydyno/**/*.yaml")
GENERATED = {"docs/reference/cli.md", "docs/reference/rules.md"}
"""Their texts are checked in src."""
SHOWN = re.compile(
    r"<!-- reference: begin.*<!-- reference: end -->|^```(?:text|json|console)\n.*?^```",
    re.DOTALL | re.MULTILINE,
)
"""What a page shows of the program's output."""
ALLOWED = ("`setup.limits` is set with prlimit(1)",)
"""Beginnings of lines in which such a word is the right one."""
STORED = re.compile(r"\s*CREATE TABLE|put back$")
"""Beginnings of texts that files of older versions contain: tables of the lab, a phase of the journal."""


def pages() -> Iterator[tuple[str, int, str]]:
    """Each line that people read: file, number, text."""
    files = [file for pattern in PAGES for file in ROOT.glob(pattern)]
    for file in sorted(files):
        name = file.relative_to(ROOT).as_posix()
        if name not in GENERATED and name != "CHANGELOG.md":
            text = SHOWN.sub(lambda shown: "\n" * shown[0].count("\n"), file.read_text("utf-8"))
            yield from ((name, number, line) for number, line in enumerate(text.splitlines(), 1))


def texts() -> Iterator[tuple[str, int, str]]:
    """Each text of src: file, line at which it begins, text."""
    for file in sorted(ROOT.glob("src/mydyno/**/*.py")):
        source = file.read_text("utf-8")
        for node in ast.walk(ast.parse(source)) if _ANY.search(_JOINT.sub("", source)) else ():
            match node:
                case ast.Constant(value=str(text)) if " " in text and not STORED.match(text):
                    yield file.relative_to(ROOT).as_posix(), node.lineno, text


def main() -> int:
    """The exit code, after one line on standard output for each hit."""
    wrong = [
        f"{name}:{number}: {match[0]!r}; rather: {INSTEAD[words]}\n"
        for name, number, text in (*pages(), *texts())
        for words, pattern in _WRONG.items()
        for match in pattern.finditer(_CODE.sub("", text))
        if not text.startswith(ALLOWED)
    ]
    sys.stdout.writelines(wrong)
    sys.stdout.write(f"{len(wrong)} to reword\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
