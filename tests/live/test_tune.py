"""`mydyno tune` on private servers: killed and continued, with values that no server takes.

What is better is the machine's to say, so nothing here waits for it or depends on it: the first heat always
runs, and a search without an end of its own ends when every point of its space was tried.
"""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from live.mydyno_process import Workplace, wait_for_line
from live.releases import release
from mydyno.core.errors import ExitCode
from mydyno.lab.results.store import Lab
from mydyno.tune.history import Began, Event, Heat, HeatEnd, Round
from mydyno.tune.journal import Journal
from mydyno.tune.page import page
from mydyno.tune.result import from_json

pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]

SEARCH = """
experiment: small-search
setup:
  server: {config: {max_connections: 40, innodb_buffer_pool_size: 32M, innodb_log_file_size: 8M}}
workload:
  oltp-point-select: {tables: 1, table_size: 500}
  connections: 2
  think: 5ms
  each: {warmup: 100ms, measure: 300ms}
search:
  space:
    server.config.innodb_flush_method: [fsync, nonsense]
    server.config.table_open_cache: [200, 400]
  sampler: random
  candidates: 2
  repeats: 1
  confirm: 3
"""
"""Four points; a server takes two of them."""


REDO_IS = "has no innodb_redo_log_capacity: innodb_redo_log_capacity = 8M: innodb_log_file_size = 8M here"
"""MariaDB, of a variable of MySQL."""


def write(workplace: Workplace, text: str = SEARCH) -> str:
    file = workplace.folder / "search.yaml"
    file.write_text(text)
    return str(file)


def events(workplace: Workplace) -> list[Event]:
    [folder] = (workplace.lab / "searches").glob("*-*")
    return Journal(workplace.lab, folder.name).events


def report(workplace: Workplace) -> Path:
    [folder] = (workplace.lab / "searches").glob("*-*")
    return folder / "report"


def heats_of(found: list[Event]) -> list[Heat]:
    return [each for each in found if isinstance(each, Heat)]


def attempts(workplace: Workplace) -> dict[tuple[str, str], int]:
    """Run and trial -> how often the lab has it."""
    with Lab.open(workplace.lab, write=False) as lab:
        return {(run.folder.name, each.trial_id): each.attempt for run in lab.runs() for each in run.trials()}


def test_a_killed_search_goes_on_without_repeating_what_was_measured(workplace: Workplace) -> None:
    file = write(workplace)
    process = workplace.start("tune", file, "--trials", "100", "--no-confirm")
    wait_for_line(process, "heat 1, round 1:", 300.0)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    workplace.wait_until_no_process_is_left(60.0)
    assert [type(each) for each in events(workplace)] == [Began, Heat]
    [begun] = heats_of(events(workplace))

    done = workplace.run("tune", file, "--trials", "100", "--no-confirm")
    assert done.returncode == 0, done.stderr
    assert f"continuing: {len(begun.candidates)} trials in 1 heat" in done.stdout
    assert "the space has no point that was not tried" in done.stdout
    found = events(workplace)
    assert heats_of(found)[0] == begun
    rounds = [(each.heat, each.round) for each in found if isinstance(each, Round)]
    assert len(set(rounds)) == len(rounds)
    assert [each.number for each in found if isinstance(each, HeatEnd)] == [
        each.number for each in heats_of(found)
    ]
    numbers = [each.number for heat in heats_of(found) for each in heat.candidates]
    assert numbers == list(range(1, len(numbers) + 1))
    kept = from_json((report(workplace) / "search.json").read_bytes())
    assert page(kept) == (report(workplace) / "report.html").read_text(), "mydyno serve shows the same"
    assert not (report(workplace) / "best.cnf").exists()

    # Values that no server takes are failed trials, and the search went on after them.
    refused = [
        each.number
        for heat in heats_of(found)
        for each in heat.candidates
        if each.settings.get("server.config.innodb_flush_method") == "nonsense"
    ]
    assert len(refused) == 2
    failures = {
        result.number: result.failure
        for each in found
        if isinstance(each, Round)
        for result in each.results
        if result.failure
    }
    assert set(refused) <= set(failures)
    assert all("innodb_flush_method" in str(failures[number]) for number in refused)

    # All rounds were measured on one dataset, each under other statements.
    assert len(list((workplace.lab / "cache" / "datasets").iterdir())) == 1
    names = {each.run for each in found if isinstance(each, Round) and each.run}
    with Lab.open(workplace.lab, write=False) as lab:
        seeds = {run.experiment.seed for run in lab.runs() if run.folder.name in names}
    assert len(seeds) == len(names)

    # A third start has nothing left to do.
    before = attempts(workplace)
    again = workplace.run("tune", file, "--trials", "100", "--no-confirm")
    assert again.returncode == 0, again.stderr
    assert attempts(workplace) == before
    assert events(workplace) == found


