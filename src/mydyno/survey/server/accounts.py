"""Accounts, and what the host cache has counted of their clients."""

from __future__ import annotations

from mydyno.survey.asking import Asking, text_of
from mydyno.survey.facts.accounts import Accounts, HostCache, names_a_host

_LISTED = 100


def read_accounts(asking: Asking) -> Accounts | None:
    """None when mysql.user may not be read."""
    # A role of MariaDB is a row without a host.
    rows = asking.rows(
        "the accounts", "SELECT User, Host FROM mysql.user WHERE Host <> ''", "SELECT ON mysql.user"
    )
    if rows is None:
        return None
    accounts = [(text_of(user), text_of(host)) for user, host in rows]
    named = {host for _, host in accounts if names_a_host(host)}
    return Accounts(
        number=len(accounts),
        anonymous_hosts=tuple(sorted(host for user, host in accounts if not user)[:_LISTED]),
        named_hosts=tuple(sorted(named)[:_LISTED]),
    )


def read_host_cache(asking: Asking) -> HostCache | None:
    """None when performance_schema may not be read, or the table is empty.

    It is empty where nothing is counted, too: without performance_schema, host_cache_size or name resolution.
    """
    # In the order of HostCache's fields.
    rows = asking.rows(
        "the errors of clients' hosts",
        "SELECT COUNT(*), SUM(COUNT_HANDSHAKE_ERRORS), SUM(COUNT_AUTHENTICATION_ERRORS),"
        " SUM(COUNT_HOST_BLOCKED_ERRORS), MAX(SUM_CONNECT_ERRORS) FROM performance_schema.host_cache",
        "SELECT ON performance_schema.host_cache",
    )
    if not rows or not rows[0][0]:
        return None
    counted = (int(number or 0) for number in rows[0])
    return HostCache(**dict(zip(HostCache.model_fields, counted, strict=True)))
