"""What a file may ask of sysbench and mysqlslap, and what is said about the rest."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from mydyno.core.document.base import FAULTS, Fault
from mydyno.lab.workload.external_program import ExternalSlap, ExternalSysbench


def faults(section: type, **keys: Any) -> list[Fault]:
    with pytest.raises(ValidationError) as caught:
        section(**keys)
    return [
        fault for line in caught.value.errors() if line["type"] == FAULTS for fault in line["ctx"][FAULTS]
    ]


def sysbench_fault(**options: Any) -> Fault:
    [fault] = faults(ExternalSysbench, script="oltp_read_only", options=options)
    return fault


def slap_fault(**options: Any) -> Fault:
    [fault] = faults(ExternalSlap, options=options)
    return fault


def test_options_are_taken_with_dashes_and_with_underscores() -> None:
    options = {"skip_trx": True, "range-size": 50, "mysql_ignore_errors": 1213, "rand-pareto-h": 0.3}
    assert ExternalSysbench(script="oltp_read_only", options=options).options == options


@pytest.mark.parametrize(
    ("written", "meant"),
    [("range_sise", "range-size"), ("point-select", "point-selects"), ("skip-trxs", "skip-trx")],
)
def test_an_unknown_option_of_sysbench_is_refused_with_the_nearest(written: str, meant: str) -> None:
    fault = sysbench_fault(**{written: 1})
    assert fault.at == ("options", written)
    assert fault.nearest == meant


@pytest.mark.parametrize(
    ("option", "instead"),
    [
        ("threads", "workload.connections"),
        ("time", "workload.each"),
        ("rate", "poisson"),
        ("table_size", "`table_size`"),
        ("mysql_password", "the server"),
        ("report-checkpoints", "warmup"),
    ],
)
def test_an_option_that_mydyno_sets_is_refused_with_the_key_to_use(option: str, instead: str) -> None:
    fault = sysbench_fault(**{option: 1})
    assert f"{option} is not passed on: " in fault.message
    assert instead in fault.message


@pytest.mark.parametrize(
    "value",
    [{"skip_trx": 1}, {"range_size": "many"}, {"range_size": True}, {"range_size": [1]}, {"skip_trx": None}],
)
def test_a_value_of_another_kind_is_refused(value: dict[str, Any]) -> None:
    assert "wrong value" in sysbench_fault(**value).message


def test_an_option_of_another_script_is_refused() -> None:
    assert "not an option" in sysbench_fault(delta=5).message
    assert ExternalSysbench(script="select_random_ranges", options={"delta": 5})


def test_a_script_is_reported_by_its_name() -> None:
    [fault] = faults(ExternalSysbench, script="oltp-read-onyl.lua")
    assert (fault.at, fault.nearest) == (("script",), "oltp_read_only")


def test_all_faults_come_at_once() -> None:
    assert len(faults(ExternalSysbench, script="oltp", options={"threads": 1, "sise": 2})) == 3


def test_rows_are_those_that_prepare_leaves() -> None:
    assert ExternalSysbench(script="oltp_insert", table_size=7).rows == 7
    assert ExternalSysbench(script="oltp_insert", table_size=7, options={"auto_inc": False}).rows == 0
    assert ExternalSysbench(script="oltp_read_only", tables=2).table_names == ("sbtest1", "sbtest2")


def test_an_unknown_option_of_mysqlslap_is_refused_with_the_nearest() -> None:
    assert slap_fault(**{"number-int-col": "3"}).nearest == "number-int-cols"


@pytest.mark.parametrize(
    ("option", "instead"),
    [("concurrency", "connections"), ("pre-system", "no shell"), ("engine", "storage_engine")],
)
def test_mysqlslap_has_options_that_mydyno_sets_too(option: str, instead: str) -> None:
    assert instead in slap_fault(**{option: "x"}).message


def test_load_type_key_needs_a_key() -> None:
    assert "primary key" in faults(ExternalSlap, load_type="key")[0].message
    assert ExternalSlap(load_type="key", options={"auto_generate_sql_guid_primary": True})


def test_a_query_of_ones_own_has_no_load_type() -> None:
    options = {"query": "SELECT 1"}
    assert "one of them" in (faults(ExternalSlap, load_type="read", options=options)[0].allowed or "")
    assert ExternalSlap(options=options).own_query


def test_a_dash_of_a_word_processor_is_no_option() -> None:
    assert slap_fault(**{"–commit": 5}).nearest == "commit"


@pytest.mark.parametrize("name", ["a`b", "a b", "", "1a"])
def test_the_schema_that_is_dropped_has_a_plain_name(name: str) -> None:
    with pytest.raises(ValidationError):
        ExternalSlap(database=name)
