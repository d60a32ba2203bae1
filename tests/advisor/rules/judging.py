"""What tests of rules ask: the judgement of one rule on a server, with the targets of that system."""

from __future__ import annotations

from advisor.builders import system
from mydyno.advisor import after, rule_of
from mydyno.advisor.rule import Judgement
from mydyno.advisor.targets import Targets, targets_of
from mydyno.apply.change import ByHand
from mydyno.apply.finding import Finding
from mydyno.survey.facts import Host, Server


def judged(rule: str, server: Server, targets: Targets | None = None, host: Host | None = None) -> Judgement:
    asked = system(server, host)
    return rule_of(rule).judge(asked, targets or targets_of(asked))


def finding(rule: str, server: Server, targets: Targets | None = None, host: Host | None = None) -> Finding:
    """The finding that there must be."""
    one = found(judged(rule, server, targets, host))
    assert one.rule == rule
    return one


def found(judged: Judgement) -> Finding:
    """The finding, or a failure that shows what there was instead."""
    assert isinstance(judged, Finding), judged
    return judged


def sentences(judged: Judgement) -> list[str]:
    """The finding's changes as people read them."""
    return [change.sentence() for change in found(judged).changes]


def settled(rule: str, server: Server, targets: Targets | None = None, host: Host | None = None) -> bool:
    """Whether the rule wants no change of mydyno's own any more once its changes are made."""
    asked = system(server, host)
    decided = targets or targets_of(asked)
    changes = finding(rule, server, targets, host).changes
    again = rule_of(rule).judge(after(asked, changes), decided)
    return not isinstance(again, Finding) or all(isinstance(each, ByHand) for each in again.changes)
