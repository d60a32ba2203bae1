from pathlib import Path

import pytest

from mydyno.core.errors import UsageError
from mydyno.server.access.credentials import ClientOptions, read_option_file, read_password_file


def option_file(folder: Path, text: str) -> ClientOptions:
    path = folder / "my.cnf"
    path.write_text(text)
    return read_option_file(path)


def test_the_client_section_shows_who_and_where(tmp_path: Path) -> None:
    found = option_file(
        tmp_path,
        '!includedir /etc/mysql/conf.d/\n# a comment\n[client]\nuser = bench\npassword="p#ss\'w ord"\n'
        "socket=/run/mysqld/mysqld.sock\nport=3307\n[mysqld]\nuser=mysql\n",
    )
    assert (found.user, found.port) == ("bench", 3307)
    assert found.socket == Path("/run/mysqld/mysqld.sock")
    assert found.password is not None
    assert found.password.reveal() == "p#ss'w ord"
    assert "p#ss" not in repr(found)


def test_options_without_values_and_repeated_ones_are_as_the_clients_take_them(tmp_path: Path) -> None:
    found = option_file(tmp_path, "[client]\ncompress\nuser=a\nuser=b\n[mysql]\nhost=db1\n")
    assert (found.user, found.host, found.password, found.port) == ("b", "db1", None, None)


def test_a_named_group_is_read_alone(tmp_path: Path) -> None:
    path = tmp_path / "my.cnf"
    path.write_text("[client]\nuser=a\nport=3307\n[client-old]\nuser=b\n")
    found = read_option_file(path, "client-old")
    assert (found.user, found.port) == ("b", None)
    with pytest.raises(UsageError, match=r"has no group \[old\]; there is client, client-old"):
        read_option_file(path, "old")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("user=x\n", "not a client option file"), ("[client]\nport=abc\n", "port is not a number")],
)
def test_a_broken_option_file_is_named(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(UsageError, match=expected) as caught:
        option_file(tmp_path, text)
    assert str(tmp_path / "my.cnf") in caught.value.message


def test_a_missing_file_is_named_with_the_reason(tmp_path: Path) -> None:
    for read in (read_option_file, read_password_file):
        with pytest.raises(UsageError, match="No such file"):
            read(tmp_path / "none")


def test_a_password_file_gives_its_first_line_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text(" with blanks \nsecond line\n")
    assert read_password_file(path).reveal() == " with blanks "
