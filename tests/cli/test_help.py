"""The help of every command on a terminal of 80 columns."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer.main

from mydyno.cli.main import PANELS, app

pytestmark = pytest.mark.timeout(900)  # The help of all commands is made once, on a busy machine too.

HELP = """
import contextlib, io, json, sys
import typer.main
from mydyno.cli.main import app
command = typer.main.get_command(app)
for line in sys.stdin:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        command([*json.loads(line), "--help"], prog_name="mydyno")
    print(json.dumps(out.getvalue()))
"""
_EXAMPLE = re.compile(r"```text\n(.*?)```", re.DOTALL)


def commands(command: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield above, command
    if hasattr(command, "list_commands"):
        for name in command.list_commands(None):
            yield from commands(command.get_command(None, name), (*above, name))


COMMANDS = dict(commands(typer.main.get_command(app)))


@pytest.fixture(scope="module")
def helps() -> dict[tuple[str, ...], str]:
    """Every command's help, as a terminal of 80 columns shows it."""
    import json

    asked = "\n".join(json.dumps(name) for name in COMMANDS)
    environment = {**os.environ, "COLUMNS": "80", "TERM": "dumb", "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-c", HELP], input=asked, env=environment, capture_output=True, text=True, check=True
    )
    texts = [json.loads(line) for line in done.stdout.splitlines()]
    return dict(zip(COMMANDS, texts, strict=True))


def test_no_line_is_wider_than_the_terminal_and_nothing_is_cut(helps: dict[tuple[str, ...], str]) -> None:
    for name, text in helps.items():
        assert text.strip(), name
        assert max(map(len, text.splitlines())) <= 80, name
        assert "…" not in text, name


def test_every_option_is_shown_whole(helps: dict[tuple[str, ...], str]) -> None:
    for name, command in COMMANDS.items():
        for parameter in command.params:
            if not getattr(parameter, "hidden", False):
                for flag in (*parameter.opts, *parameter.secondary_opts):
                    assert not flag.startswith("--") or flag in helps[name], (name, flag)


def test_no_line_of_an_example_is_wrapped(helps: dict[tuple[str, ...], str]) -> None:
    for name, command in COMMANDS.items():
        for block in _EXAMPLE.findall(command.help or ""):
            for line in map(str.rstrip, block.splitlines()):
                assert line.strip() in helps[name], (name, line)
                assert len(line.strip()) <= 76, (name, line)


def test_every_command_is_two_lines_in_its_panel(helps: dict[tuple[str, ...], str]) -> None:
    text = helps[()]
    assert re.findall(r"╭─ ([A-Z]\w+) ─", text) == ["Options", *PANELS]
    listed = text.partition("╭─ Experiments")[2]
    rows = re.split(r"^│ (?=\S)", listed, flags=re.MULTILINE)[1:]
    assert len(rows) == len(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
    for row in rows:
        assert row.count("│\n") <= 2, row


def test_values_are_named_as_in_a_manual_and_switches_have_none(helps: dict[tuple[str, ...], str]) -> None:
    for name, text in helps.items():
        assert re.findall(r"<\w[^>\n]*>", text) == [], name
        assert re.search(r"--help +-h  +Show this message", text), name
