import pytest

from advisor.builders import MARIADB, MYSQL_57, MYSQL_84, a_role, host, server, variable
from advisor.rules.judging import finding, judged, sentences
from mydyno.advisor.rule import Fine, NotHere, Unknown
from mydyno.advisor.targets import Targets
from mydyno.advisor.targets.connections import connections
from mydyno.apply.change import ByHand
from mydyno.apply.finding import Severity
from mydyno.survey.facts import Accounts, HostCache, Server
from mydyno.survey.facts.server import names_a_host

DAY = 86_400


def test_refused_connections_are_critical_and_the_limit_is_the_target() -> None:
    crowded = server(
        variables={"max_connections": "151"},
        status={"Max_used_connections": 152, "Connection_errors_max_connections": 37},
    )
    found = finding("max-connections", crowded, Targets(max_connections=230))
    assert found.severity is Severity.CRITICAL
    assert sentences(found) == ["max_connections = 230 (now 151)"]
    assert any("37 connections were refused" in line for line in found.evidence)


def test_refusals_at_a_lower_limit_do_not_raise_the_present_one_again() -> None:
    since_raised = server(
        variables={"max_connections": "160"},
        status={"Max_used_connections": 120, "Connection_errors_max_connections": 37, "Uptime": 30 * DAY},
    )
    aimed = connections(since_raised)
    assert aimed is not None
    assert aimed.wanted == 160
    said = judged("max-connections", since_raised, Targets(max_connections=160))
    assert isinstance(said, Fine)
    assert "at most 120 of 160" in said.because


def test_a_limit_that_memory_has_no_room_for_is_lowered() -> None:
    promised = server(variables={"max_connections": "5000"}, status={"Max_used_connections": 40})
    found = finding("max-connections", promised, Targets(max_connections=100))
    assert found.severity is Severity.MEDIUM
    assert "memory is enough for 100" in found.title


def test_a_limit_on_target_is_fine_and_without_a_target_nothing_is_said() -> None:
    calm = server(variables={"max_connections": "151"}, status={"Max_used_connections": 40})
    assert isinstance(judged("max-connections", calm, Targets(max_connections=151)), Fine)
    assert isinstance(judged("max-connections", calm, Targets()), Unknown)


def test_hosts_are_not_blocked_by_their_own_probes() -> None:
    def probed(most: int, blocked: int = 0) -> Server:
        cache = HostCache(
            hosts=2,
            handshake_errors=most,
            authentication_errors=5000,
            blocked_errors=blocked,
            most_errors=most,
        )
        return server(variables={"max_connect_errors": "100"}, host_cache=cache)

    near = finding("max-connect-errors", probed(60))
    assert sentences(near) == ["max_connect_errors = 100000 (now 100)"]
    assert near.severity is Severity.MEDIUM
    assert finding("max-connect-errors", probed(7, blocked=3)).severity is Severity.HIGH
    assert isinstance(judged("max-connect-errors", probed(7)), Fine)


def test_wrong_passwords_block_no_host() -> None:
    guessed = {"Aborted_connects": 5000, "Access_denied_errors": 4990}
    limit = {"max_connect_errors": "100"}
    assert isinstance(judged("max-connect-errors", server(variables=limit, status=guessed)), Fine)
    broken = server(variables=limit, status={**guessed, "Access_denied_errors": 4000})
    assert "5000 - Access_denied_errors 4000 = 1000" in finding("max-connect-errors", broken).evidence[0]
    mixed = server(MYSQL_84, limit, {"Aborted_connects": 5000})
    assert isinstance(judged("max-connect-errors", mixed), Unknown)


def test_without_looking_names_up_no_errors_of_hosts_are_counted() -> None:
    probed = server(
        variables={"max_connect_errors": "100", "skip_name_resolve": "ON"}, status={"Aborted_connects": 5000}
    )
    assert isinstance(judged("max-connect-errors", probed), NotHere)


@pytest.mark.parametrize(
    ("version", "known", "setting"),
    [
        (MARIADB, "log_warnings", "log_warnings = 2"),
        (MYSQL_84, "log_error_verbosity", "log_error_verbosity = 3"),
    ],
)
def test_failed_attempts_are_named_by_the_error_log_of_this_release(
    version: str, known: str, setting: str
) -> None:
    attacked = server(version, {known: "1"}, status={"Aborted_connects": 900, "Connections": 1000})
    found = finding("aborted-connects", attacked)
    assert "90%" in found.title
    assert setting in found.recommendation
    few = server(version, status={"Aborted_connects": 3, "Connections": 1000})
    assert isinstance(judged("aborted-connects", few), Fine)


def test_connections_that_die_are_reported_with_the_timeout() -> None:
    dying = server(
        variables={"wait_timeout": "28800", "max_allowed_packet": "16777216"},
        status={"Aborted_clients": 300, "Connections": 1000},
    )
    assert "30%" in finding("aborted-clients", dying).title
    assert isinstance(
        judged("aborted-clients", server(status={"Aborted_clients": 1, "Connections": 1000})), Fine
    )


def test_two_seconds_of_new_connections_may_wait() -> None:
    bursts = server(
        variables={"back_log": variable("80", dynamic=False)},
        status={"Connections": 100_000},
        before={"Connections": 82_000},
    )
    found = finding("back-log", bursts, host=host(sysctls={"net.core.somaxconn": "4096"}))
    assert sentences(found) == ["back_log = 1024 (now 80)"]
    assert found.restart
    assert any("net.core.somaxconn = 4096" in line for line in found.evidence)
    pooled = server(variables={"back_log": "80"}, status={"Connections": 500})
    assert isinstance(judged("back-log", pooled), Fine)


