"""Rules for people: all of them by layer, or one at length with what it says of a system."""

import inspect
import sys
from collections.abc import Iterator

from mydyno.advisor import RULES
from mydyno.advisor.names import sentence
from mydyno.advisor.rule import LAYERS, Fine, Judgement, NotHere, Rule, Unknown
from mydyno.apply.change import ByHand
from mydyno.apply.finding import Finding
from mydyno.page.lines import Line, wrapped

_LABEL = 12


def explanation(rule: Rule) -> str:
    """The docstring of the rule's file: paragraphs with an empty line between."""
    return inspect.cleandoc(sys.modules[rule.module].__doc__ or "")


def by_layer() -> Iterator[tuple[str, tuple[Rule, ...]]]:
    """The layers in the order from the disks up, each with its rules."""
    for layer in LAYERS.values():
        yield layer, tuple(rule for rule in RULES if rule.layer == layer)


def list_lines(width: int) -> Iterator[Line]:
    """Every rule with what it checks."""
    yield Line(f"{len(RULES)} rules", "heading")
    for layer, rules in by_layer():
        yield Line()
        yield Line(layer, "heading")
        for rule in rules:
            yield from wrapped(rule.checks, width, first=f"  {rule.id:28} ", rest=" " * 31)


def rule_lines(rule: Rule, width: int, judged: Judgement | None = None) -> Iterator[Line]:
    """One rule at length; with `judged` what it says of a system, and why."""
    yield Line(f"{rule.id} ({rule.layer})", "heading")
    yield Line()
    yield from wrapped(rule.why, width)
    for paragraph in explanation(rule).split("\n\n"):
        yield Line()
        yield from wrapped(paragraph, width)
    yield Line()
    facts = [("checks", rule.checks), ("brings", rule.expected), ("durability", rule.durability)]
    facts += [("risk", rule.risk), ("sets", ", ".join(rule.variables) or "no server variable")]
    for label, text in facts:
        yield from wrapped(text, width, first=f"  {label:{_LABEL}}")
    for place, source in enumerate(rule.sources):
        yield from wrapped(source, width, first=f"  {'sources' if not place else '':{_LABEL}}")
    if judged is not None:
        yield Line()
        yield from judgement_lines(judged, width)


def judgement_lines(judged: Judgement, width: int) -> Iterator[Line]:
    """What the rule says of this system: the finding with its evidence, or why there is none."""
    yield Line("On this system", "heading")
    match judged:
        case Finding():
            yield from wrapped(f"{judged.severity.label}: {judged.title}", width, first="  ", rest="    ")
            for text in judged.evidence:
                yield from wrapped(text, width, first="    ", rest="      ")
            yield from wrapped(judged.recommendation, width, first="  so  ")
            for change in judged.changes:
                by_hand = "by hand: " if isinstance(change, ByHand) else ""
                yield from wrapped(f"{by_hand}{sentence(change)}", width, first="      ", style="do")
        case Fine(because):
            yield from wrapped(f"passed: {because}", width, first="  ", rest="    ")
        case Unknown(missing):
            yield from wrapped(f"unknown without {missing}", width, first="  ", rest="    ")
        case NotHere(because):
            yield from wrapped(f"it does not apply: {because}", width, first="  ", rest="    ")
