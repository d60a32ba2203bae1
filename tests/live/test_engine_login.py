"""How the engine gets into a MySQL server over TCP without TLS."""

from __future__ import annotations

import secrets
from collections.abc import Callable

import pytest

from live.conftest import Start
from live.engine import Record, ask, run
from mydyno.lab.stack import RunningServer

pytestmark = pytest.mark.live


@pytest.fixture
def mysql(start_release: Callable[[str], Start]) -> RunningServer:
    return start_release("mysql-9.7")(port=0)


def account(server: RunningServer, name: str, more: str = "") -> str:
    """A new account of caching_sha2_password; its password, of which the server remembers nothing yet."""
    password = secrets.token_hex(12)
    plugin = f"IDENTIFIED WITH caching_sha2_password BY '{password}'"
    ask(server, f"CREATE USER {name}@'127.0.0.1' {plugin} {more}")
    ask(server, f"GRANT ALL ON *.* TO {name}@'127.0.0.1'")
    return password


def key_of(server: RunningServer) -> str:
    [(_, key)] = ask(server, "SHOW STATUS LIKE 'Caching_sha2_password_rsa_public_key'")
    return str(key)


def select_one(server: RunningServer, user: str, password: str, **more: object) -> Record:
    send = {"send": {"name": "select", "sql": ["SELECT 1"]}}
    target = {"host": "127.0.0.1", "port": server.port, "user": user, "password": password}
    return {
        "protocol": 3,
        "target": {**target, "database": "information_schema", **more},
        "workload": {"program": {"name": "one", "transactions": [{"name": "one", "steps": [send]}]}},
        "phases": [{"connections": 2, "work": {"kind": "rounds", "rounds": 3}}],
    }


def test_a_whole_password_goes_over_tcp_only_with_the_key_that_was_named(mysql: RunningServer) -> None:
    password = account(mysql, "bench")
    refused = run(select_one(mysql, "bench", password))
    fatal = refused.the("fatal")
    assert (fatal["code"], refused.exit_code) == ("auth", 3)
    assert "error 2061" in fatal["message"]
    assert "Access denied" not in fatal["message"]
    assert all(way in fatal["hint"] for way in ("unix socket", "--server-public-key", "--ssl-ca"))
    key = key_of(mysql)
    done = run(select_one(mysql, "bench", password, server_public_key=key))
    assert done.exit_code == 0, done.text
    assert done.the("phase_end")["transactions"]["count"] == 6
    # Now the server has the password's hash in memory, and proof of knowing it is enough.
    assert run(select_one(mysql, "bench", password)).exit_code == 0


def test_a_server_or_account_that_wants_encryption_is_named_as_such(mysql: RunningServer) -> None:
    password, key = account(mysql, "tls_only", "REQUIRE SSL"), key_of(mysql)
    denied = run(select_one(mysql, "tls_only", password, server_public_key=key)).the("fatal")
    assert (denied["code"], "error 1045" in denied["message"]) == ("auth", True)
    assert "REQUIRE SSL" in denied["hint"]
    assert "--ssl-mode REQUIRED" in denied["hint"]
    ask(mysql, "SET GLOBAL require_secure_transport = ON")
    password = account(mysql, "anyhow")
    prohibited = run(select_one(mysql, "anyhow", password, server_public_key=key)).the("fatal")
    assert (prohibited["code"], "error 3159" in prohibited["message"]) == ("auth", True)
    assert "unix socket" in prohibited["hint"]
