"""A file of another user runs nothing here, in `plan` or `run`, unless the user says --trust."""

from __future__ import annotations

import io
import os
import pty
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mydyno.cli.main import main
from mydyno.core.errors import ExitCode

EXPERIMENT = """experiment: borrowed
setup:
  server:
    {server}
workload: {{idle: {{}}, connections: 1, each: {{measure: 1s}}}}
"""

Mydyno = Callable[..., tuple[int, str]]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that the servers' user may enter and write to, as root's servers have one."""
    made = Path(tempfile.mkdtemp(prefix="mydyno-test-"))
    made.chmod(0o777)
    yield made
    shutil.rmtree(made)


@pytest.fixture
def mydyno(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path) -> Mydyno:
    """Runs a command in this process, without a terminal; gives its exit code and what it said."""
    monkeypatch.setattr(sys, "stdin", io.StringIO())

    def run(*arguments: str | Path) -> tuple[int, str]:
        command = ["mydyno", *map(str, arguments), "--lab", str(folder / "lab")]
        monkeypatch.setattr(sys, "argv", command)
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0), "".join(capsys.readouterr())

    return run


def experiment(folder: Path, server: str) -> Path:
    file = folder / "borrowed.yaml"
    file.write_text(EXPERIMENT.format(server=server))
    return file


def witness(folder: Path) -> tuple[Path, Path]:
    """A program that leaves a file when it is run, and that file."""
    program, seen = folder / "mysqld", folder / "seen"
    program.write_text(f"#!/bin/sh\ntouch {seen}\necho mysqld  Ver 10.11.6-MariaDB for Linux\n")
    program.chmod(0o755)
    return program, seen


@pytest.mark.parametrize("command", ["plan", "run"])
def test_a_variable_that_loads_code_needs_trust(mydyno: Mydyno, folder: Path, command: str) -> None:
    code, said = mydyno(command, experiment(folder, "config: {loose-plugin-dir: /tmp/x}"))
    assert code == ExitCode.USAGE
    assert "borrowed.yaml:4:14: loose_plugin_dir needs --trust: it makes the server load code" in said
    assert "hint: read the file; --trust uses it as if you had written it" in said


@pytest.mark.parametrize("setting", ["loose_datadir: /tmp/x", "general_log_file: /home/dba/.bashrc"])
def test_what_belongs_to_mydyno_is_refused_even_with_trust(
    mydyno: Mydyno, folder: Path, setting: str
) -> None:
    code, said = mydyno("plan", experiment(folder, f"config: {{{setting}}}"), "--trust")
    assert code == ExitCode.USAGE
    assert "borrowed.yaml:4:" in said
    assert "may not set" in said or "outside the data directory" in said


def test_a_level_of_a_factor_needs_trust_as_the_setup_does(mydyno: Mydyno, folder: Path) -> None:
    file = experiment(folder, "release: system")
    file.write_text(file.read_text() + "factors: {server.config.plugin_dir: [/tmp/a, /tmp/b]}\n")
    code, said = mydyno("plan", file)
    assert code == ExitCode.USAGE
    assert "plugin_dir needs --trust" in said


def test_a_beginning_of_an_options_name_is_not_a_way_around(mydyno: Mydyno, folder: Path) -> None:
    code, said = mydyno("plan", experiment(folder, "config: {plugin_di: /tmp/x}"))
    assert code == ExitCode.USAGE
    assert "plugin_di" in said


@pytest.mark.parametrize("command", ["plan", "run"])
def test_a_program_that_only_the_file_names_is_not_run(mydyno: Mydyno, folder: Path, command: str) -> None:
    program, seen = witness(folder)
    file = experiment(folder, f"binary: {program}")
    code, said = mydyno(command, file)
    assert code == ExitCode.USAGE
    assert f"borrowed.yaml:4:13: {program} needs --trust" in said
    assert not seen.exists()


def test_a_link_or_dots_in_the_path_do_not_make_a_program_known(mydyno: Mydyno, folder: Path) -> None:
    program, seen = witness(folder)
    dots = f"/usr/sbin/../..{program}"
    assert mydyno("plan", experiment(folder, f"binary: {dots}"))[0] == ExitCode.USAGE
    assert not seen.exists()


def test_a_program_of_this_machine_that_is_not_a_server_is_not_run(mydyno: Mydyno, folder: Path) -> None:
    code, said = mydyno("plan", experiment(folder, "binary: /usr/bin/env"))
    assert code == ExitCode.USAGE
    assert "/usr/bin/env needs --trust" in said


def test_with_trust_the_program_is_run_for_its_options(mydyno: Mydyno, folder: Path) -> None:
    program, seen = witness(folder)
    mydyno("plan", experiment(folder, f"binary: {program}"), "--trust")
    assert seen.exists()


@pytest.mark.parametrize("answer", ["n", "y"])
def test_at_a_terminal_a_question_is_put(
    mydyno: Mydyno, folder: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    program, seen = witness(folder)
    keyboard, terminal = pty.openpty()
    os.write(keyboard, f"{answer}\n".encode())
    with os.fdopen(terminal) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        said = mydyno("plan", experiment(folder, f"binary: {program}"))[1]
    os.close(keyboard)
    assert "Run it?" in said
    assert seen.exists() == (answer == "y")


def test_a_password_is_not_sent_to_a_host_that_only_the_file_names(mydyno: Mydyno, folder: Path) -> None:
    secret = folder / "password"
    secret.write_text("geheim\n")
    external = f"external: {{host: db.example, user: me, password_file: {secret}}}"
    code, said = mydyno("plan", experiment(folder, external))
    assert code == ExitCode.USAGE
    assert "password_file needs --trust: the password is sent to db.example" in said


def test_sql_of_a_workload_file_that_reaches_further_needs_trust(mydyno: Mydyno, folder: Path) -> None:
    (folder / "shop.yaml").write_text(
        "workload: shop\nabout: x\nconnection: {session: [SET GLOBAL general_log = 1]}\n"
        "transactions: {one: {steps: [SELECT 1]}}\n"
    )
    file = experiment(folder, "release: system")
    file.write_text(file.read_text().replace("idle: {}", "file: {path: shop.yaml}"))
    code, said = mydyno("plan", file)
    assert code == ExitCode.USAGE
    assert "'SET GLOBAL general_log = 1' needs --trust: it reaches beyond the tables" in said
    assert "borrowed.yaml:5:" in said
