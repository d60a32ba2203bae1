"""Documents in the JSON syntax of OpenTofu and Terraform, in which text stays text.

JSON escapes quotes and newlines. What it leaves is the template language: in a string `${` begins an
expression and `%{` a directive, and `$${` and `%%{` stand for them (OpenTofu, JSON Configuration Syntax;
Strings and Templates). So whatever is not an `Expression` is escaped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Expression:
    """Code, never made of anything that an experiment or a command line says."""

    code: str


@dataclass(frozen=True)
class Joined:
    """One string of several parts."""

    parts: tuple[str | Expression, ...]


Value: TypeAlias = "str | int | bool | Expression | Joined | list[Value] | Mapping[str, Value]"


def rendered(document: Mapping[str, Value]) -> str:
    """The text of a .tf.json file."""
    return json.dumps(_plain(document), indent=2, ensure_ascii=False) + "\n"


def literal(text: str) -> str:
    """`text` as a string of the file has it, before the escapes of JSON."""
    return text.replace("${", "$${").replace("%{", "%%{")


def _plain(value: Value) -> Any:
    if isinstance(value, Expression):
        return "${" + value.code + "}"
    if isinstance(value, Joined):
        return "".join(map(_part, value.parts))
    if isinstance(value, str):
        return literal(value)
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def _part(part: str | Expression) -> str:
    if isinstance(part, Expression):
        return "${" + part.code + "}"
    # A dollar in front of the next part's `${` would escape that one.
    text = part.rstrip("$")
    return literal(text) + ("${" + json.dumps(part[len(text) :]) + "}" if part != text else "")
