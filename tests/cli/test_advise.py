"""`mydyno advise` and `mydyno rules`, on saved facts."""

import json
from pathlib import Path

import pytest
from advisor.builders import GIB, host, system
from typer.testing import CliRunner

from mydyno.advisor import RULES, read_advice
from mydyno.cli.main import app
from mydyno.core.errors import UsageError
from mydyno.survey.facts import Memory


@pytest.fixture
def facts(tmp_path: Path) -> str:
    memory = Memory(total=16 * GIB, swap_total=GIB)
    file = tmp_path / "facts.json"
    file.write_text(system(the_host=host(memory_facts=memory, sysctls={"vm.swappiness": "60"})).to_json())
    return str(file)


def run(*arguments: str) -> str:
    answer = CliRunner().invoke(app, arguments)
    if answer.exception is not None:
        raise answer.exception
    return answer.stdout


def test_saved_facts_are_advised_on(facts: str) -> None:
    assert "vm.swappiness = 1 (now 60)" in run("advise", "--facts", facts)


def test_json_and_the_file_are_what_apply_reads(facts: str, tmp_path: Path) -> None:
    written = tmp_path / "advice.json"
    printed = run("advise", "--facts", facts, "--json", "--out", str(written))
    assert read_advice(written.read_text(), "file") == read_advice(printed, "printed")
    assert "swappiness" in {found["rule"] for found in json.loads(printed)["findings"]}


def test_a_file_that_cannot_be_written_is_named(facts: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot write .*missing/advice\.json: there is no folder"):
        run("advise", "--facts", facts, "--out", str(tmp_path / "missing" / "advice.json"))


def test_a_file_that_holds_no_facts_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text("{}")
    with pytest.raises(UsageError, match="holds no facts of mydyno"):
        run("advise", "--facts", str(other))


def test_explain_lists_every_rule() -> None:
    text = run("rules", "list")
    assert [rule.id for rule in RULES if f"  {rule.id}" not in text] == []


def test_explain_shows_one_rule_at_length_and_what_it_says_of_a_system(facts: str) -> None:
    alone, judged = run("rules", "show", "swappiness"), run("rules", "show", "swappiness", "--facts", facts)
    assert "sources" in alone
    assert "On this system" not in alone
    assert "The kernel may swap the server out: vm.swappiness is 60" in judged


def test_why_not_is_answered_with_the_numbers(tmp_path: Path) -> None:
    calm = tmp_path / "facts.json"
    memory = Memory(total=16 * GIB, swap_total=GIB)
    calm.write_text(system(the_host=host(memory_facts=memory, sysctls={"vm.swappiness": "1"})).to_json())
    assert "passed: vm.swappiness is 1" in run("rules", "show", "swappiness", "--facts", str(calm))


def test_the_rule_to_show_is_named() -> None:
    assert "Missing argument 'RULE'" in CliRunner().invoke(app, ["rules", "show"]).output


def test_the_page_has_the_findings_and_is_not_written_over_a_foreign_file(facts: str, tmp_path: Path) -> None:
    page = tmp_path / "advice.html"
    run("advise", "--facts", facts, "--html", str(page))
    run("advise", "--facts", facts, "--html", str(page))
    assert "<code>swappiness</code>" in page.read_text()
    page.write_text("mine")
    with pytest.raises(UsageError, match="is not a page that mydyno wrote"):
        run("advise", "--facts", facts, "--html", str(page))
