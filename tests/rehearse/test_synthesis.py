"""Statements drawn from digests, with values of columns."""

from collections.abc import Sequence

import pytest

from mydyno.core.errors import UsageError
from mydyno.queries.records import Digest, Example, Figures, Group, Measure
from mydyno.rehearse.synthesis import Column, literal_of, shapes_of, slow_log


def digest(*texts: tuple[str, int], example: str | None = None) -> Digest:
    groups = tuple(
        Group(
            id=f"{number:016x}",
            fingerprint=text,
            count=count,
            example=Example(text=example, bytes=len(example), database="shop") if example else None,
        )
        for number, (text, count) in enumerate(texts, 1)
    )
    return Digest(sources=(), total=Figures(count=1), groups=groups)


def statements(made: Digest, values: dict[Column, Sequence[str]], seed: int = 1) -> list[str]:
    shapes, _ = shapes_of(made)
    entries = slow_log(
        shapes, lambda column: values.get(column, ()), seconds=20, rate=50, connections=3, seed=seed
    )
    lines = "".join(entries).splitlines()
    return [line for line in lines if not line.startswith(("#", "SET timestamp", "use "))]


def test_values_come_from_the_columns_that_they_are_compared_with() -> None:
    text = "select a from shop . t as x join shop . s on x . id = s . id "
    text += "where x . a = ? and s . b in (?+) limit ?"
    values = {(("shop"), "t", "a"): ["11", "12"], ("shop", "s", "b"): ["'p'"]}
    made = statements(digest((text, 5)), values)
    assert {"x.a = 11" in each or "x.a = 12" in each for each in made} == {True}
    assert len({each for each in made if "x.a = 11" in each}) == 1
    assert all("s.b IN ('p')" in each and each.endswith("LIMIT 10;") for each in made)


def test_an_example_keeps_its_literals_where_nothing_is_known_of_a_column() -> None:
    made = statements(
        digest(
            ("select ? from t where a = ? and b = ?", 1), example="SELECT 7 FROM t WHERE a = 5 AND b = 'x'"
        ),
        {("shop", "t", "a"): ["99"]},
    )
    assert set(made) == {"SELECT 7 FROM t WHERE a = 99 AND b = 'x';"}


def test_inserts_take_values_by_the_place_of_the_column() -> None:
    made = statements(
        digest(("insert into t ( a , b ) values (?)", 1), example="INSERT INTO t (a, b) VALUES (1, 'q')"),
        {("shop", "t", "b"): ["'z'"]},
    )
    assert set(made) == {"INSERT INTO t (a, b) VALUES (1, 'z');"}


def test_statements_are_drawn_by_their_counts_and_alike_for_the_same_seed() -> None:
    many = digest(("select a from t", 90), ("select b from t", 10))
    made = statements(many, {})
    assert made == statements(many, {})
    assert made != statements(many, {}, seed=2)
    share = sum("SELECT a" in each for each in made) / len(made)
    assert 0.8 < share < 1
    assert len(made) == pytest.approx(1000, rel=0.2)


def test_without_an_example_the_schema_is_that_in_which_it_ran_most_often() -> None:
    text, databases = "select a from t where b = ?", (("", 9), ("shop", 3), ("old", 1))
    group = Group(id="1", fingerprint=text, count=1, databases=databases)
    made = statements(
        Digest(sources=(), total=Figures(count=1), groups=(group,)), {("shop", "t", "b"): ["7"]}
    )
    assert set(made) == {"SELECT a FROM t WHERE b = 7;"}


@pytest.mark.parametrize(
    ("measures", "figures"),
    [({}, []), ({"query_time": Measure(unit="us", sum=2500, count=1)}, ["# Query_time: 0.002500"])],
)
def test_an_entry_has_the_mean_of_the_digest_as_its_time_and_no_row_counts(
    measures: dict[str, Measure], figures: list[str]
) -> None:
    group = Group(id="1", fingerprint="select a from t", count=1, measures=measures)
    shapes, _ = shapes_of(Digest(sources=(), total=Figures(count=1), groups=(group,)))
    entries = slow_log(shapes, lambda column: (), seconds=1, rate=20, connections=1, seed=1)
    lines = "".join(entries).splitlines()
    others = ("# Time: ", "# User@Host: ", "SET timestamp=")
    assert {line for line in lines if not line.startswith(others)} == {*figures, "SELECT a FROM t;"}


def test_what_cannot_be_put_together_is_left_out_with_the_reason() -> None:
    shapes, left_out = shapes_of(
        digest(("select a from t", 1), ("commit", 5), ("replace into t values (?)", 2))
    )
    assert len(shapes) == 1
    assert [each.count for each in left_out] == [5, 2]
    with pytest.raises(UsageError, match="no statement"):
        shapes_of(digest(("commit", 1)))


@pytest.mark.parametrize(
    ("value", "text"), [(1, "1"), (b"\x00'", "X'0027'"), ("it's \\ \n", "'it''s \\\\ \\n'"), (1.5, "1.5")]
)
def test_values_are_written_as_sql_has_them(value: object, text: str) -> None:
    assert literal_of(value) == text
