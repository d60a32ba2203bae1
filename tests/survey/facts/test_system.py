"""The file of facts: what is written is read back, and what is no such file is told."""

from __future__ import annotations

import json

import pytest
from advisor.builders import system
from advisor.strategies import Case, cases
from hypothesis import given, settings

from mydyno.core.errors import UsageError
from mydyno.survey.facts import Limit, Process
from mydyno.survey.facts.system import FORMAT, read_system


@settings(max_examples=10)
@given(cases())
def test_any_system_is_read_back_as_it_was_written(case: Case) -> None:
    written = case.system
    assert read_system(written.to_json(), "facts.json") == written


def test_an_unlimited_process_is_read_back() -> None:
    plain = system()
    assert plain.host is not None
    process = Process(pid=1, limits={"Max open files": Limit(soft=1024, hard=None)})
    written = plain.model_copy(update={"host": plain.host.model_copy(update={"process": process})})
    assert read_system(written.to_json(), "facts.json") == written


@pytest.mark.parametrize("text", ["", "{", "[]", '{"mydyno": "0.1.0"}', "\x00"])
def test_what_is_no_file_of_facts_is_refused_by_name(text: str) -> None:
    with pytest.raises(UsageError, match=r"facts\.json holds no facts of mydyno") as caught:
        read_system(text, "facts.json")
    assert "mydyno facts" in (caught.value.hint or "")


def test_a_file_of_a_newer_mydyno_is_distinguished_from_a_broken_one() -> None:
    document = json.loads(system().to_json())
    document |= {"format": FORMAT + 1, "mydyno": "9.9", "something": "that this one does not know"}
    with pytest.raises(UsageError, match=r"was written by a newer mydyno \(9\.9\)"):
        read_system(json.dumps(document), "facts.json")
