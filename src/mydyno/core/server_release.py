"""The names of server releases: `system`, those that can be had, and a user's own builds."""

import re

SYSTEM = "system"
"""The server that this machine has."""

LONGEST_NAME = 64
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
"""A name is a folder's name in the cache and a level in tables and charts."""

NAME_RULE = (
    f"up to {LONGEST_NAME} letters, digits, dots, dashes and underscores, as mariadb-10.11 or my-build"
)


def is_release_name(name: str) -> bool:
    """Whether a release may be called that."""
    return len(name) <= LONGEST_NAME and re.match(NAME_PATTERN, name) is not None and not name.endswith("\n")


def likely_name(name: str) -> str | None:
    """A name that may have been meant by one that is none; None when none suggests itself."""
    folded = re.sub(r"[^A-Za-z0-9._]+", "-", name.strip()).strip("-._")
    return folded.lower() if is_release_name(folded.lower()) else None
