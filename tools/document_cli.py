"""Writes cli.md and mydyno.1 of docs/reference from the commands' help (tests/cli/test_docs.py compares)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

# Before typer is imported: the same text on every terminal.
os.environ.update(COLUMNS="100", TERM="dumb", NO_COLOR="1", _TYPER_FORCE_DISABLE_TERMINAL="1")

import click
import man_page
import typer.main
from typer.testing import CliRunner

from mydyno.cli.main import app
from mydyno.core import environment, errors

DOCS = Path(__file__).parents[1] / "docs" / "reference"
COMPLETION = """\
`mydyno --install-completion` installs it for the shell in use; start a new shell afterwards. By hand:

```sh
_MYDYNO_COMPLETE=source_bash mydyno > ~/.local/share/bash-completion/completions/mydyno
_MYDYNO_COMPLETE=source_zsh mydyno > ~/.zfunc/_mydyno     # a folder of fpath, before compinit
_MYDYNO_COMPLETE=source_fish mydyno > ~/.config/fish/completions/mydyno.fish
```

It knows commands, options, and the names of experiments, runs, rules, metrics, releases and workloads.
"""


def document() -> str:
    """The whole of docs/reference/cli.md."""
    runner = CliRunner()
    group = typer.main.get_command(app)
    assert isinstance(group, click.Group) or hasattr(group, "commands")
    lines = [
        "# The command line",
        "",
        "Written by `make docs` from the commands' own help.",
        "",
        "## Exit codes",
        "",
        "| code | means |",
        "|---|---|",
        *(f"| {code:d} | {code.meaning} |" for code in errors.ExitCode),
        "",
        "## Environment variables",
        "",
        "| variable | means |",
        "|---|---|",
        *(f"| `{variable.name}` | {variable.meaning} |" for variable in environment.ALL),
        "",
        "## Shell completion",
        "",
        COMPLETION,
    ]
    for name in ("", *_names(group)):
        arguments = [*name.split(), "--help"]
        answer = runner.invoke(app, arguments, prog_name="mydyno", env=dict(os.environ))
        assert answer.exit_code == 0, answer.output
        text = "\n".join(line.rstrip() for line in answer.output.strip("\n").splitlines())
        lines += [f"## mydyno {name}".rstrip(), "", "```text", text, "```", ""]
    return "\n".join(lines).rstrip() + "\n"


def manual() -> str:
    """The whole of docs/mydyno.1."""
    return man_page.render(app, errors.ExitCode, environment.ALL)


def _names(group: click.Group, above: str = "") -> Iterator[str]:
    """Every command, those of groups after the group's own."""
    for name, command in group.commands.items():
        yield f"{above}{name}"
        if hasattr(command, "commands"):
            yield from _names(command, f"{above}{name} ")


if __name__ == "__main__":
    for name, text in (("cli.md", document()), ("mydyno.1", manual())):
        (DOCS / name).write_text(text, encoding="utf-8")
        sys.stdout.write(f"wrote {name}\n")
