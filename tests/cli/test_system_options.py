"""The options by which commands reach a system."""

from __future__ import annotations

from pathlib import Path

import pytest
from advisor import builders
from typer.testing import CliRunner

from mydyno.cli.main import app
from mydyno.cli.system_options import SystemOptions
from mydyno.core.errors import HostError, UsageError


def test_a_dsn_and_a_socket_are_distinguished(tmp_path: Path) -> None:
    (tmp_path / "word").write_text("geheim\n")
    login = SystemOptions(server="mysql://b%40c@db1:3307", password_file=tmp_path / "word").login()
    assert (login.user, login.address, login.password.reveal()) == ("b@c", "db1:3307", "geheim")
    assert SystemOptions(server="mariadb://db1").login().address == "db1:3306"
    assert SystemOptions(server="/run/s.sock", user="me").login().address == "/run/s.sock"


def test_an_option_file_says_which_server_and_the_command_line_wins(tmp_path: Path) -> None:
    file = tmp_path / "my.cnf"
    file.write_text("[client]\nuser=me\npassword=geheim\nhost=db1\n")
    login = SystemOptions(defaults_file=file).login()
    assert (login.user, login.address, login.password.reveal()) == ("me", "db1:3306", "geheim")
    assert SystemOptions(defaults_file=file, server="/run/s.sock").login().address == "/run/s.sock"
    file.write_text("[client]\nuser=me\n")
    with pytest.raises(UsageError, match="has neither socket nor host"):
        SystemOptions(defaults_file=file).login()


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        ("mysql://me:geheim@db1", "has a password in it"),
        ("db1:3306", "neither a path nor a DSN"),
        ("postgres://db1", "not a valid DSN"),
        ("mysql://db1:port", "not a valid DSN"),
        ("mysql://", "not a valid DSN"),
    ],
)
def test_what_is_not_a_way_to_a_server_is_refused_without_a_word_of_a_password(
    server: str, expected: str
) -> None:
    with pytest.raises(UsageError, match=expected) as caught:
        SystemOptions(server=server).login()
    assert "geheim" not in str(caught.value)


def test_saved_facts_need_no_server_and_exclude_one(tmp_path: Path) -> None:
    file = tmp_path / "facts.json"
    file.write_text(builders.system().to_json())
    assert SystemOptions(facts=file).system() == builders.system()
    with pytest.raises(UsageError, match="--facts and --server exclude each other"):
        SystemOptions(facts=file, server="/run/s.sock").system()
    with pytest.raises(UsageError, match="cannot read"):
        SystemOptions(facts=tmp_path / "none.json").system()


@pytest.mark.parametrize("host", ["", "ssh:", "-oProxyCommand=x", "ssh:-oProxyCommand=x", "a b", "db1:x"])
def test_a_host_that_cannot_be_meant_is_refused(host: str) -> None:
    with pytest.raises(UsageError, match="not a machine that can be read"):
        SystemOptions(server="/run/none.sock", ssh=host).system()


def test_a_machine_that_cannot_be_reached_is_reported_before_the_server_is_watched() -> None:
    with pytest.raises(HostError, match=r"ssh to nobody@127\.0\.0\.1"):
        SystemOptions(server="/run/none.sock", ssh="nobody@127.0.0.1:1").system()


def test_the_command_prints_saved_facts_again(tmp_path: Path) -> None:
    file = tmp_path / "facts.json"
    file.write_text(builders.system().to_json())
    done = CliRunner().invoke(app, ["facts", "--facts", str(file)])
    assert (done.exit_code, done.stdout) == (0, builders.system().to_json())
