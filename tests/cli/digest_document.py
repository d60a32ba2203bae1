"""The examples of docs/how-to/digest.md: a log, and commands with what they print.

`python tests/cli/digest_document.py` writes their output anew.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from typer.testing import CliRunner

from mydyno.cli.main import app

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "digest.md"
_LOG = re.compile(r"```text slow\.log\n(.*?)```", re.DOTALL)
_RUN = re.compile(r"```text\n(\$ mydyno .*?)```", re.DOTALL)
_PROMPT = "$ mydyno "


def document(page: str) -> str:
    """The page with the output of its commands, which are run in the folder that the process is in."""
    log = _LOG.search(page)
    assert log is not None
    Path("slow.log").write_text(log[1])
    return _RUN.sub(lambda found: f"```text\n{''.join(_ran(found[1]))}```", page)


def _ran(block: str) -> Iterator[str]:
    for line in block.splitlines():
        if line.startswith(_PROMPT):
            yield f"{line}\n"
            yield _output(line.removeprefix(_PROMPT))


def _output(command: str) -> str:
    """What it prints, without spaces at the ends of lines; nothing where it writes into a file."""
    words = shlex.split(command)
    file = words[words.index(">") + 1] if ">" in words else None
    answer = CliRunner().invoke(app, words[: words.index(">")] if file else words, env={"COLUMNS": "100"})
    assert answer.exit_code == 0, answer.output
    if file is not None:
        Path(file).write_text(answer.stdout)
        return ""
    return "".join(f"{line.rstrip()}\n" for line in answer.stdout.splitlines())


if __name__ == "__main__":
    import os
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        PAGE.write_text(document(PAGE.read_text()))
    sys.stdout.write(f"wrote {PAGE.name}\n")
