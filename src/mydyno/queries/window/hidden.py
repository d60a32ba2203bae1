"""What a slow log leaves out, in sentences: pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mydyno.core.plurals import counted
from mydyno.core.server_version import Vendor, Version
from mydyno.queries.window.settings import GLOBAL_CONTROL, Wish, is_on

_EVERY_KIND = "query_cache_miss"
"""Of MariaDB's log_slow_filter: every statement that no query cache has answered."""


def hidden(version: Version, variables: Mapping[str, str], wish: Wish) -> tuple[str, ...]:
    """Settings that are left as they are and keep statements out of the log, a sentence each."""
    return tuple(_hidden(version, variables, wish))


def _hidden(version: Version, variables: Mapping[str, str], wish: Wish) -> Iterator[str]:
    rate = variables.get("log_slow_rate_limit", "1")
    if rate not in ("0", "1"):
        of = variables.get("log_slow_rate_type", "query")
        yield f"log_slow_rate_limit = {rate}: one {of} in {rate} is logged, so counts and times are a part"
    kinds = frozenset(word for word in variables.get("log_slow_filter", "").lower().split(",") if word)
    if kinds and (version.vendor is Vendor.PERCONA or _EVERY_KIND not in kinds):
        yield f"log_slow_filter = {','.join(sorted(kinds))}: statements of other kinds are not logged"
    disabled = variables.get("log_slow_disabled_statements", "").lower()
    if disabled:
        yield f"log_slow_disabled_statements = {disabled}: {_disabled(disabled)}"
    if "log_slow_admin_statements" in variables and not is_on(variables, "log_slow_admin_statements"):
        yield "log_slow_admin_statements = OFF: ALTER TABLE, ANALYZE TABLE and so on are not logged"
    for name in ("log_slow_replica_statements", "log_slow_slave_statements"):
        if name in variables and is_on(variables, "read_only") and not is_on(variables, name):
            yield f"{name} = OFF: what this replica replays is not logged"
            break
    throttle = variables.get("log_throttle_queries_not_using_indexes", "0")
    if wish.not_using_indexes and throttle != "0":
        yield (
            f"log_throttle_queries_not_using_indexes = {throttle}: at most that many of them are logged "
            "in a minute"
        )


def unseen(
    version: Version, variables: Mapping[str, str], wish: Wish, sessions: int, above: int | None
) -> str | None:
    """What becomes of `sessions` connections that are open already; None: they are seen like others.

    `above`: how many have a higher threshold, where the server shows it (MySQL 5.7 on).

    A connection takes long_query_time over when it begins (all forks), and in MariaDB the switch of the log,
    too: seen on MariaDB 10.11 and 11.8, not so on MySQL 5.6 and 9.7.
    """
    if not sessions or GLOBAL_CONTROL in variables:
        return None
    if version.is_mariadb and not is_on(variables, "slow_query_log"):
        return _count(sessions) + " open before the log was turned on, and MariaDB never logs what they run"
    if above is not None:
        return _count(above) + f" open before, with {_HIGHER}" if above else None
    if float(variables.get("long_query_time", "0")) > wish.threshold:
        old = f"{float(variables['long_query_time']):g} s"
        return _count(sessions) + f" open before, with {_HIGHER}: {old} unless they have set another"
    return None


_HIGHER = "a higher threshold"


def _count(sessions: int) -> str:
    return counted(sessions, "connection", "was")


def _disabled(kinds: str) -> str:
    if kinds == "sp":
        return "statements inside stored procedures are not logged one by one, their CALL is"
    return "statements of these kinds are not logged"
