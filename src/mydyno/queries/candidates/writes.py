"""How often the statements of a digest write a table: every index is paid for by writes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from mydyno.queries.records import Group

_NAME = r"(?:(?:`(?:[^`]|``)+`|[^\s`.(,]+)\s*\.\s*)?(`(?:[^`]|``)+`|[^\s`.(,;]+)"
_WRITE = re.compile(
    r"\s*(?:(?:insert|replace)(?:\s+(?:low_priority|delayed|high_priority|ignore))*(?:\s+into)?"
    r"|update(?:\s+(?:low_priority|ignore))*|delete(?:\s+(?:low_priority|quick|ignore))*\s+from)\s+" + _NAME,
    re.IGNORECASE,
)


def writes(groups: Iterable[Group]) -> Counter[str]:
    """Statements that insert, change or delete, by the table's name in lower case without its database."""
    counted: Counter[str] = Counter()
    for group in groups:
        if (write := _WRITE.match(group.fingerprint)) is not None:
            name = write[1]
            if name.startswith("`"):
                name = name[1:-1].replace("``", "`")
            counted[name.casefold()] += group.count
    return counted
