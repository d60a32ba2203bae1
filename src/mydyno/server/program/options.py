"""What a server binary says of its options: `--no-defaults --verbose --help`, parsed."""

from __future__ import annotations

import re
from collections.abc import Mapping

from mydyno.core.errors import ServerError
from mydyno.core.server_variables import option_name

_RULE = re.compile(r"^-{10,} -{5,}\s*$", re.MULTILINE)
_NO_DEFAULT = "(No default value)"


def parse_options(help_text: str) -> Mapping[str, str | None]:
    """Option names with their defaults (None: the server has none) from the table that ends the help.

    The table's first column is as wide as its longest name and the second runs to the end of the
    line. Raises ServerError when there is no such table or it is not a server's.
    """
    rule = _RULE.search(help_text)
    options: dict[str, str | None] = {}
    if rule is not None:
        for line in help_text[rule.end() + 1 :].splitlines():
            if not line.strip():
                break
            name, _, value = line.partition(" ")
            options[option_name(name)] = None if value.strip() == _NO_DEFAULT else value.strip()
    if "datadir" not in options or "max_connections" not in options:
        raise ServerError("not a MySQL or MariaDB server: its --verbose --help lists no server options")
    return options
