"""PyMySQL has what the client builds on: its inside, which a release may change without a word."""

from __future__ import annotations

import ast
from pathlib import Path

from mydyno.server.access import pymysql_internals
from mydyno.server.access.pymysql_internals import Packet, Result, Session


def described(name: str) -> list[str]:
    """The methods of a class as `pymysql_internals` describes them to the type checker."""
    tree = ast.parse(Path(str(pymysql_internals.__file__)).read_text())
    (found,) = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == name)
    return [node.name for node in found.body if isinstance(node, ast.FunctionDef)]


def test_the_inside_of_pymysql_has_the_methods_that_the_client_calls_and_replaces() -> None:
    for name, real in (("Packet", Packet), ("Session", Session), ("Result", Result)):
        methods = described(name)
        assert methods
        assert [method for method in methods if not callable(getattr(real, method, None))] == []
