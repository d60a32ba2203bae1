"""The groups of a digest in another order, and the first of them."""

import tempfile
from collections.abc import Iterator

import pytest

from mydyno.core.errors import MydynoError, UsageError
from mydyno.queries.order import ORDERS, all_in_order, first, first_in_order, ordered
from mydyno.queries.records import Digest, Figures, Group, Rest

from .builders import digest, group, sample, sums


def names(by: str) -> list[str]:
    found = digest(
        group("often", [10] * 90, rows_examined=[5] * 90),
        group("slow", [9_000] * 2, rows_examined=[900] * 2, first_us=5),
        group("mixed", [1, 1, 1, 1, 1, 1, 1, 20_000]),
        group("sums", sums(3, 30_000), first_us=None),
    )
    return [each.fingerprint for each in ordered(found, by).groups]


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("time", ["sums", "mixed", "slow", "often"]),
        ("count", ["often", "mixed", "sums", "slow"]),
        ("mean", ["sums", "slow", "mixed", "often"]),
        ("p95", ["mixed", "slow", "often", "sums"]),
        ("max", ["mixed", "slow", "often", "sums"]),
        ("rows-examined", ["slow", "often", "sums", "mixed"]),
        ("first-seen", ["mixed", "often", "slow", "sums"]),
    ],
)
def test_the_highest_comes_first_and_what_is_not_known_last(by: str, expected: list[str]) -> None:
    assert names(by) == expected


@pytest.mark.parametrize("by", ORDERS)
def test_every_order_keeps_every_group(by: str) -> None:
    assert sorted(each.id for each in ordered(sample(), by).groups) == sorted(
        each.id for each in sample().groups
    )


def test_an_order_that_nothing_has_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match="--order-by spins") as error:
        ordered(sample(), "spins")
    assert error.value.hint is not None
    assert "rows-examined" in error.value.hint


def test_the_groups_beyond_a_limit_join_the_rest() -> None:
    found = first(sample(), 3)
    assert len(found.groups) == 3
    assert found.rest == Rest(groups=5, count=20_360, query_time_us=14_659_429)
    assert first(sample(), None) == first(sample(), 5) == sample()
    assert found.total == sample().total


def half_read() -> tuple[Digest, Iterator[Group]]:
    """The sample with its first groups only, and the others behind them."""
    groups = sample().groups
    return sample().model_copy(update={"groups": groups[:2]}), iter(groups[2:])


@pytest.mark.parametrize("by", [*ORDERS, "rows-examined"])
@pytest.mark.parametrize("limit", [1, 3, 5, 100])
def test_the_first_of_groups_that_are_still_to_be_read_are_those_of_all_in_order(by: str, limit: int) -> None:
    assert first_in_order(*half_read(), by, limit) == first(ordered(sample(), by), limit)


@pytest.mark.parametrize("by", [*ORDERS, "rows-examined"])
def test_groups_that_wait_in_a_file_come_in_order(by: str) -> None:
    assert tuple(all_in_order(*half_read(), by)) == ordered(sample(), by).groups


def test_where_nothing_was_read_any_order_will_do() -> None:
    nothing = sample().model_copy(update={"groups": (), "total": Figures(count=0)})
    assert ordered(nothing, "rows-examined") == nothing


def test_a_folder_without_room_for_the_groups_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere/at/all")
    with pytest.raises(MydynoError, match="does not fit into a file in /nowhere/at/all"):
        tuple(all_in_order(*half_read(), "count"))
