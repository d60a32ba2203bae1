"""Services whose console owns the settings."""

from __future__ import annotations

import pytest

from mydyno.survey.server.role import managed_by


@pytest.mark.parametrize(
    ("variables", "host", "service"),
    [
        ({"basedir": "/rdsdbbin/mysql-8.0.35.R2/"}, None, "Amazon RDS"),
        (
            {"basedir": "/rdsdbbin/oscar-8.0.mysql_aurora.3.05.2.0.9.0/", "aurora_version": "3.05.2"},
            None,
            "Amazon Aurora",
        ),
        ({"version": "8.0.31-google", "version_comment": "(Google)"}, "10.0.0.3", "Cloud SQL"),
        ({"version": "8.0.36"}, "shop.mysql.database.azure.com", "Azure Database"),
        ({"version": "8.0.36"}, "shop.c1.eu-west-1.rds.amazonaws.com", "Amazon RDS"),
        ({"version": "8.0.36", "basedir": "/usr/"}, "db1.example.org", None),
    ],
)
def test_a_managed_server_is_known_by_what_it_cannot_hide(
    variables: dict[str, str], host: str | None, service: str | None
) -> None:
    assert managed_by(variables, host) == service