def test_a_budget_that_is_smaller_than_the_references_is_refused(workplace: Workplace) -> None:
    text = SEARCH.replace("  space:", "  preset: innodb-write\n  space:")
    done = workplace.run("tune", write(workplace, text), "--trials", "1")
    assert done.returncode == ExitCode.USAGE
    assert "--trials 1 is smaller than what comes before the search" in done.stderr
    assert "a screening of" in done.stderr
    unending = workplace.run("tune", write(workplace))
    assert unending.returncode == ExitCode.USAGE
    assert "a search needs an end" in unending.stderr


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (SEARCH.replace("table_open_cache:", "table_open_cash:"), "table_open_cash: this server has no such"),
        (SEARCH.replace("table_open_cache: [200, 400]", "innodb_redo_log_capacity: [8M, 16M]"), REDO_IS),
        (SEARCH.replace("search:", "factors: {server.config.back_log: [50, 80]}\nsearch:"), "has factors"),
        (SEARCH.partition("search:")[0], "has no `search`"),
    ],
    ids=["unknown-variable", "name-of-another-release", "factors", "no-search"],
)
def test_what_cannot_be_searched_is_refused_before_anything_starts(
    workplace: Workplace, text: str, says: str
) -> None:
    done = workplace.run("tune", write(workplace, text), "--trials", "20")
    assert done.returncode == ExitCode.USAGE
    assert says in done.stderr
    assert not (workplace.lab / "searches").exists() or not list(
        (workplace.lab / "searches").glob("*/*.jsonl")
    )


@pytest.mark.slow
def test_a_large_space_is_screened_before_it_is_searched(workplace: Workplace) -> None:
    """The proposed space, of eleven or twelve settings: after it has been screened, some of them stay as the
    leader has them."""
    space = SEARCH.partition("  space:\n")[2].partition("  sampler:")[0]
    text = SEARCH.replace("  space:\n" + space, "  preset: innodb-write\n")
    text = text.replace("search:", "search:\n  constraints: {memory: 1G}")
    done = workplace.run("tune", write(workplace, text), "--trials", "24", "--no-confirm")
    assert done.returncode == 0, done.stderr
    found = events(workplace)
    heats = heats_of(found)
    candidates = {each.number: each for heat in heats for each in heat.candidates}
    assert [heat.number for heat in heats] == list(range(1, len(heats) + 1))
    screened = [heat for heat in heats if heat.screening]
    assert [heat.number for heat in screened] == list(range(2, 2 + len(screened)))
    ends = {each.number: each for each in found if isinstance(each, HeatEnd)}
    dropped = ends[screened[-1].number].dropped
    assert len(dropped) >= 4
    assert len(candidates) == 24
    drawn = 0
    for heat in heats[1 + len(screened) :]:
        own = [each.point for each in heat.candidates if each.origin == "random"]
        own += [candidates[heat.leader].point] if heat.leader else []
        drawn += len(own)
        for path in dropped:
            assert len({point[path] for point in own}) <= 1, path
    assert drawn > 1


@pytest.mark.slow
def test_references_start_on_a_server_that_chooses_pool_size_and_flush_method(workplace: Workplace) -> None:
    release("mysql-9.7")
    text = SEARCH.replace("server: {config: {", "server: {release: mysql-9.7, config: {")
    text = text.replace(", innodb_log_file_size: 8M", "")
    text = text.replace("[fsync, nonsense]", "[fsync, O_DIRECT]")
    text = text.replace("table_open_cache: [200, 400]", "innodb_buffer_pool_size: {range: [32M, 300M]}")
    done = workplace.run("tune", write(workplace, text), "--trials", "4", "--no-confirm")
    assert done.returncode == 0, done.stderr
    found = events(workplace)
    assert {result.failure for each in found if isinstance(each, Round) for result in each.results} == {None}
    by_origin = {each.origin: each for heat in heats_of(found) for each in heat.candidates}
    assert by_origin["pool only"].settings["server.config"] == {"innodb_buffer_pool_size": "256M"}
    assert by_origin["tuning sheet"].settings["server.config"]["innodb_redo_log_capacity"] == "1G"
    method = "server.config.innodb_flush_method"
    assert by_origin["pool only"].point[method] == "O_DIRECT", "what the server runs with, not what it lists"


@pytest.mark.slow
def test_the_winner_is_confirmed_or_nothing_is_claimed(workplace: Workplace) -> None:
    """A pool that holds all data against one that holds a tenth: it is found on any machine that is not
    busier with others than with this. Whatever it is, files and words agree."""
    text = SEARCH.replace("innodb_buffer_pool_size: 32M", "innodb_buffer_pool_size: 6M")
    text = text.replace("table_size: 500", "table_size: 60k, distribution: uniform")
    text = text.replace("innodb_flush_method: [fsync, nonsense]", "innodb_buffer_pool_size: [6M, 64M]")
    text = text.replace("sampler: random", "constraints: {recovery: 1h}")
    done = workplace.run("tune", write(workplace, text), "--trials", "6")
    assert done.returncode == 0, done.stderr
    best = report(workplace) / "best.cnf"
    if best.exists():
        advice: dict[str, Any] = json.loads((report(workplace) / "advice.json").read_text())
        settings = best.read_text().partition("[mysqld]\n")[2].splitlines()
        assert len(settings) == len(advice["findings"]) > 0
        assert "s after kill -9 under load" in done.stdout
    else:
        assert "nothing was found that holds: no best.cnf was written" in done.stdout
