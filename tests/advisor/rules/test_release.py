import pytest

from advisor.builders import MARIADB, MYSQL_57, MYSQL_84, a_role, server, system
from advisor.rules.judging import finding, judged
from mydyno.advisor import rule_of
from mydyno.advisor.rule import Fine, Judgement, NotHere, Unknown
from mydyno.advisor.targets import Targets
from mydyno.apply.finding import Finding, Severity


def test_a_release_without_corrections_is_a_finding_that_says_since_when() -> None:
    found = finding("end-of-life", server(MYSQL_57))
    assert "since 2023-10-31" in found.title
    assert found.severity is Severity.HIGH


@pytest.mark.parametrize("version", [MARIADB, MYSQL_84, "mysqld  Ver 9.7.4 for Linux"])
def test_a_series_with_long_term_support_is_fine(version: str) -> None:
    assert isinstance(judged("end-of-life", server(version)), Fine)


def at(day: str, version: str) -> Judgement:
    then = system(server(version)).model_copy(update={"read_at": f"{day}T12:00:00Z"})
    return rule_of("end-of-life").judge(then, Targets())


def test_it_is_judged_by_the_day_of_the_facts() -> None:
    old = "mariadbd  Ver 10.6.20-MariaDB"
    assert isinstance(at("2025-01-01", old), Fine)
    soon = at("2026-05-01", old)
    assert isinstance(soon, Finding)
    assert (soon.severity, soon.title) == (
        Severity.MEDIUM,
        "MariaDB 10.6.20 will be out of support on 2026-07-06",
    )


def test_an_unknown_series_and_a_managed_service_are_not_judged() -> None:
    assert isinstance(judged("end-of-life", server("mysqld  Ver 26.10 for Linux")), Unknown)
    managed = server(MYSQL_57, role=a_role(managed="Amazon RDS"))
    assert isinstance(judged("end-of-life", managed), NotHere)
