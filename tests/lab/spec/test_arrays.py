"""What a level makes of its disks."""

from __future__ import annotations

import pytest

from mydyno.core.raid import Raid
from mydyno.lab.spec.arrays import (
    Array,
    Stripe,
    failing_members,
    layout_shown,
    most_failures,
    raid10_copies,
    stripe_of,
)

_64K = 64 * 1024


@pytest.mark.parametrize(
    ("raid", "disks", "layout", "data_disks"),
    [
        (0, 4, None, 4),
        (4, 4, None, 3),
        (5, 4, "left-symmetric", 3),
        (6, 4, "right-asymmetric", 2),
        (10, 4, "n2", 2),
        (10, 4, "f2", 4),
        (10, 4, "o2", 4),
        (10, 3, "n2", 3),
        (10, 2, "n2", 1),
    ],
)
def test_a_stripe_has_as_many_data_disks_as_the_kernel_reports_by_its_optimal_io_size(
    raid: Raid, disks: int, layout: str | None, data_disks: int
) -> None:
    """optimal_io_size / minimum_io_size of these arrays, read under a kernel 6.1."""
    assert stripe_of(Array(raid, disks, _64K, layout)) == Stripe(_64K, data_disks)


@pytest.mark.parametrize("raid", ["none", "linear", 1])
def test_what_does_not_stripe_has_no_stripe(raid: Raid) -> None:
    assert stripe_of(Array(raid, 2)) is None


def test_a_stripe_without_a_chunk_asked_for_has_that_of_mdadm() -> None:
    assert stripe_of(Array(0, 2)) == Stripe(512 * 1024, 2)


def test_layouts_are_named_as_mdadm_shows_them() -> None:
    assert layout_shown(Array(10, 4)) == "near=2"
    assert layout_shown(Array(10, 4, layout="f3")) == "far=3"
    assert layout_shown(Array(5, 4, layout="rs")) == "right-symmetric"
    assert layout_shown(Array(6, 4)) == "left-symmetric"
    assert layout_shown(Array(0, 4)) is None


def test_a_layout_of_raid_10_is_a_letter_and_its_copies() -> None:
    assert raid10_copies("o3") == ("offset", 3)
    for wrong in ("", "n", "x2", "2n", "near"):
        with pytest.raises(ValueError, match="not a RAID 10 layout"):
            raid10_copies(wrong or "?")


@pytest.mark.parametrize(
    ("array", "most"),
    [
        (Array("none", 1), 0),
        (Array(0, 4), 0),
        (Array("linear", 4), 0),
        (Array(1, 3), 2),
        (Array(5, 4), 1),
        (Array(6, 5), 2),
        (Array(10, 4), 2),
        (Array(10, 6, layout="n3"), 4),
        (Array(10, 5), 1),
        (Array(10, 4, layout="f2"), 1),
    ],
)
def test_an_array_survives_what_its_copies_and_parity_allow(array: Array, most: int) -> None:
    assert most_failures(array) == most


def test_the_members_that_fail_in_a_raid_10_are_of_different_mirrors_first() -> None:
    assert failing_members(Array(10, 4), 2) == (0, 2)
    assert failing_members(Array(10, 6, layout="n3"), 4) == (0, 3, 1, 4)
    assert failing_members(Array(6, 4), 2) == (0, 1)
