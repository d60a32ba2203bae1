"""What a private server opens to generators: one account on one schema, from their addresses."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import cast

import pytest

from lab.stack.builders import MARIADB_VERSION, MYSQL_VERSION
from mydyno.core.errors import ServerError
from mydyno.core.secrets import Secret
from mydyno.core.server_version import Version, parse_version
from mydyno.lab.stack.server.opening import ANYWHERE, Opening, usable_port
from mydyno.machine.local import LocalHost
from mydyno.server.program.binary import ServerBinary


@dataclass
class OfVersion:
    version: Version


def statements(line: str, opening: Opening, password: Secret) -> list[str]:
    return opening.statements(cast(ServerBinary, OfVersion(parse_version(line))), password)


TWO = Opening("10.0.0.5", None, ("10.0.0.11", "10.0.0.12", "10.0.0.11"), "mydyno")


def test_each_address_has_an_account_on_the_schema_of_the_load_alone() -> None:
    password = Secret.random()
    made = statements(MARIADB_VERSION, TWO, password)
    assert [each.split(" IDENTIFIED")[0] for each in made] == [
        step
        for address in ("10.0.0.11", "10.0.0.12")
        for step in (
            f"CREATE USER IF NOT EXISTS 'mydyno_load'@'{address}'",
            f"GRANT ALL PRIVILEGES ON `mydyno`.* TO 'mydyno_load'@'{address}'",
            f"ALTER USER 'mydyno_load'@'{address}'",
        )
    ]
    assert not any(password.reveal() in each or "GRANT OPTION" in each for each in made)


def test_mysql_makes_the_account_with_its_own_authentication() -> None:
    password = Secret.random()
    [create, grant, alter] = statements(
        MYSQL_VERSION, Opening("10.0.0.5", 3310, (ANYWHERE,), "mydyno"), password
    )
    assert create == f"CREATE USER IF NOT EXISTS 'mydyno_load'@'%' IDENTIFIED BY '{password.reveal()}'"
    assert grant == "GRANT ALL PRIVILEGES ON `mydyno`.* TO 'mydyno_load'@'%'"
    assert alter.startswith("ALTER USER 'mydyno_load'@'%' IDENTIFIED BY ")


def test_a_release_before_alter_user_makes_it_by_grant() -> None:
    [grant] = statements(
        "mysqld  Ver 5.6.24 for linux-glibc2.5 on x86_64",
        Opening("10.0.0.5", None, (ANYWHERE,), "mydyno"),
        Secret("x"),
    )
    assert grant.startswith("GRANT ALL PRIVILEGES ON `mydyno`.* TO 'mydyno_load'@'%' IDENTIFIED BY PASSWORD")


def test_it_listens_on_the_named_address_and_a_free_port() -> None:
    opening = Opening("127.0.0.1", None, (ANYWHERE,), "mydyno")
    port = usable_port(LocalHost(), opening)
    assert 20_000 <= port < 30_000
    settings = {"port": port, "bind_address": "127.0.0.1", "skip_name_resolve": True}
    assert opening.settings(port) == settings


def test_a_port_in_use_and_an_address_of_another_machine_are_refused() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(ServerError, match=f"port {port} of 127.0.0.1 is in use"):
            usable_port(LocalHost(), Opening("127.0.0.1", port, (ANYWHERE,), "mydyno"))
    with pytest.raises(ServerError, match="no port could be opened on 192"):
        usable_port(LocalHost(), Opening("192.0.2.1", None, (ANYWHERE,), "mydyno"))
