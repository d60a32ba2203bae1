"""Accounts and the hosts that clients come from, as far as advice needs them."""

from __future__ import annotations

from mydyno.core.record import Record


class Accounts(Record):
    """Of mysql.user, without roles. A tuple holds 100 at most."""

    number: int
    anonymous_hosts: tuple[str, ...] = ()
    """Hosts of the accounts without a user name: `localhost`, `%`."""
    named_hosts: tuple[str, ...] = ()
    """Hosts of accounts that are names, which the server must look up: `appserver`, `web%`."""


class HostCache(Record):
    """Totals of performance_schema.host_cache: clients over TCP whose address was looked up."""

    hosts: int
    handshake_errors: int
    """Connections that broke off before the handshake was done."""
    authentication_errors: int
    """Wrong passwords and unknown users: they block no host."""
    blocked_errors: int
    """Connections that were refused since their host was blocked."""
    most_errors: int
    """Of one host in a row (SUM_CONNECT_ERRORS): what max_connect_errors is about."""


def names_a_host(host: str) -> bool:
    """Whether the host of an account is a name and not an address, a pattern of addresses or a netmask.

    An IPv6 address has colons, an IPv4 one no letters; `localhost` is the socket's.
    """
    return host.casefold() != "localhost" and ":" not in host and any(each.isalpha() for each in host)
