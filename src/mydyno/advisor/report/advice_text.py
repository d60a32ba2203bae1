"""Advice as a page for a terminal: what was read, what was found, what to set, and what to do next."""

from collections import Counter
from collections.abc import Iterator, Sequence

from mydyno.advisor import Advice
from mydyno.advisor.names import sentence, value_text
from mydyno.advisor.report.system_text import system_lines
from mydyno.apply.change import (
    ByHand,
    Change,
    RemoveVariable,
    SetArray,
    SetMountOptions,
    SetQueue,
    SetSysctl,
    SetSysfs,
    SetUnit,
    SetVariable,
)
from mydyno.apply.finding import Finding, Severity
from mydyno.core.plurals import counted, plural
from mydyno.page.lines import Line, Style, wrapped
from mydyno.survey.facts import System, missing_rights

_LABEL = 12
_STYLES: dict[Severity, Style] = {
    Severity.CRITICAL: "critical",
    Severity.HIGH: "high",
    Severity.MEDIUM: "medium",
    Severity.LOW: "low",
}
_WITHHELD = 12
"""So many missing facts are shown; the rest is counted."""
_BUDGET = "the whole memory budget is shown below"


def advice_lines(
    advice: Advice, system: System, width: int, everything: bool = False, file: str | None = None
) -> Iterator[Line]:
    """The page. `everything`: also why the other rules have no finding; `file`: where the JSON was
    written."""
    for text in system_lines(system):
        yield from wrapped(text, width, rest="  ")
    yield Line()
    yield from wrapped(summary(advice), width, style="heading")
    for severity, findings in by_severity(advice):
        yield Line()
        yield Line(severity.label.upper(), _STYLES[severity])
        for number, finding in findings:
            yield Line()
            yield from _finding(number, finding, advice.memory, width)
    changes = [change for finding in advice.findings for change in finding.changes]
    if changes:
        yield from _section("All changes, as lines of files")
        yield from change_lines(changes, width)
    if advice.memory:
        yield from _section("Memory with all changes made")
        for text in advice.memory:
            indent = " " * (2 + len(text) - len(text.lstrip()))
            yield from wrapped(text, width, first=indent, rest=f"{indent}    ")
    if everything:
        yield from _silent(advice, width)
    yield from _withheld(advice, width, everything)
    if advice.unread:
        yield from _section("Not read")
        for unread in advice.unread:
            hint = f" (hint: {unread.hint})" if unread.hint else ""
            yield from wrapped(f"{unread.what}: {unread.why}{hint}", width, first="  ", rest="    ")
    yield from _rights(advice, width)
    yield from _next(advice, width, everything, file)


def summary(advice: Advice) -> str:
    """`9 findings: 2 high, 7 low. Of 61 rules 40 passed, ...`"""
    total, severities = len(advice.findings), Counter(finding.severity for finding in advice.findings)
    findings = sorted(severities.items(), reverse=True)
    parts = ", ".join(f"{times} {severity.label}" for severity, times in findings)
    text = f"{counted(total, 'finding')}: {parts}." if total else "No findings."
    outcomes = Counter(reasons.outcome for reasons in advice.silent)
    return (
        f"{text} Of {total + len(advice.silent)} rules {outcomes['fine']} passed,"
        f" {outcomes['not here']} do not apply here, {outcomes['unknown']} lack facts."
    )


def by_severity(advice: Advice) -> Iterator[tuple[Severity, list[tuple[int, Finding]]]]:
    """The severities that there are, the highest first, each with its findings and their numbers from 1."""
    numbered = list(enumerate(sorted(advice.findings, key=lambda each: -each.severity), 1))
    for severity in sorted(Severity, reverse=True):
        if findings := [each for each in numbered if each[1].severity is severity]:
            yield severity, findings


def _finding(number: int, finding: Finding, budget: Sequence[str], width: int) -> Iterator[Line]:
    yield from wrapped(finding.title, width, first=f"{number:3}. ", style=_STYLES[finding.severity])
    evidence = [text for text in finding.evidence if text not in budget]
    if len(evidence) < len(finding.evidence):
        evidence.append(_BUDGET)
    for text in evidence:
        yield from wrapped(text, width, first="       ", rest="         ")
    yield from _labelled("do", finding.recommendation, width)
    for change in finding.changes:
        yield from _change(change, width)
    for label, text in details(finding):
        yield from _labelled(label, text, width)
    yield from _labelled("rule", finding.rule, width, "faint")


def details(finding: Finding) -> Iterator[tuple[str, str]]:
    """What following it brings, costs and takes, each with its label."""
    yield "brings", _effect(finding)
    if finding.durability != "keeps" or finding.durability_says:
        yield "durability", finding.durability_says or f"{finding.durability} it"
    if finding.risk:
        yield "risk", finding.risk
    if finding.restart or any(
        isinstance(change, SetVariable) and change.restart for change in finding.changes
    ):
        yield "restart", "required for all changes to take effect"


def _effect(finding: Finding) -> str:
    effect = finding.effect
    how = {"better": "better", "worse": "worse", "none": "unchanged"}[effect.direction]
    return f"{effect.aspect} {how}, {effect.size}: {effect.says}"


