"""Spellings of an earlier release: they work, with a warning, and the help does not have them."""

from __future__ import annotations

from pathlib import Path

import pytest
from advisor.builders import system
from typer.testing import CliRunner, Result

from mydyno.cli.main import app
from mydyno.cli.spellings import renewed_command, renewed_options


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


LOAD = {"--query-timeout", "--host"}
MACHINE = {"--host", "--ssh", "--facts"}
COMPARE = {"--json", "--out", "--report", "--junit"}


@pytest.mark.parametrize(
    ("command", "known", "old", "new"),
    [
        ("oltp-read-only", LOAD, ["--answer-within", "5"], ["--query-timeout", "5"]),
        ("oltp-read-only", LOAD, ["--answer-within=5"], ["--query-timeout=5"]),
        ("digest", {"--order-by"}, ["--order", "max"], ["--order-by", "max"]),
        ("sql-bench", {"--out"}, ["--output", "RUN"], ["--out", "RUN"]),
        ("facts", MACHINE, ["--host", "ssh:a@db1"], ["--ssh", "ssh:a@db1"]),
        ("facts", MACHINE, ["--host=none"], ["--ssh=none"]),
        ("compare", COMPARE, ["a", "--json", "x.json", "b"], ["a", "--json", "--out", "x.json", "b"]),
        ("trend", {"--json", "--out"}, ["--json=x"], ["--json", "--out=x"]),
        ("compare", COMPARE, ["a", "--out", "folder"], ["a", "--report", "folder"]),
        (
            *("compare", COMPARE, ["a", "--json=x", "--out", "folder"]),
            ["a", "--json", "--out=x", "--report", "folder"],
        ),
    ],
)
def test_an_old_spelling_is_the_new_one_with_a_warning(
    command: str, known: set[str], old: list[str], new: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert renewed_options(command, old, known) == new
    warnings = capsys.readouterr().err.splitlines()
    assert warnings
    assert all(line.startswith("mydyno: warning: ") and " is deprecated" in line for line in warnings)


@pytest.mark.parametrize(
    ("command", "known", "arguments"),
    [
        ("facts", MACHINE, ["--host", "db1", "--ssh", "admin@db1"]),
        ("load", LOAD, ["--host", "local"]),
        ("compare", COMPARE, ["a", "--json", "--out", "x.json"]),
        ("compare", COMPARE, ["--json", "a", "b"]),
        ("digest", {"--json", "--order-by"}, ["--json", "monday.json"]),
        ("gen-data", {"--rows"}, ["--", "--order", "x"]),
    ],
)
def test_the_spellings_of_today_are_left_alone(
    command: str, known: set[str], arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert renewed_options(command, arguments, known) == arguments
    assert capsys.readouterr().err == ""


def test_explain_of_rules_is_rules_list_and_rules_show(capsys: pytest.CaptureFixture[str]) -> None:
    assert renewed_command(["explain"]) == ["rules", "list"]
    assert renewed_command(["explain", "swappiness"]) == ["rules", "show", "swappiness"]
    assert "explain is deprecated and will be removed: use rules show" in capsys.readouterr().err
    assert renewed_command(["digest", "explain"]) == ["digest", "explain"]


def test_an_old_command_line_gives_what_the_new_one_gives(tmp_path: Path) -> None:
    old, new = invoke("explain", "swappiness"), invoke("rules", "show", "swappiness")
    assert (old.exit_code, old.stdout) == (0, new.stdout)
    assert old.stderr == "mydyno: warning: explain is deprecated and will be removed: use rules show\n"
    (tmp_path / "facts.json").write_text(system().to_json())
    refused = invoke("facts", "--facts", str(tmp_path / "facts.json"), "--host", "none")
    assert "--host is deprecated and will be removed: use --ssh" in refused.stderr
    assert "--facts and --ssh exclude each other" in str(refused.exception)


@pytest.mark.parametrize(
    ("command", "old"),
    [(("digest",), "--order "), (("load", "idle"), "--answer-within"), (("load", "sql-bench"), "--output")],
)
def test_the_help_has_no_old_spelling(command: tuple[str, ...], old: str) -> None:
    assert old not in invoke(*command, "--help").stdout
    assert "│ explain" not in invoke("--help").stdout
