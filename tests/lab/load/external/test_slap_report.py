"""Reading what mariadb-slap 10.11 really printed (golden/, recorded by record_golden.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

from mydyno.core.errors import EngineError
from mydyno.lab.load.external.slap import Block, Failure, read_report

GOLDEN = Path(__file__).parent / "golden"


def lines(name: str) -> list[str]:
    return (GOLDEN / f"mariadb-slap-10.11-{name}.txt").read_text().splitlines()


def blocks(name: str) -> list[Block]:
    return [item for item in read_report(lines(name)) if isinstance(item, Block)]


def failures(name: str) -> list[Failure]:
    return [item for item in read_report(lines(name)) if isinstance(item, Failure)]


def test_a_report_is_the_seconds_of_all_clients_together() -> None:
    [block] = blocks("default")
    assert (block.engine, block.clients, block.queries_per_client) == (None, 2, 500)
    assert 0 < block.min_s == block.avg_s == block.max_s


def test_every_engine_and_concurrency_has_a_report_of_its_own() -> None:
    lines = [(block.engine, block.clients, block.queries_per_client) for block in blocks("engines")]
    assert lines == [("innodb", 2, 50), ("innodb", 4, 25), ("aria", 2, 50), ("aria", 4, 25)]
    assert all(block.min_s <= block.avg_s <= block.max_s for block in blocks("engines"))


def test_without_a_number_of_queries_none_are_reported() -> None:
    [block] = blocks("no-number-of-queries")
    assert block.queries_per_client == 0


def test_clients_without_a_connection_are_reported_beside_a_report_that_counts_them() -> None:
    [block] = blocks("too-many-connections")
    assert block.clients == 50
    refused = failures("too-many-connections")
    assert {failure.code for failure in refused} == {1040}
    assert 0 < len(refused) < 50


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("wrong-query", "Unknown column 'j'"),
        ("unknown-engine", "Unknown storage engine 'misam'"),
        ("key-without-key", "without a primary key"),
    ],
)
def test_what_fails_is_reported_without_a_code_and_without_a_report(name: str, text: str) -> None:
    assert blocks(name) == []
    [failure] = failures(name)
    assert failure.code is None
    assert text in failure.text


def test_numbers_within_a_failed_statement_are_no_error_codes() -> None:
    said = "mysqlslap: Cannot run query SELECT 1213 - 1 FROM t2013 ERROR : Table 'a.t2013' doesn't exist"
    assert read_report([said]) == [Failure(None, said.removeprefix("mysqlslap: "))]


@pytest.mark.parametrize(
    ("line", "becomes"),
    [
        (1, "\tAverage number of seconds to run all queries: soon seconds"),
        (4, "\tNumber of clients: 2"),
        (5, "Segmentation fault"),
    ],
)
def test_a_line_that_cannot_be_read_is_named_with_its_number(line: int, becomes: str) -> None:
    text = lines("default")
    text[line] = becomes
    with pytest.raises(EngineError, match=rf"line {line + 1} "):
        read_report(text)


def test_a_report_that_is_cut_off_or_lacks_a_figure_is_refused() -> None:
    with pytest.raises(EngineError, match="cut off"):
        read_report(lines("default")[:4])
    with pytest.raises(EngineError, match="ends without max_s"):
        read_report([line for line in lines("default") if "Maximum" not in line])
