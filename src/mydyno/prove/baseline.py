"""The settings that a private server shares with the advised one, besides those that the advice changes."""

from collections.abc import Iterable

from mydyno.advisor.excerpt import SETTINGS
from mydyno.prove.ground import Ground
from mydyno.prove.shape import scaled_value
from mydyno.survey.facts import Server

_INSTEAD = {
    # Both are shown where the newer one counts (MySQL 8.0.30 and later); two names of one thing are refused.
    "innodb_log_file_size": "innodb_redo_log_capacity",
    "innodb_log_files_in_group": "innodb_redo_log_capacity",
    "tx_isolation": "transaction_isolation",
}


_AS_SHIPPED = ("compiled", "computed")
"""Origins of a value that was not set: a server of that release has it by itself, and one of another
release its own, which is what would become of it there."""


def shared_settings(ground: Ground, changed: Iterable[str], scale: float) -> dict[str, str]:
    """Variables that were set on the advised server, as far as the facts have them and the server there takes
    them.

    `changed` are the variables that some level sets; those have their values as it is from the advice.
    """
    server = ground.system.server if ground.system else None
    if server is None or ground.on == "server":
        return {}
    taken = set(changed)
    shared: dict[str, str] = {}
    for name in SETTINGS:
        value = _value(server, name)
        if value is None or name in taken or _INSTEAD.get(name) in server.variables:
            continue
        value = scaled_value(name, value, scale)
        if ground.refuses(name, value) is None:
            shared[name] = value
    return shared


def _value(server: Server, name: str) -> str | None:
    """None where it is not known, was not set, or is empty."""
    known = server.variables.get(name)
    if known is None or (known.origin is not None and known.origin.source in _AS_SHIPPED):
        return None
    if name == "query_cache_size" and server.switch("query_cache_type") is False:
        # A server with a size set at its start enables the cache, whatever its type is.
        return None
    return known.value or None
