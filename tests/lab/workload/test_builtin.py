"""What the built-in workloads send, counted statement by statement against their originals.

The expected counts are those of sysbench 0.4 (source), 1.0.20 (counted on a server) and super-smack 1.3.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from typer.testing import CliRunner

from lab.workload.builders import sent
from mydyno.cli.main import app
from mydyno.core.document.problems import SpecErrors
from mydyno.core.errors import MydynoError
from mydyno.lab import spec, workload

READS = {"SELECT": 14}
WRITES = {"UPDATE": 2, "DELETE": 1, "INSERT": 1}
TRANSACTION = {"BEGIN": 1, "COMMIT": 1}

EVENTS: list[tuple[str, dict[str, Any], dict[str, int]]] = [
    ("oltp-point-select", {}, {"SELECT": 1}),
    ("oltp-read-only", {}, {**TRANSACTION, **READS}),
    ("oltp-read-only", {"skip_trx": True}, READS),
    ("oltp-read-only", {"range_selects": False}, {**TRANSACTION, "SELECT": 10}),
    ("oltp-read-write", {}, {**TRANSACTION, **READS, **WRITES}),
    ("oltp-read-write", {"tables": 7, "prepared": True}, {**TRANSACTION, **READS, **WRITES}),
    (
        "oltp-read-write",
        {"skip_trx": True, "delete_inserts": 3},
        {**READS, "UPDATE": 2, "DELETE": 3, "INSERT": 3},
    ),
    ("oltp-write-only", {}, {**TRANSACTION, **WRITES}),
    ("oltp-update-index", {}, {"UPDATE": 1}),
    ("oltp-update-index", {"index_updates": 4}, {"UPDATE": 4}),
    ("oltp-update-non-index", {}, {"UPDATE": 1}),
    ("oltp-delete", {}, {"DELETE": 1}),
    ("oltp-insert", {}, {"INSERT": 1}),
    ("oltp-insert", {"auto_inc": False}, {"INSERT": 1}),
    ("select-random-points", {}, {"SELECT": 1}),
    ("select-random-ranges", {}, {"SELECT": 1}),
    ("bulk-insert", {}, {"INSERT": 1}),
    ("oltp04", {}, {**TRANSACTION, **READS, "UPDATE": 3, "DELETE": 1, "INSERT": 1}),
    ("oltp04", {"variant": "18-requests"}, {**TRANSACTION, **READS, **WRITES}),
    ("oltp04", {"read_only": True}, {**TRANSACTION, **READS}),
    ("oltp04", {"read_only": True, "skip_trx": True}, READS),
    ("oltp04", {"storage_engine": "MyISAM", "read_only": True}, {"LOCK": 1, **READS, "UNLOCK": 1}),
    ("oltp04", {"mode": "simple"}, {"SELECT": 1}),
    ("oltp04", {"mode": "nontrx"}, {"SELECT": 1}),
    ("oltp04", {"mode": "nontrx", "nontrx": "update_key"}, {"UPDATE": 1}),
    ("oltp04", {"mode": "nontrx", "nontrx": "update_nokey"}, {"UPDATE": 1}),
    ("oltp04", {"mode": "nontrx", "nontrx": "insert"}, {"INSERT": 1}),
    ("oltp04", {"mode": "nontrx", "nontrx": "delete"}, {"DELETE": 1}),
    ("oltp-legacy", {}, {**TRANSACTION, **READS, **WRITES}),
    ("oltp-legacy", {"oltp_read_only": True, "oltp_skip_trx": True}, READS),
    ("oltp-legacy", {"oltp_write_only": True}, {**TRANSACTION, **WRITES}),
    ("oltp-legacy", {"script": "select"}, {"SELECT": 1}),
    ("oltp-legacy", {"script": "update_index"}, {"UPDATE": 1}),
    ("oltp-legacy", {"script": "insert"}, {"INSERT": 1}),
    ("oltp-legacy", {"script": "delete"}, {"DELETE": 1}),
    ("smack", {}, {"SELECT": 2}),
    ("smack", {"scenario": "update-select"}, {"SELECT": 1, "UPDATE": 1}),
    ("connect-storm", {}, {"SELECT": 1}),
    ("idle", {}, {"SELECT": 1}),
]


def resolve(name: str, **options: Any) -> workload.Resolved:
    return workload.read(name).resolve(options)


@pytest.mark.parametrize(("name", "options", "expected"), EVENTS, ids=[f"{n}-{o}" for n, o, _ in EVENTS])
def test_an_event_sends_the_statements_of_the_original(
    name: str, options: dict[str, Any], expected: dict[str, int]
) -> None:
    resolved = resolve(name, **options)
    [transaction] = resolved.program["transactions"]
    assert Counter(sent(transaction["steps"])) == expected
    assert resolved.statements_per_event == sum(expected.values())


def test_every_builtin_workload_is_counted() -> None:
    """The events of order-entry differ from each other: they have separate tests."""
    assert {name for name, _, _ in EVENTS} == set(workload.builtin_names()) - {"order-entry"}


@pytest.mark.parametrize("name", workload.builtin_names())
def test_a_builtin_workload_says_what_it_is_and_describes_its_options(name: str) -> None:
    read = workload.read(name)
    assert read.name == name
    assert len(read.about) > 40
    assert all(field.description for field in read.options.model_fields.values())


@pytest.mark.parametrize("name", workload.builtin_names())
def test_a_program_is_the_same_every_time_and_is_plain_json(name: str) -> None:
    one, other = (json.dumps(resolve(name).program) for _ in range(2))
    assert one == other
    assert json.loads(one) == resolve(name).program


@pytest.mark.parametrize("name", workload.builtin_names())
def test_a_workload_resolves_in_the_same_way_from_its_own_effective_options(name: str) -> None:
    resolved = resolve(name)
    assert workload.read(name).resolve(resolved.options) == resolved


def test_the_statements_of_a_transaction_come_in_the_order_of_the_original() -> None:
    [transaction] = resolve("oltp-read-write").program["transactions"]
    names = []
    for step in transaction["steps"]:
        [(kind, body)] = step.items()
        names += (
            [body["name"]]
            if kind == "send"
            else [body["steps"][0]["send"]["name"]]
            if kind == "repeat"
            else []
        )
    assert names == [
        "begin", "point_select", "simple_range", "sum_range", "order_range", "distinct_range", "index_update",
        "non_index_update", "delete", "insert", "commit",
    ]  # fmt: skip


def test_the_modern_scripts_share_one_dataset() -> None:
    names = ("oltp-point-select", "oltp-read-only", "oltp-read-write", "oltp-delete", "select-random-points")
    datasets = [resolve(name, table_size=500).dataset for name in names]
    assert all(dataset == datasets[0] for dataset in datasets)


def test_what_changes_the_rows_changes_the_dataset_and_nothing_else_does() -> None:
    plain = resolve("oltp-read-write").dataset
    for same in ({"range_size": 5}, {"prepared": True}, {"point_selects": 0}, {"skip_trx": True}):
        assert resolve("oltp-read-write", **same).dataset == plain
    for other in (
        {"tables": 2},
        {"table_size": 5},
        {"distribution": "uniform"},
        {"storage_engine": "myisam"},
    ):
        assert resolve("oltp-read-write", **other).dataset != plain


def test_sbtest_has_the_schema_of_sysbench() -> None:
    resolved = resolve("oltp-read-write", tables=2, table_size="1k")
    assert resolved.tables == ("sbtest1", "sbtest2")
    assert resolved.rows == 2000
    table = resolved.program["tables"][1]
    assert table["create"] == (
        "CREATE TABLE sbtest2 (id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER DEFAULT '0' NOT NULL, "
        "c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id)) ENGINE = innodb"
    )
    assert table["columns"] == ["id", "k", "c", "pad"]
    assert table["then"] == ["CREATE INDEX k_2 ON sbtest2 (k)"]
    values = resolved.program["values"]
    assert len(values["c"][1]) == 119
    assert len(values["pad"][1]) == 59


def test_a_row_of_sbtest_takes_about_as_much_as_measured() -> None:
    """A freshly loaded table of sysbench has about 240 bytes a row."""
    resolved = resolve("oltp-read-only", table_size=100_000)
    assert 220 < resolved.data_bytes / resolved.rows < 260


@pytest.mark.parametrize(
    ("distribution", "expression"),
    [
        ("special", ["special", 1, 10000, 12, 1, 75]),
        ("special-corrected", ["special-corrected", 1, 10000, 12, 1, 75]),
        ("uniform", ["uniform", 1, 10000]),
        ("gaussian", ["gaussian", 1, 10000, 12]),
        ("pareto", ["pareto", 1, 10000, 0.2]),
        ("zipfian", ["zipfian", 1, 10000, 0.8]),
    ],
)
def test_every_distribution_has_the_parameters_of_sysbench(distribution: str, expression: list[Any]) -> None:
    assert resolve("oltp-read-only", distribution=distribution).program["values"]["id"] == expression


def test_the_second_update_of_0_4_is_on_the_row_that_is_then_deleted() -> None:
    [transaction] = resolve("oltp04").program["transactions"]
    statements = {step["send"]["name"]: step["send"] for step in transaction["steps"] if "send" in step}
    row = {"value": ["var", "row_id"]}
    assert row in statements["second_index_update"]["sql"]
    assert row in statements["delete"]["sql"]
    assert row in statements["insert"]["sql"]


def test_the_rows_of_0_4_are_alike_but_for_their_id() -> None:
    [table] = resolve("oltp04").program["tables"]
    identity, k, c, pad = table["row"]
    assert (identity, k, c, len(pad)) == (["row"], 0, " ", 50)
    assert "KEY k (k)" in table["create"], "its index is there before the rows"


def test_inserting_without_auto_increment_starts_with_an_empty_table() -> None:
    assert resolve("oltp-insert", auto_inc=False).rows == 0
    assert resolve("oltp-insert").rows == 10_000
    assert resolve("oltp04", mode="nontrx", nontrx="insert").rows == 0


def test_super_smack_asks_for_every_120th_of_its_stock_names() -> None:
    dictionary = resolve("smack").program["dictionaries"]["users"]["column"]
    assert dictionary == {"table": "http_auth", "column": "username", "every": 120}
    assert resolve("smack", rows=100).program["dictionaries"]["users"]["column"]["every"] == 1


def test_lists_of_values_are_as_long_as_configured() -> None:
    [transaction] = resolve("select-random-points", random_points=3).program["transactions"]
    parts = transaction["steps"][0]["send"]["sql"]
    assert [part for part in parts if isinstance(part, dict)] == [{"value": ["draw", "k"]}] * 3
    [transaction] = resolve("select-random-ranges", number_of_ranges=2).program["transactions"]
    low, high = {"value": ["draw", "k"]}, {"value": ["+", ["var", "k"], 5]}
    parts = transaction["steps"][0]["send"]["sql"]
    assert parts == [
        "SELECT count(k) FROM sbtest1 WHERE k BETWEEN ", low, " AND ", high,
        " OR k BETWEEN ", low, " AND ", high,
    ]  # fmt: skip


def test_connections_are_held_as_the_workload_says() -> None:
    assert resolve("connect-storm").program["open"] == "event"
    assert resolve("idle").program["open"] == "phase"
    assert resolve("oltp04", reconnect="transaction").program["open"] == "event"
    assert resolve("oltp-read-write").program["retry"] == [1213, 1020, 1205]


def test_options_that_leave_nothing_to_send_are_refused() -> None:
    nothing = {"skip_trx": True, "range_selects": False, "point_selects": 0}
    with pytest.raises(SpecErrors, match="transaction has no statement left with these options"):
        resolve("oltp-read-only", **nothing)


def test_a_workload_by_the_name_of_sysbench_means_its_reads_and_writes() -> None:
    for ask in (
        lambda: workload.read("oltp"),
        lambda: spec.loads("experiment: x\nworkload: {oltp: {}, connections: 1}\n", "x.yaml", None),
        lambda: named(CliRunner(), "oltp"),
    ):
        with pytest.raises(MydynoError, match=r"did you mean 'oltp-read-write'\?"):
            ask()


def named(runner: CliRunner, name: str) -> None:
    """`mydyno load NAME`; its error is raised."""
    done = runner.invoke(app, ["load", name, "--socket", "/nowhere"])
    assert done.exception is not None
    raise done.exception
