"""Expressions, SQL and steps: what is written, and what the engine gets."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.workload.builders import complaints, expression, program, sql, steps
from mydyno.lab import workload
from mydyno.lab.workload.functions import FUNCTIONS

GOOD = Path(__file__).parent / "good"
VALUE = {"value": ["draw", "id"]}
BEGIN, COMMIT = ({"send": {"name": word.lower(), "sql": [word]}} for word in ("BEGIN", "COMMIT"))
READ = {"into": ["a", "b"], "row": "middle", "empty": "keep"}
MORE = """\
options: {rows: {default: 10}, way: {default: zipfian}}
dictionaries: {word: [a, b]}
values: {id: 'uniform(1, rows)'}
"""


@pytest.mark.parametrize("file", sorted(GOOD.glob("*.yaml")), ids=lambda file: file.stem)
def test_a_good_file_is_accepted(file: Path) -> None:
    resolved = workload.read(file).resolve({})
    assert resolved.name == file.stem
    assert resolved.statements_per_event > 0


def test_every_function_is_used_by_a_good_file() -> None:
    text = (GOOD / "every-key.yaml").read_text("utf-8") + "last(id)"
    assert [name for name in FUNCTIONS if f"{name}(" not in text] == []


@pytest.mark.parametrize(
    ("written", "compiled"),
    [
        ("5", 5),
        ("-5 + 2 * 3", 1),
        ("7 // 2", 3),
        ("-7 // 2", -4),
        ("7 / 2", 3.5),
        ("7 % 0", None),
        ("'a'", "a"),
        ("rows * 2", 20),
        ("rows if rows > 5 else 0", 10),
        ("rows > 5 and not way == 'uniform'", 1),
        ("way in ('uniform', 'zipfian')", 1),
        ("way not in ('uniform', 'zipfian')", 0),
        ("1 < rows <= 10", 1),
        ("true + false", 1),
        ("null", None),
        ("min(rows, 3) + max(rows, 3)", 13),
        ("concat('a', rows, null, 1.5)", "a101.5"),
        ("times(3, 'ab')", "ababab"),
        ("pad(rows, 4)", "0010"),
        ("substring('abcdef', 2, 3)", "cde"),
        ("id", ["draw", "id"]),
        ("id - 1", ["-", ["draw", "id"], 1]),
        ("-id", ["-", 0, ["draw", "id"]]),
        ("id > 3", ["<", 3, ["draw", "id"]]),
        ("id >= 3", ["<=", 3, ["draw", "id"]]),
        ("id if id < 3 else null", ["if", ["<", ["draw", "id"], 3], ["draw", "id"], None]),
        ("rows < 5 and id < 3", 0),
        ("draw(way, 1, rows)", ["zipfian", 1, 10, 0.8]),
        ("draw('special', 1, rows, share=50)", ["special", 1, 10, 12, 1, 50]),
        ("zipfian(1, rows, exponent=2)", ["zipfian", 1, 10, 2]),
        ("letters(1, 2)", ["letters", 1, 2, "abcdefghijklmnopqrstuvwxyz"]),
        ("pick(word)", ["pick", "word"]),
        ("pick('word')", ["pick", "word"]),
        ("word(word, id)", ["word", "word", ["draw", "id"]]),
        ("counter(orders)", ["counter", "orders", 1, 1, 1, 1]),
        ("counter(orders, copies=3, copy=connection)", ["counter", "orders", 1, 1, 3, ["connection"]]),
        ("last(id)", ["var", "id"]),
        ("connection + event", ["+", ["connection"], ["event"]]),
        ("list(3, id, '-')", ["list", 3, ["draw", "id"], "-"]),
        ("(\n  1 +\n  2)", 3),
    ],
)
def test_an_expression_is_worked_out_as_far_as_it_can_be(written: str, compiled: Any) -> None:
    assert expression(written, MORE) == compiled


@given(
    st.text(max_size=30)
    | st.lists(st.sampled_from(["abc", "12+-*/%()'\",.<>=if", "not", "in"])).map(" ".join)
)
def test_no_text_makes_the_compiler_of_expressions_fail_in_an_unforeseen_way(written: str) -> None:
    document = program_with_value(written)
    with contextlib.suppress(workload.SpecErrors):
        workload.reads(document, "test.yaml")


def program_with_value(written: str) -> str:
    return f"workload: test\nvalues: {{id: {json.dumps(written)}}}\ntransactions: {{event: [SELECT 1]}}\n"


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ("SELECT 1", ["SELECT 1"]),
        ("SELECT 1;", ["SELECT 1"]),
        ("SELECT :id, :id", ["SELECT ", VALUE, ", ", VALUE]),
        ("SELECT :(id + 1)", ["SELECT ", {"value": ["+", ["draw", "id"], 1]}]),
        ("SELECT :(max(id, (2)))", ["SELECT ", {"value": ["max", ["draw", "id"], 2]}]),
        (
            "SELECT ':id', \":id\", 'it''s :id', 'a\\' :id'",
            ["SELECT ':id', \":id\", 'it''s :id', 'a\\' :id'"],
        ),
        ("SELECT id::int, @a:=5, a:id", ["SELECT id::int, @a:=5, a:id"]),
        ("SELECT {1 + 2}, {'a'}, {null}", ["SELECT 3, a, NULL"]),
        ("SELECT '{1 + 2}', {{, }}", ["SELECT '{1 + 2}', {, }"]),
        ("SELECT {raw(id)}", ["SELECT ", {"raw": ["draw", "id"]}]),
        ("SELECT {repeat(2, ':id')}", ["SELECT ", VALUE, ", ", VALUE]),
        (
            "SELECT {repeat(2, 'a{number} = :id', between=' OR ')}",
            ["SELECT a1 = ", VALUE, " OR a2 = ", VALUE],
        ),
        ("SELECT `{1}:x`", ["SELECT `1:x`"]),
        ("SELECT {repeat(0, ':id')}", ["SELECT "]),
        ("SELECT 1 -- it's :nothing", ["SELECT 1 -- it's :nothing"]),
        ("SELECT /* :nothing ' */ 1", ["SELECT /* :nothing ' */ 1"]),
        ("SELECT /*! {1} */ 1", ["SELECT /*! 1 */ 1"]),
    ],
)
def test_sql_is_cut_into_text_and_values(written: str, parts: list[Any]) -> None:
    assert sql(written) == parts


def test_a_name_is_a_draw_until_it_is_bound() -> None:
    first, bound, second = steps("[SELECT :id, {let: {id: id}}, SELECT :id]", MORE)
    assert first["send"]["sql"][1] == {"value": ["draw", "id"]}
    assert bound == {"let": ["id", ["draw", "id"]]}
    assert second["send"]["sql"][1] == {"value": ["var", "id"]}


def test_what_goes_round_a_step_does_so_from_outside_to_inside() -> None:
    tables = "tables: {t: {copies: 2, create: 'CREATE TABLE {t} (id INT)'}}\nvalues: {coin: 'uniform(0, 1)'}"
    [step] = steps(
        "[{let: {x: i}, repeat: 3, index: i, choose: t, when: coin, look: 'SELECT :x FROM {t}'}]", tables
    )
    inside = {
        "name": "look",
        "sql": ["SELECT ", {"value": ["var", "x"]}, " FROM t", {"copy": True}],
        "copies": 2,
    }
    repeat = {"times": 3, "index": "i", "steps": [{"let": ["x", ["var", "i"]]}, {"send": inside}]}
    assert step == {
        "when": {
            "if": ["draw", "coin"],
            "steps": [{"let": ["copy", ["uniform", 1, 2]]}, {"repeat": repeat}],
        }
    }


def test_a_single_copy_needs_no_choice_at_run_time() -> None:
    tables = "tables: {t: {copies: 1, create: 'CREATE TABLE {t} (id INT)'}}"
    [step] = steps("[{choose: t, look: 'SELECT {copy} FROM {t}'}]", tables)
    assert step == {"send": {"name": "look", "sql": ["SELECT 1 FROM t1"]}}


@pytest.mark.parametrize(
    ("written", "compiled"),
    [
        ("[{pause: 5ms}]", [{"pause_s": 0.005}]),
        ("[{pause: 'exponential(0.5)'}]", [{"pause_s": ["exponential", 0.5]}]),
        ("[{reconnect: true}]", [{"reconnect": True}]),
        ("[BEGIN, {end: failed}]", [BEGIN, {"end": "failed"}]),
        ("[{repeat: 1, steps: [BEGIN]}]", [BEGIN]),
        ("[{repeat: 0, steps: [BEGIN]}, COMMIT]", [COMMIT]),
        ("[{when: 0, steps: [BEGIN], else: [COMMIT]}]", [COMMIT]),
        ("[{mix: [{weight: 2, steps: [BEGIN]}, {weight: 0, steps: [COMMIT]}]}]", [BEGIN]),
        (
            "[{look: SELECT 1, read: [a, b], row: middle, empty: keep}]",
            [{"send": {"name": "look", "sql": ["SELECT 1"], "read": READ}}],
        ),
        (
            "[{look: SELECT 1, expect_error: 1062}]",
            [{"send": {"name": "look", "sql": ["SELECT 1"], "expect_error": 1062}}],
        ),
    ],
)
def test_steps_become_those_of_the_engine(written: str, compiled: list[Any]) -> None:
    assert steps(written) == compiled


def test_a_name_is_known_behind_a_fork_when_every_way_that_comes_there_binds_it() -> None:
    coin = "values: {coin: 'uniform(0, 1)'}"
    both = "[{when: coin, let: {x: 1}, else: [{let: {x: 2}}]}, SELECT :x]"
    assert len(steps(both, coin)) == 2
    ends = "[{when: coin, let: {x: 1}, else: [{end: failed}]}, SELECT :x]"
    assert len(steps(ends, coin)) == 2
    repeated = "[{repeat: 3, let: {x: 1}, steps: [SELECT 1]}, SELECT :x]"
    assert len(steps(repeated, coin)) == 2
    perhaps = "[{repeat: coin, let: {x: 1}, steps: [SELECT 1]}, SELECT :x]"
    assert "bound on some ways" in complaints(f"{coin}\ntransactions: {{event: {perhaps}}}\n")[0]


def test_a_branch_that_is_not_taken_is_checked_all_the_same() -> None:
    text = "transactions: {event: [{when: 1, steps: [SELECT 1], else: ['SELECT :x']}]}\n"
    assert complaints(text) == ["2:69: unknown name 'x'"]


@pytest.mark.parametrize(
    ("event", "mean"),
    [
        ("[{repeat: 'uniform(5, 15)', steps: [SELECT 1]}]", 10),
        ("[{when: 'uniform(1, 100) <= 60', steps: [SELECT 1, SELECT 2], else: [SELECT 3]}]", 1.6),
        ("[{let: {n: 'uniform(0, 4)'}}, {repeat: n, steps: [SELECT 1]}]", 2),
        ("[{when: 'uniform(1, 4) == 1', look: SELECT 1}]", 0.25),
        ("[{mix: [{weight: 3, steps: [SELECT 1]}, {weight: 1, steps: [SELECT 1, SELECT 2]}]}]", 1.25),
    ],
)
def test_the_mean_number_of_statements_is_worked_out_from_the_draws(event: str, mean: float) -> None:
    read = workload.reads(f"workload: test\ntransactions: {{event: {event}}}\n", "test.yaml")
    assert read.resolve({}).statements_per_event == pytest.approx(mean)


def test_transactions_count_by_their_weights() -> None:
    three = "[BEGIN, SELECT 1, COMMIT]"
    text = f"transactions: {{one: {{weight: 3, steps: [SELECT 1]}}, two: {{weight: 1, steps: {three}}}}}\n"
    read = workload.reads(f"workload: test\n{text}", "test.yaml")
    assert read.resolve({}).statements_per_event == pytest.approx(1.5)


def test_words_of_a_dictionary_come_from_the_file_next_to_the_workload(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("one\n\ntwo\n")
    text = (
        "workload: test\ndictionaries: {w: {file: words.txt}}\ntransactions: {event: ['SELECT :(pick(w))']}\n"
    )
    (tmp_path / "test.yaml").write_text(text)
    resolved = workload.read(tmp_path / "test.yaml").resolve({})
    assert resolved.program["dictionaries"] == {"w": {"words": ["one", "two"]}}


def test_only_values_and_dictionaries_that_something_uses_reach_the_engine() -> None:
    values = "dictionaries: {w: [a], v: [b]}\nvalues: {x: pick(w), y: pick(v), z: x}\n"
    compiled = program(f"{values}transactions: {{event: ['SELECT :z']}}\n")
    assert compiled["values"] == {"x": ["pick", "w"], "z": ["draw", "x"]}
    assert list(compiled["dictionaries"]) == ["w"]


def test_what_a_file_says_replaces_what_it_extends() -> None:
    text = "extends: oltp-read-only\noptions: {table_size: {default: 7}}\nvalues: {c: \"'x'\"}\n"
    compiled = program(text)
    assert compiled["tables"][0]["rows"] == 7
    assert compiled["values"]["c"] == "x"
    assert len(compiled["transactions"][0]["steps"]) > 5
