"""Which statements EXPLAIN is put in front of, by their fingerprints as the engine writes them."""

import pytest

from mydyno.queries.explainable import Explainable, explainable, without_locks
from mydyno.queries.fingerprints import Fingerprint
from mydyno.queries.records import Example


def asked(text: str, shape: str | None = None, *, is_cut: bool = False) -> Explainable | str:
    plain = without_locks(text)
    fingerprint = Fingerprint(id="0" * 16, text=shape or plain.lower(), is_cut=False, example=plain)
    return explainable(Example(text=text, bytes=len(text), is_cut=is_cut), fingerprint)


@pytest.mark.parametrize(
    "text",
    [
        "select a from t where b in (?+)",
        "(select a from t) union (select max(a) from u)",
        "with x as (select a from t) select count(*) from x",
        "select if (a, ?, ...), left (b, ?) from t join u using (id) where exists (select ?)",
        "select row_number() over (partition by a order by b) from t",
        "select cast(a as char(?)) from t use index (a)",
        "select ?;",
    ],
)
def test_a_statement_that_only_computes_is_explained(text: str) -> None:
    found = asked(text)
    assert isinstance(found, Explainable), found
    assert not found.changes


@pytest.mark.parametrize(
    "text",
    [
        "update t set a = ? where b = ?",
        "delete from t where a in (?+)",
        "insert into shop.t(a, b) select a, b from u",
        "replace into t select * from u",
        "insert into t(a) select a from u on duplicate key update a = values(a), b = b + values(b)",
    ],
)
def test_what_changes_rows_is_distinguished_and_names_its_words(text: str) -> None:
    found = asked(text)
    assert isinstance(found, Explainable), found
    assert found.changes
    assert "t" in found.words


def test_names_are_words_as_the_server_has_them() -> None:
    found = asked("update t set a = ? where b = (select x from `odd ``view`)")
    assert isinstance(found, Explainable), found
    assert "odd `view" in found.words


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("select sleep(?)", "it calls sleep()"),
        ("select shop.f(?)", "it calls f()"),
        ("select `select`(?)", "it calls select()"),
        ("select shop.abs(?)", "it calls abs()"),
        ("select get_lock(?, ...), benchmark(?, ...)", "it calls benchmark(), get_lock()"),
        ("select next value for s", "sequence"),
        ("select a from t into outfile ?", "writes its result"),
        ("select a into @x from t", "writes its result"),
        ("select a into x from t", "writes its result"),
        ("select a from t procedure analyse(?)", "procedure"),
        ("select ?; delete from t", "several statements"),
        ("insert into t values (?+)", "reads nothing"),
        ("select * from (values (?+)) v", "lists rows"),
        ("select * from (values (a)) v", "lists rows"),
        ("select * from (values row (?+)) v", "lists rows"),
        ("insert into t(a) values ((select ?))", "lists rows"),
        ("create table t (a int)", "EXPLAIN is for"),
        ("analyze select a from t", "EXPLAIN is for"),
        ("call p(?)", "EXPLAIN is for"),
        ("select a from (select a from t for update) x", "locks rows"),
        ("select /*+ max_execution_time(?) */ a from t", "its own time limit"),
        ("select /*+ set_var(sort_buffer_size = ?) */ a from t", "sets variables"),
        ("select /*!80000 a */ from t", "comment"),
        ("select /*M!100100 a */ from t", "comment"),
    ],
)
def test_whatever_may_do_something_is_refused_with_the_reason(text: str, why: str) -> None:
    found = asked(text)
    assert isinstance(found, str), found
    assert why in found


def test_half_a_statement_is_not_explained() -> None:
    assert asked("select a from t wh", is_cut=True) == "its example is truncated"


def test_a_masked_statement_is_not_explained() -> None:
    fingerprint = Fingerprint(id="0" * 16, text="select ?", is_cut=False, example="select '****'")
    found = explainable(Example(text="select 'geheim'", bytes=15), fingerprint)
    assert found == "its example has a secret in it, which is masked"


@pytest.mark.parametrize(
    "end", [" FOR UPDATE", "\nfor  update nowait;", " lock in share mode", " FOR SHARE SKIP LOCKED "]
)
def test_locks_at_the_end_are_left_out_since_the_plan_is_the_same(end: str) -> None:
    assert without_locks(f"select a from t{end}") == "select a from t"


def test_a_string_that_ends_like_a_lock_stays() -> None:
    text = "select a from t where b = ' for update'"
    assert without_locks(text) == text
