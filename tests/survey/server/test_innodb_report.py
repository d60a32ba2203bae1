"""SHOW ENGINE INNODB STATUS of real servers, read."""

from __future__ import annotations

from pathlib import Path

import pytest

from mydyno.survey.facts import Innodb
from mydyno.survey.server.read import parse_innodb_report

GOLDEN = Path(__file__).parent.parent / "golden"


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        ("mysql-5.6", (11934, 1637921, 3, 0, 0, "2026-11-21 23:27:22")),
        ("mysql-9.7", (76178, 19487443, 10, 0, 0, "2026-11-21 23:27:39")),
        ("mariadb-10.5", (5590, 50897, 7, None, 0, "2026-11-21 23:27:05")),
        ("mariadb-10.11", (5583, 50327, 4, None, 0, "2026-11-21 23:27:08")),
        ("mariadb-11.8", (5879, 51377, 0, None, 0, "2026-11-21 23:27:14")),
    ],
)
def test_each_release_shows_its_figures(release: str, expected: tuple[object, ...]) -> None:
    found = parse_innodb_report((GOLDEN / f"innodb-{release}.txt").read_text())
    assert (
        found.checkpoint_age_bytes,
        found.log_sequence_number,
        found.history_list_length,
        found.queries_in_queue,
        found.semaphore_waits,
        found.latest_deadlock,
    ) == expected


def test_threads_that_wait_for_a_latch_are_counted() -> None:
    text = (GOLDEN / "innodb-mysql-5.6.txt").read_text()
    waits = "".join(
        f"--Thread 14{number} has waited at trx0rec.cc line 1253 for 0.00 seconds the semaphore:\n"
        for number in range(3)
    )
    output = text.replace(
        "OS WAIT ARRAY INFO: reservation count", f"{waits}OS WAIT ARRAY INFO: reservation count"
    )
    assert parse_innodb_report(output).semaphore_waits == 3


def test_a_statement_quoted_in_a_deadlock_is_not_taken_for_a_figure() -> None:
    text = (GOLDEN / "innodb-mariadb-10.5.txt").read_text()
    output = text.replace(
        "UPDATE shop.orders", "Log sequence number 1\nHistory list length 99999\nUPDATE shop.orders"
    )
    assert parse_innodb_report(output) == parse_innodb_report(text)


def test_a_report_that_says_nothing_is_no_figure_at_all() -> None:
    assert parse_innodb_report("") == Innodb()
