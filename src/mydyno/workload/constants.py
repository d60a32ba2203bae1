"""Arithmetic on values that are known before a run: options and what is worked out from them.

The rules are those of the engine, so that it makes no difference when an expression is worked out:
whole numbers divide downwards, a division by zero gives null, a comparison gives 1 or 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

Constant: TypeAlias = int | float | str | None
Expression: TypeAlias = Any
"""A constant, or a list that begins with an operator's name (docs/engine-protocol.md)."""


def is_constant(expression: Expression) -> bool:
    return not isinstance(expression, list)


def truth(value: Constant) -> bool:
    """Whether a condition holds: neither null, zero nor an empty text."""
    return bool(value)


def as_text(value: Constant) -> str:
    """How a constant looks in SQL when it is put there as it is."""
    return "NULL" if value is None else str(value)


def _compare(test: Callable[[Any, Any], bool]) -> Callable[..., Constant]:
    def compared(one: Constant, other: Constant) -> Constant:
        if one is None or other is None:
            return None
        return int(test(one, other))

    return compared


def _calculate(work: Callable[[Any, Any], Constant]) -> Callable[..., Constant]:
    def calculated(one: Constant, other: Constant) -> Constant:
        if one is None or other is None:
            return None
        if isinstance(one, str) or isinstance(other, str):
            raise TypeError("a text cannot be calculated with")
        try:
            return work(one, other)
        except ZeroDivisionError:
            return None

    return calculated


def _concat(*values: Constant) -> Constant:
    return "".join("" if value is None else str(value) for value in values)


_FOLDS: dict[str, Callable[..., Constant]] = {
    "+": _calculate(lambda a, b: a + b),
    "-": _calculate(lambda a, b: a - b),
    "*": _calculate(lambda a, b: a * b),
    "//": _calculate(lambda a, b: a // b),
    "%": _calculate(lambda a, b: a % b),
    "/": _calculate(lambda a, b: a / b),
    "min": _calculate(min),
    "max": _calculate(max),
    "<": _compare(lambda a, b: a < b),
    "<=": _compare(lambda a, b: a <= b),
    "==": _compare(lambda a, b: a == b),
    "!=": _compare(lambda a, b: a != b),
    "and": lambda a, b: int(truth(a) and truth(b)),
    "or": lambda a, b: int(truth(a) or truth(b)),
    "not": lambda a: int(not truth(a)),
    "concat": _concat,
    "times": lambda n, text: str(text) * n,
    "pad": lambda a, width, char: str(a).rjust(width, char),
    "substring": lambda text, start, length: str(text)[start : start + length],
}


def operation(name: str, *operands: Expression) -> Expression:
    """The operation, worked out when all operands are constants. Raises TypeError for a senseless one."""
    if name in _FOLDS and all(is_constant(operand) for operand in operands):
        return _FOLDS[name](*operands)
    if name == "and" and any(is_constant(operand) and not truth(operand) for operand in operands):
        return 0
    if name == "or" and any(is_constant(operand) and truth(operand) for operand in operands):
        return 1
    return [name, *operands]


def choice(condition: Expression, then: Expression, otherwise: Expression) -> Expression:
    """`then if condition else otherwise`, decided when the condition is a constant."""
    if is_constant(condition):
        return then if truth(condition) else otherwise
    return ["if", condition, then, otherwise]
