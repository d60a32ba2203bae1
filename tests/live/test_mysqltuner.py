"""The real MySQLTuner against a private server; skipped, aloud, where it cannot be had."""

from __future__ import annotations

import pytest

from mydyno.core.errors import HostError, MissingToolError
from mydyno.lab.stack import RunningServer
from mydyno.prove import mysqltuner

pytestmark = pytest.mark.live


def test_its_advice_on_a_server_becomes_settings(server: RunningServer) -> None:
    try:
        program = mysqltuner.fetch(print)
    except (HostError, MissingToolError) as error:
        pytest.skip(f"MySQLTuner cannot be had here: {error}")
    text = mysqltuner.run(program, server.login)
    assert server.login.password.reveal() not in text
    report = mysqltuner.read_report(text)
    assert report.version is not None
    found = mysqltuner.settings_of(report, server.variables())
    assert len(found.values) + len(found.left_out) == len(report.variables) > 0
    assert all(name in server.variables() for name in found.values)
