"""gen-data: what each field of a format makes, corrected and as the original does it."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mydyno.core.errors import UsageError
from mydyno.lab.workload.smack.generate import (
    expected_bytes,
    lines,
    most_bytes,
    parse_command,
    parse_format,
    traps_of,
)


def made(form: str, rows: int = 1000, seed: int = 1, *, strict: bool = False) -> list[str]:
    return list(lines(parse_format(form), rows, seed, strict))


def lengths(form: str, *, strict: bool = False) -> set[int]:
    return set(map(len, made(form, strict=strict)))


def test_the_stock_format_makes_unique_names_of_letters_and_number() -> None:
    for number, line in enumerate(made("%12-12s%n,%25-25s,%n,%d"), 1):
        name, password, row, group = line.split(",")
        assert re.fullmatch(rf"[a-z]{{12}}{number}", name)
        assert re.fullmatch("[a-z]{25}", password)
        assert row == str(number)
        assert 0 <= int(group) < 2**31


def test_the_stock_file_has_the_size_of_the_original_within_the_digits_of_its_random_numbers() -> None:
    size = sum(len(line) + 1 for line in made("%12-12s%n,%25-25s,%n,%d", 90_000))
    assert size == pytest.approx(5_421_337, abs=1000)


def test_a_single_width_is_exact_and_under_strict_compat_one_too_few_or_256() -> None:
    assert lengths("%5s") == {5}
    assert lengths("%5s", strict=True) == {256, 1, 2, 3, 4}


def test_a_range_has_both_its_ends_and_under_strict_compat_not_the_upper() -> None:
    assert lengths("%3-6s") == {3, 4, 5, 6}
    assert lengths("%3-6s", strict=True) == {3, 4, 5}
    assert lengths("%6-6s") == lengths("%6-6s", strict=True) == {6}


def test_letters_without_a_width_are_256() -> None:
    assert lengths("%s") == lengths("%s", strict=True) == {256}


@pytest.mark.parametrize(
    ("form", "corrected", "strict"),
    [
        ("%5-s", {5}, {5}),
        ("%-5s", {5}, {256, 1, 2, 3, 4}),
        ("%2-5-8s", {5, 6, 7, 8}, {5, 6, 7}),
        ("%8-5s", {5, 6, 7, 8}, {8, 9, 10}),
        ("%0-0s", {256}, {256}),
        ("x%5%y", {3}, {3}),
        ("xy%", {2}, {2}),
        ("%-s", {256}, {256}),
    ],
)
def test_a_width_of_an_odd_form_is_read_as_the_original_reads_it(
    form: str, corrected: set[int], strict: set[int]
) -> None:
    assert lengths(form) == corrected
    assert lengths(form, strict=True) == strict


def test_letters_are_a_to_z_and_under_strict_compat_z_never_comes() -> None:
    assert set("".join(made("%20-20s"))) == set("abcdefghijklmnopqrstuvwxyz")
    assert set("".join(made("%20-20s", strict=True))) == set("abcdefghijklmnopqrstuvwxy")


def test_letters_are_evenly_frequent() -> None:
    # Chi-square with 25 degrees of freedom: 52.6 is passed by chance once in 1000 seeds, and this is one.
    counts = Counter("".join(made("%26-26s", 1000)))
    assert sum((count - 1000) ** 2 / 1000 for count in counts.values()) < 52.6


def test_one_seed_makes_one_file_and_strict_compat_ignores_the_seed() -> None:
    assert made("%8s,%d", seed=5) == made("%8s,%d", seed=5) != made("%8s,%d", seed=6)
    assert made("%8s,%d", seed=5, strict=True) == made("%8s,%d", seed=6, strict=True)


def test_numbers_are_padded_with_blanks_to_their_width() -> None:
    assert made("%4-4n|%%", 2) == ["   1|%", "   2|%"]
    assert set(map(len, made("%12d"))) == {12}


@given(st.text(st.sampled_from("%snd0123456789-, x"), max_size=20))
def test_any_format_is_refused_or_makes_the_configured_lines(form: str) -> None:
    if re.search(r"\d{4}", form):
        return
    try:
        parsed = parse_format(form)
    except UsageError:
        return
    traps_of(parsed)
    for strict in (False, True):
        assert len(list(lines(parsed, 3, strict=strict))) == 3


@pytest.mark.parametrize(
    ("command", "rows"),
    [
        ("gen-data -n 5 -f %n", 5),
        ("/usr/bin/gen-data -f '%n,%5s' -n 90000", 90_000),
        ("gen-data --num-rows=5 --format=%n", 5),
        ("gen-data --num-rows 5 --format %n", 5),
        ("gen-data -n5 -f%n", 5),
        ("gen-data --num=5 --form=%n", 5),
    ],
)
def test_a_gen_data_command_is_understood(command: str, rows: int) -> None:
    parsed = parse_command(command)
    assert parsed is not None
    assert parsed.rows == rows


@pytest.mark.parametrize(
    "command",
    ["seq 10", "", "gen-data -n 5 -f %n; rm x", "gen-data -n 5 -f %n | sort", "echo 'a", "$(gen-data)"],
)
def test_another_command_is_not_taken_for_gen_data(command: str) -> None:
    assert parse_command(command) is None


@pytest.mark.parametrize(
    "command", ["gen-data -n 5", "gen-data -n x -f %n", "gen-data -n 5 -f %5x", "gen-data --rows 5 -f %n"]
)
def test_gen_data_with_wrong_arguments_is_refused(command: str) -> None:
    with pytest.raises(UsageError):
        parse_command(command)


def test_the_bytes_of_row_numbers_are_counted_without_making_them() -> None:
    command = parse_command("gen-data -n 1200 -f %3n")
    assert command is not None
    assert expected_bytes(command) == sum(max(len(str(number)), 3) + 1 for number in range(1, 1201))
    assert most_bytes(command) == 5 * 1200
    endless = parse_command("gen-data -n 99999999999999999999 -f %n")
    assert endless is not None
    assert expected_bytes(endless) > 10**20
