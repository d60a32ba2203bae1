"""Whether a server counts its statements at all, and what to do where it does not."""

from __future__ import annotations

from collections.abc import Mapping

from mydyno.core.errors import ServerError
from mydyno.core.server_variables import ON_WORDS
from mydyno.survey.asking import Asking

READ = "SELECT ON performance_schema.*"
_CONSUMERS = ("global_instrumentation", "statements_digest")
_OPTION_FILE = "and a restart; `mydyno slowlog` needs none"


def answer(asking: Asking, address: str, what: str, statement: str) -> list[tuple[object, ...]]:
    """The rows of performance_schema. Raises ServerError, with the GRANT that is missing."""
    rows = asking.rows(what, statement, READ)
    if rows is None:
        missed = asking.unread.pop()
        raise ServerError(f"{address}: {what} cannot be read: {missed.why}", missed.hint)
    return rows


def refuse_what_is_off(asking: Asking, address: str, variables: Mapping[str, str]) -> None:
    """Raises ServerError where no statement is counted, with what would make the server count."""
    on = variables.get("performance_schema", "").casefold()
    if on not in ON_WORDS:
        raise ServerError(
            f"{address}: performance_schema is off" if on else f"{address}: it has no performance_schema",
            f"`performance_schema = ON` in the server's option file, {_OPTION_FILE}",
        )
    if "performance_schema_digests_size" not in variables:
        raise ServerError(
            f"{address}: its performance_schema has no statement digests",
            "MySQL 5.6 and MariaDB 10.0 and later have them; `mydyno slowlog` works with any server",
        )
    for name in ("performance_schema_digests_size", "max_digest_length"):
        if variables.get(name) == "0":
            raise ServerError(
                f"{address}: statement digests are disabled ({name} = 0)",
                f"remove {name} from the server's option file, {_OPTION_FILE}",
            )
    off = _switched_off(asking, address)
    if off:
        raise ServerError(
            f"{address}: statements are not counted by digest ({', '.join(off)}: off in"
            " performance_schema.setup_consumers)",
            "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME IN"
            f" ({', '.join(map(repr, off))})",
        )


def _switched_off(asking: Asking, address: str) -> list[str]:
    rows = answer(
        asking,
        address,
        "what performance_schema counts",
        "SELECT NAME, ENABLED FROM performance_schema.setup_consumers",
    )
    enabled = {str(name): str(word) for name, word in rows}
    return [name for name in _CONSUMERS if enabled.get(name) == "NO"]


def uncounted(asking: Asking, address: str) -> tuple[list[str], list[str]]:
    """Kinds of statements that are not counted, and kinds that are counted but not timed.

    Raises ServerError when none is counted.
    """
    rows = answer(
        asking,
        address,
        "which statements performance_schema counts",
        "SELECT NAME, ENABLED, TIMED FROM performance_schema.setup_instruments WHERE NAME LIKE"
        " 'statement/sql/%'",
    )
    off = [_kind(name) for name, enabled, _ in rows if enabled == "NO"]
    untimed = [_kind(name) for name, enabled, timed in rows if enabled != "NO" and timed == "NO"]
    if len(off) == len(rows):
        raise ServerError(
            f"{address}: no kind of statement is counted (performance_schema.setup_instruments)",
            "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' WHERE NAME LIKE"
            " 'statement/%'",
        )
    return off, untimed


def _kind(name: object) -> str:
    return str(name).rpartition("/")[2]
