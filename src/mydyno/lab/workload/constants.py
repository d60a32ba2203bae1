"""Arithmetic on values that are known before a run: options and what is worked out from them.

The rules are those of the engine, so that it makes no difference when an expression is worked out:
whole numbers divide downwards, a division by zero gives null, a comparison gives 1 or 0.
"""

import math
import operator
import re
from collections.abc import Callable
from typing import Any, TypeAlias

_LONGEST_TEXT = 1 << 20
Constant: TypeAlias = int | float | str | None
Expression: TypeAlias = Any
"""A constant, or a list that begins with an operator's name (docs/reference/engine-protocol.md)."""


def is_constant(expression: Expression) -> bool:
    return not isinstance(expression, list)


def uses(expression: Expression, operator: str) -> bool:
    """Whether an operator such as `connection` is anywhere in the expression."""
    if is_constant(expression):
        return False
    return bool(expression[0] == operator) or any(uses(each, operator) for each in expression[1:])


def truth(value: Constant) -> bool:
    """Whether a condition holds: a number other than 0, or a text that spells one."""
    number = _number(value)
    return number is not None and number != 0


def as_text(value: Constant) -> str:
    """How a constant looks in SQL when it is put there as it is."""
    return "NULL" if value is None else str(value)


def checked(value: Constant) -> Constant:
    """The value. Raises TypeError for one that the engine has no place for."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise TypeError("this is more than 64 bits can hold")
    if isinstance(value, float) and not math.isfinite(value):
        raise TypeError("this is not a finite number")
    if isinstance(value, str) and len(value) > _LONGEST_TEXT:
        raise TypeError("the text is too long")
    return value


def _number(value: Constant) -> int | float | None:
    """The number that a value is or that its text spells."""
    if not isinstance(value, str):
        return value
    if not re.fullmatch(r"\s*[-+0-9.eE]+\s*", value):
        return None
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return None


def _compare(test: Callable[[Any, Any], bool]) -> Callable[..., Constant]:
    """Numbers, also spelt ones, by size, texts by their bytes; null equals null and has no other order."""

    def compared(one: Constant, other: Constant) -> Constant:
        if one is None or other is None:
            return int(test(0, 0)) if one is other else int(test is operator.ne)
        numbers = (_number(one), _number(other))
        if None not in numbers:
            return int(test(*numbers))
        return int(test(str(one).encode(), str(other).encode()))

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


def _times(count: Constant, text: Constant) -> Constant:
    if not isinstance(count, int) or count * len(str(text)) > _LONGEST_TEXT:
        raise TypeError("the text is too long" if isinstance(count, int) else "n is not a whole number")
    return str(text) * count


def _pad(value: Constant, width: Constant, filler: Constant) -> Constant:
    if not isinstance(width, int) or width > _LONGEST_TEXT:
        raise TypeError("this is not a width")
    return None if value is None else str(value).rjust(width, str(filler))


def _substring(text: Constant, start: Constant, length: Constant) -> Constant:
    if not isinstance(start, int) or not isinstance(length, int) or start < 0 or length < 0:
        raise TypeError("start and length are whole numbers from 0")
    return None if text is None else str(text)[start : start + length]


_FOLDS: dict[str, Callable[..., Constant]] = {
    "+": _calculate(lambda a, b: a + b),
    "-": _calculate(lambda a, b: a - b),
    "*": _calculate(lambda a, b: a * b),
    "//": _calculate(lambda a, b: a // b),
    "%": _calculate(lambda a, b: a % b),
    "/": _calculate(lambda a, b: a / b),
    "min": _calculate(min),
    "max": _calculate(max),
    "<": _compare(operator.lt),
    "<=": _compare(operator.le),
    "==": _compare(operator.eq),
    "!=": _compare(operator.ne),
    "and": lambda a, b: int(truth(a) and truth(b)),
    "or": lambda a, b: int(truth(a) or truth(b)),
    "not": lambda a: int(not truth(a)),
    "concat": _concat,
    "times": _times,
    "pad": _pad,
    "substring": _substring,
}


def operation(name: str, *operands: Expression) -> Expression:
    """The operation, worked out when all operands are constants. Raises TypeError for a senseless one."""
    if name in _FOLDS and all(is_constant(operand) for operand in operands):
        return checked(_FOLDS[name](*operands))
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
