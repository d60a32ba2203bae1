"""The rules as a whole: each is told of fully, none in another's way, and the seeds' advice has its rule."""

from collections import Counter
from importlib import import_module
from pkgutil import walk_packages

import pytest

from mydyno.advise import RULES, rule_of, rules
from mydyno.advise.rule import Rule
from mydyno.catalogue import catalogue
from mydyno.core.errors import UsageError

FOLDERS = ("hardware", "system", "innodb", "server", "schema")


def modules() -> list[str]:
    found = walk_packages(rules.__path__, f"{rules.__name__}.")
    return [module.name for module in found if not module.ispkg]


def test_an_id_is_the_name_of_its_file() -> None:
    for name in modules():
        module = import_module(name)
        if hasattr(module, "RULE"):
            assert module.RULE.id == name.rpartition(".")[2].replace("_", "-")


def test_ids_are_unique() -> None:
    assert [name for name, times in Counter(rule.id for rule in RULES).items() if times > 1] == []


def test_rules_lie_in_folders_of_their_own() -> None:
    assert {name.split(".")[3] for name in modules()} <= set(FOLDERS)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_says_what_it_checks_and_why_and_from_where(rule: Rule) -> None:
    for text in (rule.checks, rule.why, rule.expected, rule.durability, rule.risk):
        assert text.strip()
    assert rule.sources
    assert all(len(source) > 10 for source in rule.sources)
    explanation = import_module(rule.judge.__module__).__doc__
    assert explanation is not None
    assert len(explanation) > 200, "the docstring is what `mydyno explain` shows to a DBA"


def test_no_variable_is_set_by_two_rules() -> None:
    owners = Counter(name for rule in RULES for name in rule.variables)
    assert [name for name, times in owners.items() if times > 1] == []


def test_the_catalogue_has_a_row_for_every_variable_that_a_rule_sets() -> None:
    assert [name for rule in RULES for name in rule.variables if name not in catalogue()] == []


def test_a_rule_that_is_not_there_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError) as refused:
        rule_of("swappyness")
    assert refused.value.hint == "did you mean swappiness?"
