"""Places of options, as people read them, and whose they are."""

import posixpath

from mydyno.survey.facts import Origin


def place(origin: Origin) -> str:
    """`/etc/mysql/my.cnf:12`, or the kind of its source."""
    if origin.file is None:
        return "an option file" if origin.source == "file" else f"the {origin.source} value"
    return f"{origin.file}:{origin.line}" if origin.line else origin.file


def is_ours(where: str) -> bool:
    """Whether the file of a place is one that `mydyno apply` wrote: they bear its name."""
    return "mydyno" in posixpath.basename(where)
