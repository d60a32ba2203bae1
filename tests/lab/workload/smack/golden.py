"""What is said of each file in bad/ and traps/, and the way to write it down again.

    python tests/lab/workload/smack/golden.py

rewrites the expected messages; read the difference before you keep it. A first line `# arguments A B`
gives the arguments of the command line, else there are two: 10 and 100.
"""

from __future__ import annotations

import re
from pathlib import Path

from mydyno.core.document.problems import SpecErrors
from mydyno.lab.workload.smack import grammar, inspect

HERE = Path(__file__).parent
BAD = HERE / "bad"
TRAPS = HERE / "traps"


def arguments(text: str) -> list[str]:
    given = re.match(r"# arguments ?(.*)\n", text)
    return given[1].split() if given else ["10", "100"]


def complaint(file: Path) -> str:
    """The message for `file`. Raises AssertionError when nothing is wrong with it."""
    text = file.read_text()
    try:
        inspect.check(grammar.parse(text, file.name), arguments(text))
    except SpecErrors as errors:
        return f"{errors}\n"
    raise AssertionError(f"{file} is accepted")


def warnings(file: Path) -> str:
    """The traps of `file`, one a line, as corrected and as imitated."""
    text = file.read_text()
    lines = []
    for strict in (False, True):
        try:
            script = grammar.parse(text, file.name, strict)
            inspect.check(script, arguments(text))
            lines += [trap.message(script.file, strict) for trap in inspect.traps(script)]
        except SpecErrors as errors:
            lines.append(f"{errors}")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    for bad in sorted(BAD.glob("*.smack")):
        bad.with_suffix(".txt").write_text(complaint(bad))
    for trap in sorted(TRAPS.glob("*.smack")):
        trap.with_suffix(".txt").write_text(warnings(trap))
