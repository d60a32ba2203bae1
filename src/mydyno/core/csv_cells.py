"""Texts of CSV files that a spreadsheet must not run as formulas.

A cell that begins with `=`, `+`, `-`, `@`, a tab or a line's end is a formula to a spreadsheet; an apostrophe
in front makes it text (OWASP, "CSV Injection"). Numbers stay as they are.
"""

import re

FORMULA = r"^[=+\-@\t\r\n]"
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
"""Both in what Python's and Rust's regular expressions have in common."""


def csv_cell(text: str) -> str:
    """`text` as it is written into a cell."""
    is_formula = re.match(FORMULA, text) and not re.fullmatch(NUMBER[1:-1], text)
    return f"'{text}" if is_formula else text
