"""What a status variable's name says about its number."""

from __future__ import annotations

from pathlib import Path

import pytest

from mydyno.lab.sampling.catalogue import kind, number

GOLDEN = Path(__file__).with_name("golden")


def golden(release: str) -> list[tuple[str, str]]:
    """(name, kind) of every numeric status variable of a release."""
    lines = (GOLDEN / f"status-{release}.tsv").read_text().splitlines()
    return [(name, expected) for name, expected in (line.split("\t") for line in lines)]


@pytest.mark.parametrize("release", ["mariadb-10.11", "mysql-8.0"])
def test_every_status_variable_of_a_release_has_its_kind(release: str) -> None:
    wrong = {name: (kind(name), expected) for name, expected in golden(release) if kind(name) != expected}
    assert wrong == {}
    assert len(golden(release)) > 150


def test_a_name_that_nobody_knows_is_not_guessed() -> None:
    assert kind("Flux_capacitor_charge") == "unknown"
    assert kind("threads_created") == "unknown", "the server's own spelling counts"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        ("-1", -1),
        ("0.500", 0.5),
        ("9223372036854775807", 2**63 - 1),
        ("18446744073709551615", float(2**64 - 1)),
        ("ON", None),
        ("", None),
        ("NULL", None),
        ("nan", None),
        ("inf", None),
        ("4c1a-0b", None),
    ],
)
def test_only_numbers_are_numbers(text: str, value: float | None) -> None:
    assert number(text) == value
    assert type(number(text)) is type(value)
