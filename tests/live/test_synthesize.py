"""`mydyno synthesize` on a real server: what ran is in the trace, with values that the columns have."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from live.mydyno_process import Workplace
from live.test_performance_schema import SUMMARY, run
from live.test_replay import options_of
from mydyno.core.synthetic import SAYS
from mydyno.lab.stack import RunningServer

pytestmark = pytest.mark.live

SERVER_CONFIG = {"performance_schema": True}
UNKNOWN = 2**64 - 1
READ = 1
SELECT = "select id, note from orders where customer = ?"
UPDATE = "update orders set note = ? where id = ?"


@pytest.fixture
def shop(server: RunningServer) -> RunningServer:
    """Counts 30 reads, 10 updates and one statement that cannot be put together, all in the schema shop."""
    rows = ", ".join(f"({number}, {number * 7}, 'note {number}')" for number in range(1, 41))
    run(
        server,
        "DROP DATABASE IF EXISTS shop",
        "CREATE DATABASE shop",
        "CREATE TABLE shop.orders (id INT PRIMARY KEY, customer INT, note VARCHAR(20))",
        f"INSERT INTO shop.orders VALUES {rows}",
        f"TRUNCATE TABLE {SUMMARY}",
    )
    run(
        server,
        *(f"SELECT id, note FROM orders WHERE customer = {number}" for number in range(30)),
        *(f"UPDATE orders SET note = 'changed' WHERE id = {number}" for number in range(10)),
        "REPLACE INTO orders VALUES (99, 1, 'x')",
        database="shop",
    )
    return server


@pytest.mark.parametrize("source", ["performance_schema", "digest"])
def test_what_ran_is_put_together_again_and_replayed_as_a_synthetic_trace(
    shop: RunningServer, workplace: Workplace, source: str
) -> None:
    login = options_of(shop, workplace.folder)
    trace, results = workplace.folder / "made.trace", workplace.folder / "results"
    given: tuple[str, ...] = ()
    if source == "digest":
        digest = workplace.run("digest", *login, "--json")
        assert digest.returncode == 0, digest.stderr
        saved = workplace.folder / "digest.json"
        saved.write_text(digest.stdout)
        given = ("--digest", str(saved))
    length = ("--for", "4s", "--rate", "50", "--connections", "3", "--seed", "1")
    made = workplace.run("synthesize", *login, *given, *length, "--out", str(trace))
    assert made.returncode == 0, made.stderr
    assert "REPLACE deletes rows" in made.stdout

    shown = json.loads(workplace.run("trace", "show", str(trace), "--json").stdout)
    assert shown["header"]["source"] == "synthetic"
    of = {each["fingerprint"]: each["statements"] for each in shown["top"]}
    assert of.keys() == {SELECT, UPDATE}
    assert of[SELECT] > of[UPDATE] > 0
    assert [each["name"] for each in shown["schemas"]] == ["shop"]
    assert shown["footer"]["connections"] == 3

    replay = ("replay", str(trace), *login, "--all-statements", "--speed", "max")
    done = workplace.run(*replay, "--json", "--out", str(results))
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["source"] == "synthetic"
    assert figures["replayed"] == figures["statements"] == shown["footer"]["statements"]
    assert (figures["errors"], figures["rows_compared"], figures["rows_differ"]) == ({}, 0, 0)
    _has_values_of_the_columns(results)

    text = workplace.run(*replay).stdout
    assert text.startswith("synthetic trace on ")
    assert SAYS in text
    assert "row counts" not in text


def _has_values_of_the_columns(results: Path) -> None:
    records = np.load(results / "statements.npy")
    assert (records["trace_rows"] == UNKNOWN).all()
    assert (records["error"] == 0).all()
    # Each customer has an order: a value from anywhere else would find none.
    assert (records["rows"][records["class"] == READ] == 1).all()