def _labelled(label: str, text: str, width: int, style: Style = "plain") -> Iterator[Line]:
    indent = " " * (5 + _LABEL)
    yield from wrapped(text, width, first=f"     {label:{_LABEL}}", rest=indent, style=style)


def _change(change: Change, width: int) -> Iterator[Line]:
    first, *commands = steps(change)
    indent = " " * (5 + _LABEL)
    yield from wrapped(first, width, first=indent, rest=f"{indent}  ", style="do")
    for command in commands:
        yield from wrapped(command, width, first=f"{indent}  ", rest=f"{indent}    ", style="do")


def steps(change: Change) -> tuple[str, ...]:
    """What is to be done, and the commands of what is done by hand."""
    if isinstance(change, ByHand):
        return (f"by hand: {change.says}", *change.commands)
    return (sentence(change),)


def change_lines(changes: Sequence[Change], width: int) -> Iterator[Line]:
    """Every line as it is in the file that it goes to, to be copied."""
    variables = [change for change in changes if isinstance(change, SetVariable)]
    if variables:
        yield Line("  [mysqld]", "do")
        texts = [f"{variable.name} = {value_text(variable.name, variable.value)}" for variable in variables]
        longest = max(map(len, texts))
        for text, variable in zip(texts, variables, strict=True):
            was = (
                f"now {value_text(variable.name, variable.was) or 'empty'}"
                if variable.was is not None
                else "new"
            )
            late = ", needs a restart" if variable.restart else ""
            yield Line(f"  {text:{longest}}   # {was}{late}", "do")
    for change in changes:
        if (line := _line(change)) is not None:
            yield from wrapped(line, width, first="  ", rest="    ", style="do")
    by_hand = sum(isinstance(change, ByHand) for change in changes)
    if by_hand:
        yield Line(f"  and {counted(by_hand, 'step')} by hand, as shown above")


def _line(change: Change) -> str | None:
    match change:
        case SetVariable() | ByHand():
            return None
        case RemoveVariable():
            return sentence(change)
        case SetSysctl(name=name, value=value):
            return f"sysctl.d: {name} = {value}"
        case SetQueue(disk=disk, attribute=attribute, value=value):
            return f"udev: /sys/block/{disk}/queue/{attribute} = {value}"
        case SetArray(array=array, attribute=attribute, value=value):
            return f"udev: /sys/block/{array}/md/{attribute} = {value}"
        case SetMountOptions():
            return f"fstab: {sentence(change)}"
        case SetUnit(unit=unit, name=name, value=value):
            return f"{unit}: {name}={value}"
        case SetSysfs(path=path, value=value):
            return f"tmpfiles.d: {path} = {value}"


_OUTCOMES = {"fine": "Passed", "not here": "Does not apply here"}


def _silent(advice: Advice, width: int) -> Iterator[Line]:
    for outcome, title in _OUTCOMES.items():
        reasons = [reason for reason in advice.silent if reason.outcome == outcome]
        if reasons:
            yield from _section(title)
        for reason in reasons:
            yield from wrapped(reason.because, width, first=f"  {reason.rule:28} ", rest=" " * 31)


def missing_facts(advice: Advice) -> list[tuple[str, list[str]]]:
    """What the rules that could not judge lack, and which these are: what most of them lack comes first."""
    rules: dict[str, list[str]] = {}
    for reason in advice.silent:
        if reason.outcome == "unknown":
            rules.setdefault(reason.because, []).append(reason.rule)
    return sorted(rules.items(), key=lambda reason: -len(reason[1]))


def _withheld(advice: Advice, width: int, everything: bool) -> Iterator[Line]:
    ordered = missing_facts(advice)
    if ordered:
        yield from _section("Withheld for lack of")
    shown = ordered if everything else ordered[:_WITHHELD]
    for missing, names in shown:
        yield from wrapped(f"{missing}: {', '.join(names)}", width, first="  ", rest="    ")
    if left := sum(len(names) for _, names in ordered[len(shown) :]):
        yield Line(f"  and {left} more {plural(left, 'rule')}: see --all")


def _rights(advice: Advice, width: int) -> Iterator[Line]:
    statements = missing_rights(advice.unread)
    if statements:
        yield from _section("Missing privileges of the account")
    for statement, adds in statements.items():
        yield from wrapped(f"{statement} -- adds {', '.join(adds)}", width, first="  ", rest="    ")


def _next(advice: Advice, width: int, everything: bool, file: str | None) -> Iterator[Line]:
    yield from _section("Next")
    steps: list[tuple[str, str]] = []
    if advice.findings:
        name = file or "advice.json"
        if file is None:
            steps.append(("mydyno advise ... --out advice.json", "save this advice"))
        steps += [
            (f"mydyno apply {name} --dry-run", "show what would be written and set, as a diff"),
            (f"mydyno prove {name} --workload oltp-read-write", "measure the effect, before and after"),
            (f"mydyno rules show {advice.findings[0].rule}", "the reasons in detail, with sources"),
        ]
    if not everything:
        steps.append(("mydyno advise ... --all", "also why the other rules have no finding"))
    for command, what in steps:
        yield Line(f"  {command}")
        yield from wrapped(what, width, first="      ", style="faint")


def _section(title: str) -> Iterator[Line]:
    yield Line()
    yield Line(title, "heading")
