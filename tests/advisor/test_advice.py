"""Advice as a whole: order, what is forbidden here, the file that `mydyno apply` takes."""

import json

import pytest

from advisor.builders import GIB, host, system
from mydyno.advisor import advise, read_advice
from mydyno.advisor.advice import allowed
from mydyno.apply.change import ByHand, SetSysctl
from mydyno.apply.finding import Effect, Finding, Severity
from mydyno.core.errors import UsageError
from mydyno.survey.facts import Memory, System

NOW = "2026-11-21T12:00:00Z"


def swapping(**more: object) -> System:
    memory = Memory(total=16 * GIB, swap_total=GIB)
    return system(the_host=host(memory_facts=memory, sysctls={"vm.swappiness": "60"}, **more))


def test_findings_come_in_the_order_of_their_severity() -> None:
    severities = [found.severity for found in advise(swapping(), NOW).findings]
    assert severities == sorted(severities, reverse=True)


def test_every_rule_is_listed_once() -> None:
    from mydyno.advisor import RULES

    advice = advise(swapping(), NOW)
    lines = [each.rule for each in (*advice.findings, *advice.silent)]
    assert sorted(lines) == [rule.id for rule in RULES]


def test_what_must_not_be_changed_here_is_left_to_be_made_by_hand_with_the_reason() -> None:
    change = SetSysctl(name="vm.swappiness", value="1", was="60")
    finding = Finding(
        rule="swappiness",
        title="",
        evidence=(),
        recommendation="",
        changes=(change,),
        severity=Severity.LOW,
        effect=Effect(aspect="stability", direction="better", size="small", says=""),
    )
    assert allowed(swapping(), finding).changes == (change,)
    (by_hand,) = allowed(swapping(container=True), finding).changes
    assert isinstance(by_hand, ByHand)
    assert by_hand.says.startswith(
        "vm.swappiness = 1 (now 60): not done by mydyno, because the server runs in a container"
    )


def test_advice_is_read_back_as_it_was_written() -> None:
    advice = advise(swapping(), NOW)
    assert advice.findings
    assert read_advice(advice.to_json(), "advice.json") == advice


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "advice.json is not an advice file of mydyno: the file: Invalid JSON"),
        ("[]", "advice.json is not an advice file of mydyno"),
        ('{"mydyno": "0.1.0"}', "made_at: Field required"),
        ('{"format": 99, "mydyno": "7.0"}', r"advice.json was written by a newer mydyno \(7.0\)"),
    ],
)
def test_another_file_is_refused_with_what_is_wrong(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        read_advice(text, "advice.json")


def test_an_unknown_key_is_refused() -> None:
    written = json.loads(advise(swapping(), NOW).to_json())
    written["findings"][0]["changes"][0]["vlaue"] = "2"
    with pytest.raises(UsageError, match="vlaue"):
        read_advice(json.dumps(written), "advice.json")
