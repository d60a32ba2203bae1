"""No command replaces a file that mydyno did not write, and none replaces its own input."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer.main
from advisor.builders import GIB, host, system
from lab.cloud.builders import KEY, experiment_text
from lab.report.builders import thread_cache_run
from prove.builders import THREADS, advice
from typer.testing import CliRunner

from cli.test_compare import kept
from cli.test_digest import LOG
from mydyno.cli.main import app
from mydyno.cli.outputs import PAGE, Outputs
from mydyno.core.errors import MydynoError, UsageError
from mydyno.survey.facts import Memory

FOREIGN = "# Somebody's notes\n"


@dataclass(frozen=True)
class Command:
    """A command with an output option, in a folder with `lab`, `slow.log`, `facts.json` and `advice.json`."""

    words: str
    option: str
    name: str
    """Of the output file."""
    runs_here: bool = True
    """Whether it needs no server, so that the test can let it write."""
    has_mark: bool = True
    """Whether the file shows that mydyno wrote it; one without is replaced with --force only."""

    def __str__(self) -> str:
        return f"{self.words.split()[0]} {self.option}"

    def arguments(self, output: str | Path, *more: str) -> list[str]:
        return [*self.words.split(), self.option, str(output), *more]


FILES = (
    Command("advise --facts facts.json", "--out", "advice-again.json"),
    Command("facts --facts facts.json", "--out", "facts-again.json"),
    Command("prove advice.json --rows 1k --dry-run", "--out", "experiment.yaml"),
    Command("compare thread-cache --json", "--out", "compared.json"),
    Command("compare thread-cache", "--junit", "compared.xml"),
    Command("compare thread-cache", "--markdown", "compared.md"),
    Command("trend thread-cache --json", "--out", "trend.json"),
    Command("trend thread-cache", "--picture", "trend.png"),
    Command("trend thread-cache", "--picture", "trend.svg"),
    Command("export thread-cache --format openmetrics", "--out", "series.om"),
    Command("export thread-cache --format prometheus", "--out", "series.prom"),
    Command("export", "--grafana-dashboard", "dashboard.json"),
    Command("advise --facts facts.json", "--html", "advice.html"),
    Command("digest slow.log", "--html", "slow.html"),
    Command("digest slow.log", "--out-log", "kept.log", has_mark=False),
    Command("slowlog --server ./no.sock", "--html", "slow.html", runs_here=False),
    Command("rehearse old.trace --data array.yaml", "--html", "page.html", runs_here=False),
    Command("synthesize --server ./no.sock", "--out", "new.trace", runs_here=False),
    Command("capture slow.log", "--out", "new.trace"),
    Command("trace filter old.trace", "--out", "new.trace"),
    Command("trace cut old.trace", "--out", "new.trace"),
    Command("trace merge old.trace", "--out", "new.trace"),
    Command("load sql-bench --socket no.sock", "--out", "report.txt", runs_here=False),
)
FOLDERS = (
    Command("report thread-cache", "--out", "report"),
    Command("compare thread-cache", "--report", "report"),
)
ALWAYS_NEW = (
    Command("bundle thread-cache", "--out", "run.mydyno.tar.gz"),
    Command("export thread-cache --format csv", "--out", "numbers"),
    Command("slowlog --server ./no.sock", "--save", "kept.log"),
    Command("replay old.trace --socket ./no.sock", "--out", "results"),
)
"""What is written into a new file or folder only, --force or not."""
NEW_FOLDERS = (
    Command(
        "cloud export array.yaml --provider gcp --ssh-key key.pub --ssh-from 203.0.113.7", "--out", "machine"
    ),
)
"""What is written into a folder that holds nothing, or with --force."""
FORCED = (Command("digest slow.log", "--out-log", "kept.log"),)
"""What cannot be distinguished from a server's own file: once there, it is replaced with --force only."""

