"""Every rule, found by looking into `advisor/rules`: a new file is all that a new rule needs."""

import importlib
import pkgutil

from mydyno.advisor import rules
from mydyno.advisor.rule import Rule
from mydyno.core.errors import UsageError
from mydyno.core.nearest import did_you_mean


def _loaded() -> tuple[Rule, ...]:
    modules = pkgutil.walk_packages(rules.__path__, f"{rules.__name__}.")
    loaded = (importlib.import_module(module.name) for module in modules if not module.ispkg)
    return tuple(sorted((module.rule for module in loaded), key=lambda rule: rule.id))


RULES: tuple[Rule, ...] = _loaded()


def rule_of(name: str) -> Rule:
    """The rule with this id. Raises UsageError."""
    for rule in RULES:
        if rule.id == name:
            return rule
    raise UsageError(
        f"unknown rule '{name}'",
        did_you_mean(name, [rule.id for rule in RULES], "`mydyno rules list` lists all of them"),
    )


def variables() -> frozenset[str]:
    """Every server variable that some rule may set: what a survey asks the server whether it can be set."""
    return frozenset(name for rule in RULES for name in rule.variables)
