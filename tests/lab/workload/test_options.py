"""Declared options become a section: typed, bounded, documented, and refused in words."""

from __future__ import annotations

from typing import Any

import pytest

from mydyno.core.document.base import Section
from mydyno.core.document.problems import SpecErrors
from mydyno.core.errors import UsageError
from mydyno.lab import workload
from mydyno.lab.workload.file import options_from

SHOP = """\
workload: shop
options:
  rows: {default: 10k, at_least: 10, at_most: 1M, about: Rows of the table.}
  share: {default: 0.5, at_least: 0.0, at_most: 1.0}
  careful: {default: false}
  way: {default: uniform, one_of: [uniform, zipfian]}
  rest: {default: 10ms, kind: duration}
  engine: {default: innodb, kind: storage_engine}
  note: {default: "-"}
transactions:
  look:
    - SELECT {rows}
"""


def shop() -> workload.WorkloadFile:
    return workload.reads(SHOP, "shop.yaml")


def test_the_options_are_a_section_with_defaults_bounds_and_descriptions() -> None:
    section = shop().options
    assert issubclass(section, Section)
    schema = section.model_json_schema()["properties"]
    assert schema["rows"]["description"] == "Rows of the table."
    assert schema["rows"]["anyOf"][0] == {"type": "integer", "minimum": 10, "maximum": 1_000_000}
    assert schema["rows"]["default"] == 10_000
    assert schema["careful"]["type"] == "boolean"
    assert schema["way"]["enum"] == ["uniform", "zipfian"]
    assert schema["share"] == {
        "default": 0.5,
        "maximum": 1.0,
        "minimum": 0.0,
        "title": "Share",
        "type": "number",
    }


def test_effective_options_have_every_value_as_json() -> None:
    assert shop().resolve({"rows": "2k", "rest": "1s", "engine": "MyISAM"}).options == {
        "rows": 2000,
        "share": 0.5,
        "careful": False,
        "way": "uniform",
        "rest": "1s",
        "engine": "myisam",
        "note": "-",
    }


def test_a_section_resolves_as_its_values_do() -> None:
    read = shop()
    assert read.resolve(read.options(rows=500)) == read.resolve({"rows": 500})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows": 5}, "shop: rows is out of bounds (got 5); allowed: a whole number from 10 to 1,000,000"),
        ({"rows": "many"}, "shop: rows is not a whole number (got many)"),
        ({"share": 1.5}, "shop: share is too large (got 1.5); allowed: 1.0 or less"),
        ({"share": "half"}, "shop: share is not a number (got half); allowed: a number"),
        ({"careful": 1}, "shop: careful is neither true nor false (got 1); allowed: true or false"),
        (
            {"way": "zipfain"},
            "shop: way: unknown value 'zipfain' (did you mean 'zipfian'?); allowed: uniform, zipfian",
        ),
        ({"rest": 5}, "shop: rest has no unit (got 5; did you mean '5s'?)"),
        (
            {"engine": "misam"},
            "shop: engine: unknown storage engine 'misam' (did you mean 'myisam'?); allowed: innodb, myisam,",
        ),
        ({"note": "a – b"}, "did you mean 'a - b'?"),
        ({"rwos": 5}, "shop: unknown option 'rwos' (did you mean 'rows'?); allowed: rows, share, careful,"),
    ],
)
def test_a_wrong_option_is_refused_in_words(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecErrors) as caught:
        shop().resolve(options)
    assert message in str(caught.value)


def test_a_section_with_nothing_left_to_send_is_refused_when_it_is_made() -> None:
    section = workload.read("oltp-point-select").options
    assert section.model_validate({"tables": 3}).constants()["tables"] == 3
    reading = workload.read("oltp-read-only").options
    with pytest.raises(ValueError, match="no statement left"):
        reading.model_validate({"skip_trx": True, "range_selects": False, "point_selects": 0})


def test_assignments_of_the_command_line_become_typed_options() -> None:
    written = ["rows=2k", "share=0.25", "careful=yes", "way=zipfian", "rest=5ms", "note=5", "engine=myisam"]
    assert options_from(shop(), written) == {
        "rows": "2k",
        "share": 0.25,
        "careful": True,
        "way": "zipfian",
        "rest": "5ms",
        "note": "5",
        "engine": "myisam",
    }
    assert options_from(workload.read("oltp-read-write"), ["table-size=5"]) == {"table_size": 5}


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (["rows"], "rows is not an option with a value"),
        (["rwos=5"], "did you mean rows?"),
        (["rows=5", "rows=6"], "rows is given twice"),
    ],
)
def test_a_wrong_assignment_is_refused_in_words(written: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        options_from(shop(), written)
    assert message in str(caught.value)
