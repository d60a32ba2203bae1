"""Identifiers as statements have them."""

from __future__ import annotations


def quote(name: str) -> str:
    """An identifier between backticks (MySQL Reference Manual, "Schema Object Names")."""
    return "`" + name.replace("`", "``") + "`"