READ = {
    *("--defaults-file", "--password-file", "--facts", "--table", "--from", "--datadir", "--socket"),
    *("--lab", "--root", "--history", "--hosts", "--ssh-key"),
    *("--data", "--schema-change", "--digest"),
    *("--ssl-ca", "--ssl-cert", "--ssl-key", "--server-public-key"),
}
"""Options that name what a command reads, or a folder that is mydyno's."""


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("outputs")
    for day in (1, 2):
        made = thread_cache_run(repeats=3, connections=(10,), levels=(8, 450), invalid=(), seed=day)
        kept(folder / "lab", made, str(day) * 16, day=day)
    (folder / "slow.log").write_text(LOG)
    memory = Memory(total=16 * GIB, swap_total=GIB)
    old = CliRunner().invoke(app, ["capture", str(folder / "slow.log"), "--out", str(folder / "old.trace")])
    assert old.exit_code == 0, old.output
    (folder / "facts.json").write_text(system(the_host=host(memory_facts=memory)).to_json())
    (folder / "advice.json").write_text(advice(THREADS).to_json())
    (folder / "array.yaml").write_text(experiment_text())
    (folder / "key.pub").write_text(KEY)
    return folder


@pytest.fixture
def here(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working folder; what a test writes into it is removed."""
    before = set(workplace.iterdir())
    monkeypatch.chdir(workplace)
    yield workplace
    for path in set(workplace.iterdir()) - before:
        if path.is_dir():
            for each in path.iterdir():
                each.unlink()
            path.rmdir()
        else:
            path.unlink()


def mydyno(arguments: list[str]) -> None:
    answer = CliRunner().invoke(app, arguments)
    if answer.exception is not None:
        raise answer.exception


def test_every_option_that_names_an_output_is_in_the_tables() -> None:
    tables = (*FILES, *FOLDERS, *ALWAYS_NEW, *NEW_FOLDERS, *FORCED)
    known = {(each.words.split()[0], each.option) for each in tables}
    found = set()
    for name, command in _commands(typer.main.get_command(app)):
        for parameter in command.params:
            descriptor = getattr(parameter, "type_descriptor", None)
            if descriptor is not None and descriptor.annotation is Path:
                found |= {(name.split()[0], flag) for flag in parameter.opts if flag.startswith("--")}
    assert {each for each in found if each[1] not in READ} == known


def _commands(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "list_commands"):
        yield name.strip(), command
        return
    context = typer.Context(command, info_name=name or "mydyno")
    for each in command.list_commands(context):
        yield from _commands(command.get_command(context, each), f"{name} {each}")


@pytest.mark.parametrize("command", FORCED, ids=str)
def test_a_file_like_any_server_s_is_replaced_with_force_only(command: Command, here: Path) -> None:
    mydyno(command.arguments(command.name))
    written = (here / command.name).read_bytes()
    with pytest.raises(UsageError, match="exists and is not"):
        mydyno(command.arguments(command.name))
    (here / command.name).write_text(FOREIGN)
    mydyno(command.arguments(command.name, "--force"))
    assert (here / command.name).read_bytes() == written


@pytest.mark.parametrize("command", FILES, ids=str)
def test_a_file_of_another_user_is_replaced_with_force_only(command: Command, here: Path) -> None:
    output = here / command.name
    output.write_text(FOREIGN)
    with pytest.raises(UsageError, match=r"exists and is not .* that mydyno wrote") as refused:
        mydyno(command.arguments(command.name))
    assert "--force" in (refused.value.hint or "")
    assert output.read_text() == FOREIGN
    if command.runs_here:
        mydyno(command.arguments(command.name, "--force"))
        assert output.read_bytes() != FOREIGN.encode()


@pytest.mark.parametrize("command", [each for each in FILES if each.runs_here and each.has_mark], ids=str)
def test_a_file_that_mydyno_wrote_is_replaced_by_the_same_command(command: Command, here: Path) -> None:
    output = here / command.name
    output.touch(mode=0o600)
    mydyno(command.arguments(command.name))
    written = output.read_bytes()
    output.write_bytes(written + b"\n")
    mydyno(command.arguments(command.name))
    assert abs(len(output.read_bytes()) - len(written)) < 64, "only moments differ between the two"
    assert stat.S_IMODE(output.stat().st_mode) == 0o600, "its permissions are kept"
    assert [each.name for each in here.iterdir() if "partial" in each.name] == []


@pytest.mark.parametrize("command", FOLDERS, ids=str)
def test_a_folder_of_another_user_takes_no_report_without_force(command: Command, here: Path) -> None:
    folder = here / command.name
    folder.mkdir()
    (folder / "points.csv").write_text(FOREIGN)
    with pytest.raises(UsageError, match="no report that mydyno wrote"):
        mydyno(command.arguments(command.name))
    assert [(each.name, each.read_text()) for each in folder.iterdir()] == [("points.csv", FOREIGN)]
    mydyno(command.arguments(command.name, "--force"))
    mydyno(command.arguments(command.name))
    assert PAGE.wrote(folder / "report.html")


@pytest.mark.parametrize("command", NEW_FOLDERS, ids=str)
def test_a_folder_that_holds_files_takes_others_with_force_only(command: Command, here: Path) -> None:
    folder = here / command.name
    folder.mkdir()
    (folder / "README.md").write_text(FOREIGN)
    with pytest.raises(UsageError, match="holds files"):
        mydyno(command.arguments(command.name))
    assert [(each.name, each.read_text()) for each in folder.iterdir()] == [("README.md", FOREIGN)]
    mydyno(command.arguments(command.name, "--force"))
    assert (folder / "README.md").read_text() != FOREIGN


@pytest.mark.parametrize("command", ALWAYS_NEW, ids=str)
def test_what_is_always_new_never_replaces_anything(command: Command, here: Path) -> None:
    (here / command.name).write_text(FOREIGN)
    with pytest.raises(MydynoError, match=r"exists already|is there already"):
        mydyno(command.arguments(command.name))
    assert (here / command.name).read_text() == FOREIGN


@pytest.mark.parametrize(
    ("words", "option", "input_name"),
    [
        ("digest slow.log", "--html", "slow.log"),
        ("digest --compare slow.log facts.json", "--html", "slow.log"),
        ("advise --facts facts.json", "--out", "facts.json"),
        ("prove advice.json --dry-run", "--out", "advice.json"),
        ("prove advice.json --facts facts.json --dry-run", "--out", "facts.json"),
        ("compare thread-cache --json", "--out", "lab/lab.sqlite"),
        ("slowlog --defaults-file facts.json", "--html", "facts.json"),
        ("load sql-bench --defaults-file facts.json", "--out", "facts.json"),
    ],
)
def test_an_input_is_never_replaced_not_even_with_force(
    words: str, option: str, input_name: str, here: Path
) -> None:
    before = (here / input_name).read_bytes()
    (here / "link").symlink_to(input_name)
    os.link(here / input_name, here / "hard-link")
    for output in (input_name, here / input_name, "link", "hard-link"):
        with pytest.raises(UsageError, match="is an input of this command"):
            mydyno([*words.split(), option, str(output), "--force"])
    assert (here / input_name).read_bytes() == before


def test_two_outputs_do_not_go_into_one_file(here: Path) -> None:
    with pytest.raises(UsageError, match="--markdown and --out name the same file"):
        mydyno(["compare", "thread-cache", "--json", "--out", "x", "--markdown", "./x"])
    with pytest.raises(UsageError, match="is an input"):
        mydyno(["slowlog", "--server", "./no.sock", "--html", "x", "--save", "x"])


def test_a_folder_that_is_missing_is_reported_before_the_work(here: Path) -> None:
    with pytest.raises(UsageError, match="there is no folder no"):
        mydyno(["slowlog", "--server", "./no.sock", "--html", "no/slow.html"])


def test_a_file_that_fails_half_way_leaves_the_older_one(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text('<!DOCTYPE html>\n<meta name="generator" content="mydyno 1">')
    output = Outputs().file("--html", path, PAGE)
    assert output is not None
    before = path.read_text()

    def fail_half_way() -> None:
        with output.open() as file:
            file.write(b"half")
            raise OSError(28, "No space left on device")

    with pytest.raises(UsageError, match=r"cannot write .*No space left") as caught:
        fail_half_way()
    assert "free some space" in (caught.value.hint or "")
    assert path.read_text() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_appears_during_the_work_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    output = Outputs().file("--html", path, PAGE)
    assert output is not None
    path.write_text(FOREIGN)
    with pytest.raises(UsageError, match="exists and is not a page"):
        output.write("<!DOCTYPE html>")
    assert path.read_text() == FOREIGN


def test_a_pipe_is_written_and_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    heard: list[str] = []
    reader = threading.Thread(target=lambda: heard.append(path.read_text()))
    reader.start()
    output = Outputs().file("--html", path, PAGE)
    assert output is not None
    output.write("page")
    reader.join(timeout=30)
    assert heard == ["page"]
    assert path.is_fifo()


def test_a_link_is_followed_and_stays(tmp_path: Path) -> None:
    (tmp_path / "real").touch()
    (tmp_path / "link").symlink_to("real")
    output = Outputs().file("--html", tmp_path / "link", PAGE)
    assert output is not None
    output.write("page")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "page"
