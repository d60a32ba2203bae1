"""Functions are short enough to be read on one screen."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import mydyno

LINES = 60
"""A function has fewer."""
SRC = Path(mydyno.__file__).parent


def long_functions(text: str) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines >= LINES:
                yield node.name, lines


def test_every_function_fits_on_a_screen() -> None:
    files = list(SRC.rglob("*.py"))
    assert files
    too_long = [
        f"{file.relative_to(SRC)}: {name} has {lines} lines"
        for file in files
        for name, lines in long_functions(file.read_text())
    ]
    assert too_long == []


def test_a_function_of_sixty_lines_is_too_long_and_one_of_fifty_nine_is_not() -> None:
    def text(lines: int) -> str:
        return "\n".join(["def one():", *["    pass"] * (lines - 1)])

    assert list(long_functions(text(60))) == [("one", 60)]
    assert list(long_functions(text(59))) == []
