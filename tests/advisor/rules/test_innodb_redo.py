"""Rules on the redo log."""

import pytest

from advisor.builders import GIB, MARIADB, MYSQL_57, MYSQL_84, host, server, system, variable
from advisor.disks import filesystem, stored
from advisor.rules.judging import found, sentences
from mydyno.advisor import rule_of
from mydyno.advisor.rule import Fine, Judgement, NotHere, Unknown
from mydyno.advisor.targets import Targets, targets_of
from mydyno.apply.finding import Severity
from mydyno.survey.facts import Innodb

FOUR_GIB = Targets(redo_bytes=4 * GIB, redo_lines=("1M/s x 3600 s = 3.5G in an hour",))


@pytest.mark.parametrize(
    ("version", "variables", "change"),
    [
        (
            MYSQL_84,
            {"innodb_redo_log_capacity": "104857600"},
            "innodb_redo_log_capacity = 4G (now 104857600)",
        ),
        (
            MYSQL_57,
            {"innodb_log_file_size": "50331648", "innodb_log_files_in_group": "4"},
            "innodb_log_file_size = 1G (now 50331648)",
        ),
        (MARIADB, {"innodb_log_file_size": "100663296"}, "innodb_log_file_size = 4G (now 100663296)"),
    ],
)
def test_the_whole_redo_log_gets_its_target_in_the_releases_own_name(
    version: str, variables: dict[str, str], change: str
) -> None:
    finding = found(rule_of("redo-capacity").judge(system(server(version, variables)), FOUR_GIB))
    assert sentences(finding) == [change]
    assert finding.evidence == FOUR_GIB.redo_lines


def test_a_redo_log_at_its_target_is_fine() -> None:
    there = system(server(variables={"innodb_log_file_size": str(4 * GIB)}))
    assert isinstance(rule_of("redo-capacity").judge(there, FOUR_GIB), Fine)
    assert isinstance(rule_of("redo-capacity").judge(there, Targets()), Unknown)


def test_a_log_that_lasts_some_minutes_of_a_busy_hour_is_urgent() -> None:
    pressed = server(
        variables={"innodb_log_file_size": variable("100663296", dynamic=False)},
        status={
            "Innodb_os_log_written": 400_000 * 864_000,
            "Innodb_checkpoint_age": 70e6,
            "Innodb_checkpoint_max_age": 80e6,
        },
    )
    finding = found(rule_of("redo-capacity").judge(system(pressed), FOUR_GIB))
    assert (finding.effect.size, finding.restart) == ("large", True)
    assert "it lasts 2 minutes of a busy hour" in finding.evidence
    nearly = found(rule_of("checkpoint-age").judge(system(pressed), FOUR_GIB))
    assert nearly.title == "The redo log is nearly full: 88% of what may be in use"


def test_mysqls_checkpoint_age_comes_from_its_counters_or_from_innodbs_report() -> None:
    capacity = {"innodb_redo_log_capacity": str(8_000_000)}
    counted = {"Innodb_redo_log_current_lsn": 17_000_000, "Innodb_redo_log_checkpoint_lsn": 10_000_000}
    full = rule_of("checkpoint-age").judge(system(server(MYSQL_84, capacity, status=counted)), Targets())
    assert "100%" in found(full).title
    result = server(MYSQL_84, capacity, innodb=Innodb(checkpoint_age_bytes=700_000))
    assert rule_of("checkpoint-age").judge(system(result), Targets()) == Fine(
        "10% of the redo log that may be in use"
    )
    assert isinstance(rule_of("checkpoint-age").judge(system(server(MYSQL_84, capacity)), Targets()), Unknown)


def test_the_log_buffer_grows_only_where_transactions_have_waited() -> None:
    def judged(waits: float, target: int) -> Judgement:
        waiting = server(variables={"innodb_log_buffer_size": "16777216"}, status={"Innodb_log_waits": waits})
        return rule_of("log-buffer").judge(system(waiting), Targets(log_buffer_bytes=target))

    assert sentences(judged(500, 64 << 20)) == ["innodb_log_buffer_size = 64M (now 16777216)"]
    assert isinstance(judged(0, 16 << 20), Fine)


