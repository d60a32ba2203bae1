"""How an experiment's words become a way into a server."""

from __future__ import annotations

from pathlib import Path

import pytest

from mydyno.core.errors import UsageError
from mydyno.lab.spec import External
from mydyno.server.access.login import Login, login_of


def of_file(folder: Path, text: str) -> Login:
    path = folder / "my.cnf"
    path.write_text(text)
    return login_of(External(defaults_file=str(path)))


def test_localhost_in_an_option_file_means_the_socket_as_it_does_for_the_clients(tmp_path: Path) -> None:
    found = of_file(tmp_path, "[client]\nuser=b\npassword=word\nhost=localhost\nsocket=/run/s.sock\n")
    assert (found.address, found.host) == ("/run/s.sock", None)
    assert of_file(tmp_path, "[client]\nuser=b\nhost=db1\nsocket=/run/s.sock\n").address == "db1:3306"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("[client]\nuser=b\n", "neither socket nor host"), ("[client]\nhost=db1\n", "names no user")],
)
def test_an_option_file_that_does_not_say_enough_is_named(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(UsageError, match=expected) as caught:
        of_file(tmp_path, text)
    assert str(tmp_path / "my.cnf") in caught.value.message


def test_a_dsn_and_a_password_file_make_a_login_that_shows_no_password(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("geheim\n")
    external = External.model_validate(
        {"dsn": "mysql://b%40c@[::1]:3307/shop", "password_file": str(tmp_path / "password")}
    )
    found = login_of(external)
    assert (found.user, found.host, found.port, external.database) == ("b@c", "::1", 3307, "shop")
    assert found.password.reveal() == "geheim"
    assert "geheim" not in f"{found} {found!r} {external.model_dump_json()}"


@pytest.mark.parametrize(
    ("host", "is_here"),
    [("localhost", True), ("127.0.0.1", True), ("::1", True), ("db1", False), ("10.0.0.7", False)],
)
def test_only_a_loopback_address_can_be_this_machine(host: str, is_here: bool, tmp_path: Path) -> None:
    assert login_of(External(host=host, user="b")).is_here == is_here


def test_home_is_spelt_out_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    external = External(defaults_file="~/.my.cnf")
    assert external.at_home.defaults_file == "/home/someone/.my.cnf"
    assert External.model_validate_json(external.at_home.model_dump_json()) == external.at_home
