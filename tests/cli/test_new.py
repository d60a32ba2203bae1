"""`mydyno new`: the experiment that it writes is one that mydyno takes."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mydyno.cli.main import app
from mydyno.core.document.problems import SpecErrors
from mydyno.core.errors import UsageError
from mydyno.lab import spec
from mydyno.lab.workload import builtin_names

MYDYNO = Path(sys.executable).parent / "mydyno"


def write(file: Path, *words: str) -> spec.Experiment:
    """The experiment that `mydyno new` wrote. Raises what it raises."""
    done = CliRunner().invoke(app, ["new", str(file), *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return spec.load(file)


def test_the_options_become_an_experiment_with_a_comment_on_each_part(tmp_path: Path) -> None:
    file = tmp_path / "Pool size.yaml"
    written = write(
        file,
        *("--factor", "innodb_buffer_pool_size=1G,4G", "--factor", "workload.oltp-write-only.tables=1,4"),
        *("--workload", "oltp-write-only", "--set", "table_size=20k", "--connections", "1,200"),
        *("--duration", "60", "--warmup", "2s", "--repeats", "7", "--question", 'Does "more" help: yes?'),
    )
    assert written.experiment == "pool-size"
    assert written.question == 'Does "more" help: yes?'
    assert [factor.name for factor in written.factors] == [
        "server.config.innodb_buffer_pool_size",
        "workload.oltp-write-only.tables",
    ]
    assert written.workload.connections == (1, 200)
    assert written.workload.each.measure == 60
    assert written.workload.each.warmup == 2
    assert written.design.repeats == 7
    limit = written.setup.server.config["max_connections"]
    assert limit.number == 210
    for part in ("The system under test", "What varies", "The load", "Trials of each point"):
        assert f"# {part}" in file.read_text()


def test_without_options_and_a_terminal_every_choice_has_its_default(tmp_path: Path) -> None:
    written = write(tmp_path / "first.yaml")
    assert (written.experiment, written.factors, written.workload.connections) == ("first", (), (16,))


@pytest.mark.parametrize("workload", builtin_names())
def test_every_built_in_workload_can_be_chosen(workload: str, tmp_path: Path) -> None:
    write(tmp_path / "new.yaml", "--workload", workload)
    spec.load(tmp_path / "new.yaml", "toy")


def test_a_file_is_replaced_with_force_only(tmp_path: Path) -> None:
    file = tmp_path / "new.yaml"
    write(file, "--connections", "4")
    with pytest.raises(UsageError, match=f"{file} exists"):
        write(file, "--connections", "8")
    assert spec.load(file).workload.connections == (4,)
    assert write(file, "--connections", "8", "--force").workload.connections == (8,)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--duration", "60 parsecs"), "workload.each.measure"),
        (("--connections", "many"), "workload.connections"),
        (("--factor", "server.confg.sort_buffer_size=1M,2M"), "confg"),
        (("--factor", "sort_buffer_size"), "no value is given"),
        (("--workload", "oltp-read-wrote"), "unknown workload 'oltp-read-wrote'"),
        (("--environment", "moon"), "setup.host"),
    ],
)
def test_nothing_is_written_that_is_not_an_experiment(
    words: tuple[str, ...], problem: str, tmp_path: Path
) -> None:
    with pytest.raises((UsageError, SpecErrors), match=problem):
        write(tmp_path / "new.yaml", *words)
    assert not list(tmp_path.iterdir())


def test_on_a_terminal_it_asks_and_asks_again_after_a_wrong_answer(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [MYDYNO, "new", "asked.yaml"]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=tmp_path) as process:
        os.close(theirs)
        answers = ["Does it help?", "sync_binlog=0,1", "", "oltp-wrote-only", "oltp-write-only", *[""] * 4]
        os.write(ours, "".join(f"{answer}\n" for answer in answers).encode())
        shown = _all_of(ours)
        assert process.wait() == 0, shown
    os.close(ours)
    assert "unknown workload 'oltp-wrote-only'" in shown
    written = spec.load(tmp_path / "asked.yaml")
    assert written.question == "Does it help?"
    assert [factor.name for factor in written.factors] == ["server.config.sync_binlog"]
    assert written.workload.connections == (16,)


def _all_of(terminal: int) -> str:
    """What is shown until the other end is closed, which a terminal reports as an error."""
    shown = b""
    try:
        while part := os.read(terminal, 4096):
            shown += part
    except OSError:
        pass
    return shown.decode()


@pytest.mark.live
def test_what_it_wrote_is_planned_as_it_is(tmp_path: Path) -> None:
    words = ("new", "pool.yaml", "--factor", "innodb_buffer_pool_size=64M,128M", "--duration", "2s")
    subprocess.run([MYDYNO, *words], cwd=tmp_path, check=True)
    planned = subprocess.run(
        [MYDYNO, "plan", "pool.yaml"], cwd=tmp_path, check=True, text=True, capture_output=True
    )
    assert "innodb_buffer_pool_size = 128M" in planned.stdout
    assert "accepts all settings" in planned.stdout
