"""A running server as facts: read by SQL, as one account, and left as it was.

Read by its sections, since a deadlock's section quotes statements of users, which may say anything. Tried on
the reports of MySQL 5.6 and 9.7 and MariaDB 10.5, 10.11 and 11.8 (tests/survey/golden).
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from mydyno.core.server_version import Version, parse_version
from mydyno.server.access.login import Login
from mydyno.server.access.session import process_of, session, show_global, version_line
from mydyno.server.variables import global_variables
from mydyno.survey.asking import Asking, account_of, text_of
from mydyno.survey.facts import Innodb, Server, Unread, Variable
from mydyno.survey.facts.option_files import OptionFiles
from mydyno.survey.facts.server import Accounts, HostCache, names_a_host
from mydyno.survey.server.interval import Report, Wait, pause, watch
from mydyno.survey.server.origins import Reported, origin_of, read_origins
from mydyno.survey.server.role import Rights, read_role, rights_of
from mydyno.survey.server.schema import MOST_SECONDS, read_schema
from mydyno.survey.server.secrets import without_secrets

_TRIED = {True: ((10, 5), (11, 8)), False: ((5, 6), (9, 7))}
"""Oldest and newest series whose servers these queries were tried on, for MariaDB and for MySQL."""
_LISTED = 100
_HEADING = re.compile(r"^-{3,}\n([A-Z][A-Z /]+)\n-{3,}$", re.MULTILINE)
_DEADLOCK_TIME = re.compile(r"\A\s*(\d[\d-]+ \d+:\d\d:\d\d)")
_WAITING = re.compile(r"^--Thread \S+ has waited at ", re.MULTILINE)


@dataclass(frozen=True)
class Read:
    """A server's facts but for the origins, which need the option files of its host."""

    server: Server
    reported: Mapping[str, Reported]
    pid: int | None
    """Its process on this machine, when that can be seen."""

    def with_origins(self, files: OptionFiles | None) -> Server:
        """The facts with the origin of every value, as far as the server or its option files show it."""
        variables = {
            name: variable.model_copy(
                update={"origin": origin_of(name, variable.value, self.reported.get(name), files)}
            )
            for name, variable in self.server.variables.items()
        }
        return self.server.model_copy(update={"variables": variables})


def read_server(
    login: Login,
    unread: list[Unread],
    *,
    settable: Collection[str],
    seconds: float,
    report: Report,
    wait: Wait = pause,
) -> Read:
    """Reads all facts of a server. What it does not answer goes to `unread`.

    `settable`: the variables to test for being settable while it runs.

    Raises ServerError when there is no way in, or when it goes away.
    """
    with session(login, answer_seconds=2 * MOST_SECONDS) as cursor:
        asking = Asking(cursor, account_of(cursor), unread)
        variables = {name.lower(): value for name, value in show_global(cursor, "VARIABLES").items()}
        version = parse_version(version_line(variables))
        remark_on_age(version, unread)
        status = watch(cursor, seconds, report, wait)
        report("reading the server")
        pid = process_of(cursor, login, variables)
        innodb = _innodb(asking)
        plugins = _plugins(asking)
        rights = _rights(asking)
        role = read_role(asking, version, variables, plugins, rights, login.host)
        accounts, host_cache = read_accounts(asking), read_host_cache(asking)
        reported = read_origins(asking, version)
        dynamic = {name: global_variables.can_be_set(cursor, name) for name in settable if name in variables}
    # In a separate session: a query that is cancelled must not end the others.
    with session(login, answer_seconds=2 * MOST_SECONDS) as cursor:
        schema = read_schema(Asking(cursor, asking.account, unread), version, variables, rights)
    server = Server(
        version=version_line(variables),
        variables={
            name: _variable(value, reported.get(name), dynamic.get(name))
            for name, value in without_secrets(variables).items()
        },
        status=status,
        innodb=innodb,
        plugins=plugins,
        role=role,
        schema_facts=schema,
        accounts=accounts,
        host_cache=host_cache,
        address=login.address,
    )
    return Read(server, reported, pid)


def _variable(
    value: str, reported: Reported | None, tested: tuple[bool | None, bool | None] | None
) -> Variable:
    dynamic, settable = tested or (None, None)
    if dynamic is None and reported is not None:
        dynamic = reported.dynamic
    return Variable(value=value, dynamic=dynamic, settable=settable)


def _innodb(asking: Asking) -> Innodb | None:
    rows = asking.rows("InnoDB's own report", "SHOW ENGINE INNODB STATUS", "PROCESS ON *.*")
    return parse_innodb_report(str(rows[0][2])) if rows else None


def _plugins(asking: Asking) -> tuple[str, ...] | None:
    rows = asking.rows("the plugins", "SHOW PLUGINS")
    if rows is None:
        return None
    return tuple(sorted(str(row[0]).lower() for row in rows if str(row[1]) == "ACTIVE"))


def _rights(asking: Asking) -> Rights | None:
    grants = asking.rows("what the account may see", "SHOW GRANTS")
    return None if grants is None else rights_of(str(row[0]) for row in grants)


def remark_on_age(version: Version, unread: list[Unread]) -> None:
    """Says in `unread` that a server is older or newer than those that the queries were tried on."""
    (oldest, newest), series = _TRIED[version.is_mariadb], version.numbers[:2]
    if oldest <= series <= newest:
        return
    word = "older" if series < oldest else "newer"
    tried = f"{oldest[0]}.{oldest[1]} to {newest[0]}.{newest[1]}"
    why = f"it is {word} than the releases that this mydyno was tried with ({tried})"
    unread.append(Unread(what=f"all facts of {version}", why=why))


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


def parse_innodb_report(text: str) -> Innodb:
    """The figures of one report; None for those that this release does not write."""
    sections = _sections(text)
    log = sections.get("LOG", "")
    written, checkpoint = _number(log, r"Log sequence number\s+"), _number(log, r"Last checkpoint at\s+")
    semaphores = sections.get("SEMAPHORES")
    deadlock = _DEADLOCK_TIME.search(sections.get("LATEST DETECTED DEADLOCK", ""))
    return Innodb(
        checkpoint_age_bytes=None if written is None or checkpoint is None else written - checkpoint,
        log_sequence_number=written,
        history_list_length=_number(sections.get("TRANSACTIONS", ""), r"History list length\s+"),
        queries_in_queue=_number(sections.get("ROW OPERATIONS", ""), r"\d+ queries inside InnoDB, "),
        semaphore_waits=None if semaphores is None else len(_WAITING.findall(semaphores)),
        latest_deadlock=deadlock[1] if deadlock else None,
    )


def _sections(text: str) -> Mapping[str, str]:
    """Heading -> the text below it."""
    parts = _HEADING.split(text)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def _number(section: str, label: str) -> int | None:
    """The number after a label at the beginning of a line."""
    line = re.search(rf"^{label}(\d+)", section, re.MULTILINE)
    return int(line[1]) if line else None
