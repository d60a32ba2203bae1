"""What a program amounts to on average: statements of an event, lengths of texts.

Exact for everything that constants and uniform draws decide; an unknown condition counts half.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

from mydyno.lab.workload.constants import Expression, is_constant

UNKNOWN_CHANCE = 0.5
Counts: TypeAlias = dict[str, float]
"""Statements by name."""


def statements_per_event(program: Mapping[str, Any]) -> float:
    """The mean number of statements that an event sends when nothing fails."""
    transactions = program["transactions"]
    weights = sum(each["weight"] for each in transactions)
    counts = statement_counts(program)
    total = sum(each["weight"] * sum(counts[each["name"]].values()) for each in transactions)
    return float(total / weights)


def statement_counts(program: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """For each transaction: how often it sends each statement, on average; in the order of the event."""
    counts = {}
    for transaction in program["transactions"]:
        sent: Counts = {}
        _count(transaction["steps"], 1.0, sent, program["values"], {})
        counts[transaction["name"]] = sent
    return counts


def _count(
    steps: list[dict[str, Any]],
    times: float,
    sent: Counts,
    values: Mapping[str, Expression],
    bound: dict[str, Expression],
) -> None:
    """Adds what `steps`, done `times` times, send to `sent`."""

    def inside(steps: list[dict[str, Any]], share: float) -> None:
        _count(steps, times * share, sent, values, dict(bound))

    for step in steps:
        [(kind, body)] = step.items()
        if kind == "send":
            sent[body["name"]] = sent.get(body["name"], 0.0) + times
        elif kind == "let":
            bound[body[0]] = body[1]
        elif kind == "repeat":
            passes = mean(body["times"], values, bound)
            inside(body["steps"], 1.0 if passes is None else max(passes, 0.0))
        elif kind == "when":
            chance = probability(body["if"], values, bound)
            inside(body["steps"], chance)
            inside(body.get("else", []), 1 - chance)
        elif kind == "mix":
            weights = sum(each["weight"] for each in body)
            for each in body:
                inside(each["steps"], each["weight"] / weights)


def mean(
    expression: Expression, values: Mapping[str, Expression], bound: Mapping[str, Expression]
) -> float | None:
    """The mean of a number; None when nothing is known of it."""
    if is_constant(expression):
        return float(expression) if isinstance(expression, int | float) else None
    name, *operands = expression
    if name == "var" and operands[0] in bound:
        return mean(bound[operands[0]], values, {})
    if name == "draw":
        return mean(values[operands[0]], values, bound)
    if name in ("uniform", "gaussian", "special", "special-corrected", "special-0.4"):
        low, high = (mean(each, values, bound) for each in operands[:2])
        return None if low is None or high is None else (low + high) / 2
    if name == "if":
        chance = probability(operands[0], values, bound)
        then, otherwise = (mean(each, values, bound) for each in operands[1:])
        return None if then is None or otherwise is None else chance * then + (1 - chance) * otherwise
    if name in ("+", "-"):
        one, other = (mean(each, values, bound) for each in operands)
        if one is None or other is None:
            return None
        return one + other if name == "+" else one - other
    return None


def probability(
    condition: Expression, values: Mapping[str, Expression], bound: Mapping[str, Expression]
) -> float:
    """How likely a condition holds."""
    if is_constant(condition):
        return 1.0 if condition else 0.0
    name, *operands = condition
    if name == "not":
        return 1 - probability(operands[0], values, bound)
    if name in ("var", "draw"):
        known = bound.get(operands[0]) if name == "var" else values.get(operands[0])
        return UNKNOWN_CHANCE if known is None else probability(known, values, {})
    if name in ("and", "or"):
        one, other = (probability(each, values, bound) for each in operands)
        return one * other if name == "and" else one + other - one * other
    if name in ("<", "<=", "==", "!="):
        return _compared(name, *(_followed(each, values, bound) for each in operands))
    return UNKNOWN_CHANCE


def _followed(
    expression: Expression, values: Mapping[str, Expression], bound: Mapping[str, Expression]
) -> Expression:
    """The expression that a name stands for."""
    while not is_constant(expression) and expression[0] in ("var", "draw"):
        table = bound if expression[0] == "var" else values
        if expression[1] not in table:
            return expression
        expression = table[expression[1]]
    return expression


def _compared(name: str, one: Expression, other: Expression) -> float:
    """The chance that a uniform whole number compares so with a constant."""
    if is_constant(one) and not is_constant(other):
        mirrored = {"<": ">", "<=": ">="}.get(name, name)
        return _compared(mirrored, other, one)
    if is_constant(one) or one[0] != "uniform" or not isinstance(other, int | float):
        return UNKNOWN_CHANCE
    low, high = one[1], one[2]
    if not isinstance(low, int) or not isinstance(high, int):
        return UNKNOWN_CHANCE
    count = high - low + 1

    def below(bound: float) -> float:
        return min(max(bound - low, 0), count) / count

    chances = {"<": below(other), "<=": below(other + 1), ">": 1 - below(other + 1), ">=": 1 - below(other)}
    if name in chances:
        return chances[name]
    equal = 1 / count if low <= other <= high else 0.0
    return equal if name == "==" else 1 - equal


def mean_length(expression: Expression, bound: Mapping[str, Expression]) -> float | None:
    """The mean number of characters of a text; None when nothing is known of it."""
    if is_constant(expression):
        return 0.0 if expression is None else float(len(str(expression)))
    name, *operands = expression
    if name == "pattern":
        return float(len(operands[0]))
    if name == "letters" and is_constant(operands[0]) and is_constant(operands[1]):
        return float(operands[0] + operands[1]) / 2
    if name in ("row", "uniform"):
        return 6.0
    if name == "var" and operands[0] in bound:
        return mean_length(bound[operands[0]], {})
    if name == "concat":
        lengths = [mean_length(each, bound) for each in operands]
        return None if None in lengths else sum(each for each in lengths if each is not None)
    if name == "times" and is_constant(operands[0]):
        length = mean_length(operands[1], bound)
        return None if length is None else operands[0] * length
    if name == "pad" and is_constant(operands[1]):
        return float(operands[1])
    if name == "if":
        lengths = [mean_length(each, bound) for each in operands[1:]]
        return None if None in lengths else sum(each for each in lengths if each is not None) / 2
    return None
