"""Where the table and a server's own list of options disagree."""

from __future__ import annotations

from collections.abc import Iterable

from mydyno.core.server_version import Version
from mydyno.server.variables import catalogue


def disagreements(version: Version, listed: Iterable[str]) -> list[str]:
    """One sentence for each variable of the table; a plugin's may be listed or not."""
    known = frozenset(listed)
    found = []
    for name, row in catalogue().variables.items():
        if row.where == "running" and name in known:
            found.append(f"{version} lists {name}, which the table takes for one of a running server alone")
        if row.where == "option" and row.there(version) != (name in known):
            lists = "lists" if name in known else "does not list"
            found.append(f"{version} {lists} {name}: {row.history()}")
    return found
