"""YAML values that are expressions: numbers as they are, texts compiled."""

from __future__ import annotations

from mydyno.lab.workload.constants import Constant, Expression, checked, is_constant
from mydyno.lab.workload.expressions import compile_text
from mydyno.lab.workload.names import Names
from mydyno.lab.workload.written import Written


def compile_written(written: Written, names: Names, what: str) -> Expression:
    """The expression that a YAML value is: a number as it is, a text as an expression. Raises Wrong."""
    if written.is_list or written.is_mapping:
        raise written.wrong(f"{what} is not an expression", allowed="a number or an expression")
    value = written.scalar
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | float):
        try:
            return checked(value)
        except TypeError as error:
            raise written.wrong(str(error)) from None
    if value is None:
        if written.describe():
            return None
        raise written.wrong_key(f"{what} has no value", allowed="a number or an expression")
    return compile_text(written, value, 0, names)


def constant_of(written: Written, names: Names, what: str) -> Constant:
    """As `compile_written`, for what has to be known before the run."""
    expression = compile_written(written, names, what)
    if not is_constant(expression):
        raise written.wrong(f"{what} must be known before the run", allowed="options and constants")
    constant: Constant = expression
    return constant


def number_of(written: Written, names: Names, what: str, at_least: int = 0) -> int:
    """A whole number that is known before the run. Raises Wrong."""
    constant = constant_of(written, names, what)
    if not isinstance(constant, int):
        raise written.wrong(f"{what} is not a whole number", allowed="a whole number")
    if constant < at_least:
        got = "" if str(constant) == written.describe() else f", as it is {constant}"
        raise written.wrong(f"{what} is too small{got}", allowed=f"{at_least:,} or more")
    return constant
