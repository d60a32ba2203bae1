"""Servers whose slow log is turned on for a while, one for each release, and how their settings stand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from live.conftest import _starting, _without_tables
from live.releases import release
from live.slow_statements import until_logged
from mydyno.lab.stack import RunningServer, Site
from mydyno.server.access.login import Login
from mydyno.server.access.session import session
from mydyno.server.releases import binary_of

RELEASES = [
    "mariadb-10.11",
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("mariadb-11.8", "mysql-5.6", "mysql-9.7")),
]


@pytest.fixture(scope="module", params=RELEASES)
def server(request: pytest.FixtureRequest, shared_site: Site) -> Iterator[RunningServer]:
    """One for each release, for all tests here."""
    release(request.param)
    binary = binary_of(request.param)
    folder = shared_site.lab / f"{request.module.__name__}-{request.param}"
    for start in _starting(shared_site, _without_tables(shared_site, binary), binary, folder):
        yield start(port=0)


def variables(login: Login) -> dict[str, str]:
    """All of them; those that count what other tests do are left out."""
    with session(login) as cursor:
        cursor.execute("SHOW GLOBAL VARIABLES")
        shown = {str(name): str(value) for name, value in cursor.fetchall()}
        until_logged(cursor.connection)
    return {name: value for name, value in shown.items() if not name.startswith("gtid_")}


def set_globals(login: Login, **values: object) -> None:
    with session(login) as cursor:
        for name, value in values.items():
            cursor.execute(f"SET GLOBAL {name} = %s", (value,))
        until_logged(cursor.connection)


@contextmanager
def unchanged(login: Login) -> Iterator[None]:
    before = variables(login)
    yield
    assert variables(login) == before


def run(login: Login, *statements: str) -> None:
    """In a separate session, which begins now. They are in the log when this returns."""
    with session(login) as cursor:
        for statement in statements:
            cursor.execute(statement)
            cursor.fetchall()
        until_logged(cursor.connection)
