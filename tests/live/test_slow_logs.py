"""Slow logs that real servers write, of every release and in every verbosity, are digested whole.

What was run is known (`slow_statements`), and a few lines of regular expressions read the totals again.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pytest

from live import slow_statements
from live.conftest import Start
from live.slow_statements import APP, PASSWORD, REPORTER, Truth
from mydyno.lab.stack import RunningServer
from mydyno.queries.log import read_logs
from mydyno.queries.records import Digest, Group

pytestmark = pytest.mark.live

ROUNDS = 3
_FIGURES = re.compile(
    rb"^# Query_time: ([\d.]+)\s+Lock_time: ([\d.]+)\s+Rows_sent: (\d+)\s+Rows_examined: (\d+)", re.MULTILINE
)

VARIATIONS: dict[str, tuple[dict[str, str], ...]] = {
    "mysql-5.6": ({},),
    "mysql-9.7": (
        {"log_slow_extra": "OFF", "log_timestamps": "UTC"},
        {"log_slow_extra": "ON", "log_timestamps": "SYSTEM"},
    ),
    "mariadb-10.5": ({"log_slow_verbosity": ""}, {"log_slow_verbosity": "innodb,query_plan,explain"}),
    "mariadb-10.11": ({"log_slow_verbosity": ""}, {"log_slow_verbosity": "full"}),
    "mariadb-11.8": ({"log_slow_verbosity": ""}, {"log_slow_verbosity": "full"}),
}


@dataclass
class Logged:
    path: Path
    truth: Truth
    settings: dict[str, str]

    @property
    def bytes(self) -> bytes:
        return self.path.read_bytes()


@pytest.fixture(params=VARIATIONS)
def logs(
    request: pytest.FixtureRequest, start_release: Callable[[str], Start], tmp_path: Path
) -> list[Logged]:
    """A log for each variation of one release, written by it a moment ago."""
    server = start_release(request.param)({"slow_query_log": "OFF", "log_slow_admin_statements": "ON"})
    slow_statements.prepare(server)
    return [_written(server, each, tmp_path / f"{n}.log") for n, each in enumerate(VARIATIONS[request.param])]


def _written(server: RunningServer, settings: dict[str, str], kept: Path) -> Logged:
    always = {"log_queries_not_using_indexes": "ON", "long_query_time": "0", "slow_query_log": "ON"}
    slow_statements.set_globals(server, settings | always)
    truth = slow_statements.run_everything(server, ROUNDS)
    slow_statements.set_globals(server, {"slow_query_log": "OFF"})
    path = slow_statements.logged(server)
    path.rename(kept)
    return Logged(kept, truth, settings)


def groups_of(digest: Digest, mark: str) -> list[Group]:
    """Examples show the statement as it was sent; only one kind of statement has the mark in it."""
    return [group for group in digest.groups if group.example is not None and mark in group.example.text]


def test_every_statement_is_found_as_often_as_it_was_run(logs: list[Logged], tmp_path: Path) -> None:
    for log in logs:
        digest = read_logs([str(log.path)])
        _check_totals(digest, log)
        _check_compressed(digest, log, tmp_path / "slow.log.gz")
        assert [problem for problem in digest.problems if problem.kind != "not-utf8"] == []
        for mark, count in log.truth.counts.items():
            groups = groups_of(digest, mark)
            assert sum(group.count for group in groups) == count, (log.settings, mark)
            users = {name for group in groups for name, _ in group.users}
            assert users == log.truth.users[mark], (log.settings, mark)
            databases = {name for group in groups for name, _ in group.databases}
            assert databases == log.truth.databases[mark], (log.settings, mark)
        for mark, sent in log.truth.sent.items():
            result = sum(group.measures["rows_sent"].sum for group in groups_of(digest, mark))
            assert result == sent, (log.settings, mark)
        for mark in ONE_GROUP:
            assert len(groups_of(digest, mark)) == 1, (log.settings, mark)
        (slept,) = groups_of(digest, "slept")
        assert (slept.measures["query_time"].min or 0) >= 20_000


ONE_GROUP = (
    "by_key",
    "scanned",
    "in_list",
    "many_lines",
    "commented",
    "looks_alike",
    "raw",
    "grouped",
    "nested",
)
"""Kinds of statements that differ in literals, lists and comments only from run to run."""


def _check_totals(digest: Digest, log: Logged) -> None:
    entries = _FIGURES.findall(log.bytes)
    assert digest.total.count == len(entries) > sum(log.truth.counts.values())
    measures = digest.total.measures
    assert measures["query_time"].sum == sum(Decimal(each[0].decode()) for each in entries) * 1_000_000
    assert measures["lock_time"].sum == sum(Decimal(each[1].decode()) for each in entries) * 1_000_000
    assert measures["rows_sent"].sum == sum(int(each[2]) for each in entries)
    assert measures["rows_examined"].sum == sum(int(each[3]) for each in entries)
    assert sum(group.count for group in digest.groups) == digest.total.count
    (source,) = digest.sources
    assert source.bytes == len(log.bytes)
    assert source.server is not None
    assert {APP, REPORTER} <= {name for name, _ in digest.total.users}
    assert PASSWORD not in digest.model_dump_json()
    if "full" in log.settings.values() or log.settings.get("log_slow_extra") == "ON":
        assert len(measures) + len(digest.total.flags) > 6, "more figures than the four that are always there"


def _check_compressed(digest: Digest, log: Logged, squeezed: Path) -> None:
    squeezed.write_bytes(gzip.compress(log.bytes))
    again = read_logs([str(squeezed)])
    assert again.total == digest.total
    assert [(each.id, each.count) for each in again.groups] == [
        (each.id, each.count) for each in digest.groups
    ]
