"""What real servers say of their variables, and settings of other releases on them."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from server.variables.disagreements import disagreements
from typer.testing import CliRunner

from live.conftest import Start
from mydyno.cli.main import app
from mydyno.core.errors import MydynoError, UsageError
from mydyno.lab.stack import Journal, ServerBinary, Setting, Site, settings_difference, start_server
from mydyno.lab.stack.server.ask_running import ask_running
from mydyno.lab.stack.server.initialise import initialise
from mydyno.machine.local import LocalHost
from mydyno.server.program.file_places import remove_refused_redo_files
from mydyno.server.releases import KNOWN, ReleaseStore, binary_of
from mydyno.server.variables.durability import durability
from mydyno.server.variables.names import canonical, understand

pytestmark = pytest.mark.live


def test_a_throw_away_server_reports_what_its_binary_does_not(
    binary: ServerBinary, lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(lab.parent))
    result = ask_running(binary, ["sort_buffer_size", "innodb_page_size"])
    assert result["sort_buffer_size"].dynamic is True
    assert result["innodb_page_size"].dynamic is False
    if binary.version.is_mariadb:
        assert result["sort_buffer_size"].least == "1024"
    assert list(lab.parent.iterdir()) == [lab], "nothing is left behind"


def test_the_command_shows_what_the_servers_own_binary_says() -> None:
    shown = CliRunner().invoke(app, ["variables", "innodb_buffer_pool_size"], catch_exceptions=False)
    assert "default 128M" in shown.output
    with pytest.raises(UsageError) as caught:
        CliRunner().invoke(app, ["variables", "innodb_bufer_pool_size"], catch_exceptions=False)
    assert "did you mean innodb_buffer_pool_size" in (caught.value.hint or "")


OF_OTHER_RELEASES: dict[str, Setting] = {
    "innodb_redo_log_capacity": "128M",
    "tx_isolation": "READ-COMMITTED",
    "innodb_file_format": "Barracuda",
    "innodb_additional_mem_pool_size": "8M",
    "slave_net_timeout": 30,
    "sort_buffer_size": "1M",
}


def test_a_server_runs_with_settings_of_other_releases_as_they_are_called_there(start: Start) -> None:
    server = start(OF_OTHER_RELEASES)
    assert settings_difference(server.settings, server.variables()) == ()
    assert server.variables()["sort_buffer_size"] == str(2**20)
    assert len(server.settings) < len(OF_OTHER_RELEASES)


def installed() -> list[str]:
    return sorted({*KNOWN, *ReleaseStore().names()})


@pytest.fixture
def release(request: pytest.FixtureRequest) -> ServerBinary:
    try:
        return binary_of(request.param)
    except MydynoError as error:
        pytest.skip(f"{request.param} cannot be asked: {error.message}")


@pytest.fixture
def place(lab: Path) -> Site:
    return Site(lab, LocalHost(), Journal(lab))


@pytest.mark.slow
@pytest.mark.parametrize("release", installed(), indirect=True)
def test_the_table_agrees_with_every_release_that_is_installed(release: ServerBinary) -> None:
    assert disagreements(release.version, release.options) == []


@pytest.mark.slow
@pytest.mark.parametrize("release", installed(), indirect=True)
def test_settings_of_other_releases_are_in_force_on_every_release(release: ServerBinary, place: Site) -> None:
    understood = understand(release, OF_OTHER_RELEASES)
    assert understood.problems == ()
    work = place.roomy_folder()
    try:
        data, scratch = work.path / "data", work.path / "scratch"
        initialise(place, release, datadir=data, scratch=scratch, settings={})
        name = "innodb_flush_log_at_timeout"
        too_long: dict[str, Setting] = {name: 5000} if name in release.options else {}  # Not in MySQL 5.5.
        asked = {**OF_OTHER_RELEASES, **too_long}
        remove_refused_redo_files(place.host, release, data, canonical(release, asked))
        server = start_server(place, release, datadir=data, scratch=scratch, config=asked, folder=place.lab)
        try:
            shown = server.variables()
            clamped = [str(each) for each in settings_difference(server.settings, shown)]
            assert clamped == [f"{name}: configured 5000, in force 2700" for name in too_long]
            assert durability(shown).label in ("durable", "loses up to 1 s on OS crash")
        finally:
            server.stop()
    finally:
        place.remove(work)
