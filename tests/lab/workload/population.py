"""The rows of a program's tables as Python makes them: the engine's expressions, as far as tables need them.

Not the engine's random numbers: what is tested with these rows must hold whatever is drawn.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from typing import Any

Row = dict[str, Any]
DIGITS, LETTERS = "0123456789", "abcdefghijklmnopqrstuvwxyz"


def rows(program: dict[str, Any], table: str, seed: int = 1) -> Iterator[Row]:
    """The rows of a table in the order in which they are loaded."""
    [declared] = [each for each in program["tables"] if each["name"] == table]
    machine = _Machine(program, random.Random(seed))
    for number in range(1, declared["rows"] + 1):
        machine.row = number
        for name, expression in declared["let"]:
            machine.registers[name] = machine.value(expression)
        yield dict(zip(declared["columns"], map(machine.value, declared["row"]), strict=True))


@cache
def _order(n: int, key: int) -> list[int]:
    """Some order of 0..n-1 for each key."""
    numbers = list(range(n))
    random.Random(key).shuffle(numbers)
    return numbers


class _Machine:
    def __init__(self, program: dict[str, Any], drawn: random.Random) -> None:
        self.values = program["values"]
        self.dictionaries = program["dictionaries"]
        self.drawn = drawn
        self.registers: dict[str, Any] = {}
        self.row = 0

    def value(self, expression: Any) -> Any:
        if not isinstance(expression, list):
            return expression
        operator, *operands = expression
        if operator == "if":
            condition, then, otherwise = operands
            return self.value(then if self.value(condition) else otherwise)
        if operator in ("row", "var", "draw", "word"):
            return self._named(operator, operands)
        return self._calculated(operator, *map(self.value, operands))

    def _named(self, operator: str, operands: list[Any]) -> Any:
        if operator == "row":
            return self.row
        name = operands[0]
        if operator == "var":
            return self.registers[name]
        if operator == "draw":
            self.registers[name] = self.value(self.values[name])
            return self.registers[name]
        words = self.dictionaries[name]["words"]
        return words[self.value(operands[1]) % len(words)]

    def _calculated(self, operator: str, *operands: Any) -> Any:
        drawn = self.drawn
        match operator, operands:
            case "+", (a, b):
                return a + b
            case "-", (a, b):
                return a - b
            case "*", (a, b):
                return a * b
            case "//", (a, b):
                return a // b
            case "%", (a, b):
                return a % b
            case "<", (a, b):
                return int(a < b)
            case "<=", (a, b):
                return int(a <= b)
            case "==", (a, b):
                return int(a == b)
            case "concat", texts:
                return "".join(map(str, texts))
            case "decimal", (number, places):
                return Decimal(number).scaleb(-places)
            case "uniform", (low, high):
                return drawn.randint(low, high)
            case "nurand", (a, low, high, c):
                return ((drawn.randint(0, a) | drawn.randint(low, high)) + c) % (high - low + 1) + low
            case "letters", (least, most, alphabet):
                return "".join(drawn.choices(alphabet, k=drawn.randint(least, most)))
            case "pattern", (shape,):
                letters = re.sub("#", lambda _: drawn.choice(DIGITS), shape)
                return re.sub("@", lambda _: drawn.choice(LETTERS), letters)
            case "permute", (index, n, key):
                return _order(n, key)[index % n]
        raise AssertionError(f"no rule here for {operator} with {len(operands)} operands")