@pytest.mark.parametrize(
    ("binlog", "cpus", "on", "change"),
    [
        ("ON", 8, "ON", "innodb_log_writer_threads = OFF (now ON)"),
        ("OFF", 8, "OFF", "innodb_log_writer_threads = ON (now OFF)"),
        ("OFF", 4, "OFF", None),
        ("ON", 32, "ON", None),
    ],
)
def test_threads_that_write_redo_fit_the_cpus(binlog: str, cpus: int, on: str, change: str | None) -> None:
    the_server = server(MYSQL_84, {"innodb_log_writer_threads": on, "log_bin": binlog})
    judged = rule_of("log-writer-threads").judge(system(the_server, host(cpus=cpus)), Targets())
    assert isinstance(judged, Fine) if change is None else sentences(judged) == [change]


def test_mariadb_has_no_such_threads() -> None:
    assert isinstance(rule_of("log-writer-threads").judge(system(), Targets()), NotHere)


def test_an_online_alter_survives_half_an_hour_of_the_changes_that_are_made() -> None:
    def judged(size: int, rate: float) -> Judgement:
        writing = server(
            variables={"innodb_online_alter_log_max_size": str(size)},
            status={"Innodb_os_log_written": 1e9 + rate * 60},
            before={"Innodb_os_log_written": 1e9},
        )
        return rule_of("online-alter-log").judge(system(writing), Targets())

    assert sentences(judged(128 << 20, 400_000)) == ["innodb_online_alter_log_max_size = 1G (now 134217728)"]
    assert isinstance(judged(1 << 30, 400_000), Fine)
    assert isinstance(judged(128 << 20, 10_000), Fine)


def test_what_a_server_writes_at_its_start_calls_for_nothing() -> None:
    young = server(
        MYSQL_84,
        {"innodb_redo_log_capacity": "104857600", "innodb_online_alter_log_max_size": "134217728"},
        status={"Innodb_os_log_written": 300_000, "Uptime": 3},
        seconds=1.0,
    )
    asked = system(young)
    assert isinstance(rule_of("redo-capacity").judge(asked, targets_of(asked)), Fine)
    assert isinstance(rule_of("online-alter-log").judge(asked, targets_of(asked)), Fine)


def test_logs_grow_only_into_free_space() -> None:
    full = stored(filesystem(free_bytes=50 << 20))
    writing = server(
        variables={
            "innodb_log_file_size": str(48 << 20),
            "innodb_log_files_in_group": "1",
            "innodb_online_alter_log_max_size": str(64 << 20),
        },
        status={"Innodb_os_log_written": 1e9 + 400_000 * 60},
        before={"Innodb_os_log_written": 1e9},
    )
    asked = system(writing, full)
    assert isinstance(rule_of("redo-capacity").judge(asked, targets_of(asked)), Fine)
    assert isinstance(rule_of("online-alter-log").judge(asked, targets_of(asked)), Fine)


@pytest.mark.parametrize(("usual", "severity"), [(40_000.0, Severity.MEDIUM), (400_000.0, Severity.HIGH)])
def test_two_intervals_of_one_load_call_the_redo_log_equally_severe(usual: float, severity: Severity) -> None:
    def watched(rate: float, age: float) -> Judgement:
        total = usual * 864_000
        asked = system(
            server(
                MYSQL_84,
                {"innodb_redo_log_capacity": str(100 << 20)},
                {
                    "Innodb_os_log_written": total,
                    "Innodb_checkpoint_age": age,
                    "Innodb_checkpoint_max_age": 100,
                },
                before={"Innodb_os_log_written": total - rate * 60},
            )
        )
        return rule_of("redo-capacity").judge(asked, targets_of(asked))

    quiet, busy = found(watched(0.5 * usual, 20)), found(watched(3 * usual + 50_000, 95))
    assert quiet.severity is busy.severity is severity
