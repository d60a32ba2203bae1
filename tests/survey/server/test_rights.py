"""What SHOW GRANTS says that an account may see."""

import pytest

from mydyno.survey.server.role import Rights, rights_of

USAGE = "GRANT USAGE ON *.* TO `monitor`@`%` IDENTIFIED BY PASSWORD '*ABC'"


@pytest.mark.parametrize(
    ("grants", "all_tables", "all_sessions"),
    [
        ([USAGE], False, False),
        ([USAGE, "GRANT SELECT ON `shop`.* TO `monitor`@`%`"], False, False),
        (["GRANT PROCESS, REPLICATION CLIENT ON *.* TO `monitor`@`%`"], False, True),
        (["GRANT SELECT, PROCESS ON *.* TO 'monitor'@'%'"], True, True),
        (["GRANT SELECT ON *.* TO `monitor`@`%` REQUIRE SSL WITH GRANT OPTION"], True, False),
        (["GRANT ALL PRIVILEGES ON *.* TO 'root'@'localhost' WITH GRANT OPTION"], True, True),
        (["GRANT ALL PRIVILEGES ON `shop`.* TO 'SELECT'@'localhost'"], False, False),
        (["GRANT SELECT ON *.* TO `m`@`%`", "REVOKE SELECT ON `hr`.* FROM `m`@`%`"], False, False),
        ([USAGE, "GRANT `watcher` TO `monitor`@`%`", "GRANT SELECT ON *.* TO `watcher`"], True, False),
    ],
)
def test_rights_to_everything_are_distinguished_from_rights_to_a_part(
    grants: list[str], all_tables: bool, all_sessions: bool
) -> None:
    assert rights_of(grants) == Rights(all_tables, all_sessions, some_columns=False)


def test_rights_to_some_columns_hide_indexes() -> None:
    assert rights_of([USAGE, "GRANT SELECT (`a`, `b`) ON `shop`.`orders` TO `m`@`%`"]).some_columns
    assert rights_of(["GRANT SELECT, INSERT (a) ON `shop`.`orders` TO `m`@`%`"]).some_columns