def test_sleepers_that_fill_the_limit_are_closed_sooner() -> None:
    asleep = server(
        variables={"wait_timeout": "28800", "max_connections": "200"},
        status={"Threads_connected": 180, "Threads_running": 3},
    )
    assert sentences(finding("wait-timeout", asleep, Targets(max_connections=200))) == [
        "wait_timeout = 1800 (now 28800)"
    ]
    assert isinstance(judged("wait-timeout", asleep, Targets(max_connections=1000)), Fine)


def test_names_are_looked_up_no_more_only_by_hand() -> None:
    busy = server(variables={"skip_name_resolve": "OFF"}, status={"Connections": 10 * DAY * 5})
    found = finding("name-resolution", busy)
    assert [change.kind for change in found.changes] == ["by hand"]
    accounts = Accounts(number=3, named_hosts=("appserver", "web%"))
    known = finding("name-resolution", busy.model_copy(update={"accounts": accounts}))
    assert "accounts are bound to 2 names of hosts: appserver, web%" in known.evidence
    for calm in (
        server(variables={"skip_name_resolve": "ON"}, status={"Connections": 10 * DAY * 5}),
        server(variables={"skip_name_resolve": "OFF"}, status={"Connections": 100}),
    ):
        assert isinstance(judged("name-resolution", calm), Fine)


def test_a_replica_takes_packets_as_large_as_its_clients_may_send() -> None:
    replica = server(
        variables={"max_allowed_packet": "1073741824", "slave_max_allowed_packet": "16777216"},
        role=a_role(replica=True),
    )
    assert sentences(finding("packet-size", replica)) == ["slave_max_allowed_packet = 1G (now 16777216)"]
    alone = server(variables={"max_allowed_packet": "1073741824", "slave_max_allowed_packet": "16777216"})
    assert isinstance(judged("packet-size", alone), Fine)


def test_small_packets_are_a_finding_only_where_connections_die() -> None:
    small = {"max_allowed_packet": "1048576"}
    dying = server(MYSQL_57, variables=small, status={"Aborted_clients": 50, "Connections": 1000})
    assert sentences(finding("packet-size", dying)) == ["max_allowed_packet = 64M (now 1048576)"]
    well = server(MYSQL_57, variables=small, status={"Aborted_clients": 0, "Connections": 1000})
    assert isinstance(judged("packet-size", well), Fine)


def test_clients_that_connect_for_a_few_statements_should_keep_their_connections() -> None:
    churning = server(
        status={"Connections": 60_000, "Questions": 200_000}, before={"Connections": 0, "Questions": 0}
    )
    assert "1000 a second new connections" in finding("connection-churn", churning).title.replace(",", "")
    pooled = server(status={"Connections": 100, "Questions": 10_000_000})
    assert isinstance(judged("connection-churn", pooled), Fine)


def test_the_limit_of_prepared_statements_is_raised_before_it_is_reached() -> None:
    full = server(variables={"max_prepared_stmt_count": "16382"}, status={"Prepared_stmt_count": 16_000})
    (by_hand,) = finding("prepared-statements", full).changes
    assert isinstance(by_hand, ByHand)
    assert by_hand.commands[1] == "SET GLOBAL max_prepared_stmt_count = 32768;"
    low = server(variables={"max_prepared_stmt_count": "100"}, status={"Prepared_stmt_count": 99})
    assert sentences(finding("prepared-statements", low)) == ["max_prepared_stmt_count = 16382 (now 100)"]
    roomy = server(variables={"max_prepared_stmt_count": "16382"}, status={"Prepared_stmt_count": 16})
    assert isinstance(judged("prepared-statements", roomy), Fine)


def test_preparing_for_one_execution_is_reported() -> None:
    once = server(
        status={"Com_stmt_prepare": 60_000, "Com_stmt_execute": 60_000},
        before={"Com_stmt_prepare": 0, "Com_stmt_execute": 0},
    )
    assert finding("prepared-once", once).severity is Severity.LOW
    kept = server(
        status={"Com_stmt_prepare": 60, "Com_stmt_execute": 60_000},
        before={"Com_stmt_prepare": 0, "Com_stmt_execute": 0},
    )
    assert isinstance(judged("prepared-once", kept), Fine)


@pytest.mark.parametrize("host", ["appserver", "web%", "cafe", "db%.example.org", "web1", "%.org"])
def test_a_host_with_letters_is_a_name(host: str) -> None:
    assert names_a_host(host)


@pytest.mark.parametrize("host", ["%", "10.%", "192.168.0.0/255.255.0.0", "::1", "fe80::%", "localhost", "_"])
def test_an_address_or_a_pattern_of_addresses_is_no_name(host: str) -> None:
    assert not names_a_host(host)


def test_accounts_without_a_name_are_found_and_worse_where_others_can_use_them() -> None:
    def having(*hosts: str) -> Server:
        return server(accounts=Accounts(number=9, anonymous_hosts=hosts))

    open_to_all = finding("anonymous-accounts", having("%", "localhost"))
    assert open_to_all.severity is Severity.HIGH
    (by_hand,) = open_to_all.changes
    assert isinstance(by_hand, ByHand)
    assert "DROP USER ''@'%';" in by_hand.commands
    assert finding("anonymous-accounts", having("localhost")).severity is Severity.MEDIUM
    assert isinstance(judged("anonymous-accounts", having()), Fine)
    assert isinstance(judged("anonymous-accounts", server()), Unknown)
