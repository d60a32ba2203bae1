"""What differs between two sides of a rehearsal, and what is chance."""

import numpy as np
import pytest

from mydyno.rehearse.compare import compare_sides
from mydyno.rehearse.records import SideComparison, StatementComparison
from mydyno.rehearse.results import Replayed, Shape
from rehearse.builders import Trace

KINDS = [f"select {number}" for number in range(40)]
MARGIN = 0.1


def sides(texts: list[str], repetitions: int = 5, **keys: object) -> tuple[list[Replayed], list[Replayed]]:
    trace = Trace(texts, **keys)  # type: ignore[arg-type]
    return trace.replays("old", repetitions), trace.replays("new", repetitions)


def of(comparison: SideComparison, text: str) -> StatementComparison:
    return next(each for each in comparison.statements if each.text == text)


def where(trial: Replayed, text: str) -> np.ndarray:
    number = next(number for number, shape in trial.shapes.items() if shape.text == text)
    return np.asarray(trial.records["fingerprint"] == number)


def test_a_slower_statement_is_found_among_many_and_named_first() -> None:
    old, new = sides(KINDS * 5)
    for trial in new:
        trial.records["service_us"][where(trial, "select 7")] *= 3
    comparison = compare_sides(old, new, MARGIN)
    worst = comparison.statements[0]
    assert (worst.text, worst.times.timing) == ("select 7", "slower")
    assert worst.times.ratio == pytest.approx(3, rel=0.1)
    assert len(comparison.with_timing("slower")) == 1
    assert comparison.headline == "new for this trace: of 40 statements 1 is slower."


def test_a_difference_within_the_margin_is_called_the_same() -> None:
    old, new = sides(KINDS * 20, noise=0.005)
    for trial in new:
        trial.records["service_us"] = np.round(trial.records["service_us"] * 1.02)
    comparison = compare_sides(old, new, MARGIN)
    assert {each.times.timing for each in comparison.statements} == {"same"}


@pytest.mark.parametrize("repetitions", [1, 2])
def test_few_repetitions_give_a_ratio_and_no_verdict(repetitions: int) -> None:
    old, new = sides(["select 1"] * 10, repetitions)
    for trial in new:
        trial.records["service_us"] *= 10
    times = compare_sides(old, new, MARGIN).statements[0].times
    assert (times.timing, times.low) == ("unclear", None)
    assert times.ratio == pytest.approx(10, rel=0.2)


def test_the_same_side_twice_is_silent_in_at_least_19_of_20() -> None:
    loud = 0
    for seed in range(40):
        random = np.random.default_rng(seed)
        old, new = sides([*KINDS, *KINDS[:10] * 30], noise=0.15, random=random)
        # What other connections do at the time: for some statements a coin decides, in each repetition.
        for trial in (*old, *new):
            coin = where(trial, "select 3")
            trial.records["unordered"][coin] = random.integers(0, 2, int(coin.sum()))
        loud += any(each.is_notable for each in compare_sides(old, new, MARGIN).statements)
    assert loud <= 2


def test_an_error_on_one_side_is_found_with_its_reason() -> None:
    old, new = sides(["select 1", "insert into rank"] * 4)
    for trial in new:
        broken = where(trial, "insert into rank")
        trial.records["error"][broken] = 1064
        number = int(trial.records["fingerprint"][broken][0])
        shape = Shape("2", "insert into rank", "", None, {1064: "syntax error near 'rank VALUES (1)' at 1"})
        trial.shapes[number] = shape  # type: ignore[index]
    comparison = compare_sides(old, new, MARGIN)
    (failure,) = comparison.statements[0].fails
    assert (failure.number, failure.executions, failure.first) == (1064, 4, 1)
    assert failure.reason == "RANK is a reserved word in this release: quote the name in backticks"
    assert comparison.statements[0].times.timing == "not timed"
    assert comparison.diverged == 1


def test_an_error_in_one_repetition_alone_is_chance() -> None:
    old, new = sides(["select 1"] * 4)
    new[2].records["error"][1] = 1213
    (statement,) = compare_sides(old, new, MARGIN).statements
    assert (statement.fails, statement.not_repeatable) == ((), 1)


def test_another_result_is_found_and_one_behind_a_divergence_says_so() -> None:
    old, new = sides(["update t", "select a", "select b"] * 2)
    for trial in new:
        trial.records["affected"][0] = 7
        trial.records["unordered"][2] = 999
        trial.records["rows"][2] = 3
    comparison = compare_sides(old, new, MARGIN)
    assert comparison.diverged == 0
    write, read = of(comparison, "update t").other_result, of(comparison, "select b").other_result
    assert write is not None
    assert read is not None
    assert (write.first, write.rows, write.note) == (0, (0, 7), None)
    assert (read.first, read.rows, read.note) == (2, (1, 3), "statement 1 had changed other rows before")
    assert of(comparison, "select a").other_result is None


def test_the_order_of_rows_counts_where_the_statement_asks_for_one() -> None:
    old, new = sides(["select a", "select b order by b"])
    for trial in (*old, *new):
        trial.records["flags"][1] = 2
    for trial in new:
        trial.records["ordered"] += 1
    comparison = compare_sides(old, new, MARGIN)
    assert of(comparison, "select a").other_result is None
    assert of(comparison, "select b order by b").other_result is not None


@pytest.mark.parametrize(
    "text", ["select now ( )", "select @@version", "select connection_id ( )", "show tables"]
)
def test_what_depends_on_the_server_is_not_compared(text: str) -> None:
    old, new = sides([text])
    for trial in new:
        trial.records["unordered"] += 1
    (statement,) = compare_sides(old, new, MARGIN).statements
    assert statement.other_result is None
    assert statement.not_compared is not None


def test_results_that_a_statement_leaves_open_say_so() -> None:
    old, new = sides(["select a from t limit ?"])
    for trial in new:
        trial.records["unordered"] += 1
    other = compare_sides(old, new, MARGIN).statements[0].other_result
    assert other is not None
    assert other.note == "LIMIT without ORDER BY: any of the rows is right"


def test_new_warnings_are_counted() -> None:
    old, new = sides(["select 1"] * 3)
    for trial in new:
        trial.records["warnings"][:2] = 1
    assert compare_sides(old, new, MARGIN).statements[0].warnings == 2


def test_statements_that_were_skipped_are_not_compared() -> None:
    old, new = sides(["select 1", "select 2"])
    for trial in (*old, *new):
        trial.records["outcome"][1] = 2
    assert [each.text for each in compare_sides(old, new, MARGIN).statements] == ["select 1"]
