"""Rules on InnoDB's locks, files and statistics."""

import pytest

from advisor.builders import GIB, MARIADB, MYSQL_57, MYSQL_84, a_role, host, server, system
from advisor.rules.judging import found, sentences
from mydyno.advisor import rule_of
from mydyno.advisor.rule import Fine, Judgement, NotHere, Rule, Unknown
from mydyno.advisor.targets import Targets, targets_of
from mydyno.apply.finding import Severity
from mydyno.survey.facts import FileSystem, Innodb, Schema, Storage, Use

MARIADB_105 = "mariadbd  Ver 10.5.29-MariaDB for debian-linux-gnu on x86_64"


def judged(rule: Rule, version: str = MARIADB, **variables: str) -> Judgement:
    return rule.judge(system(server(version, variables)), Targets())


def test_hash_indexes_that_serve_few_searches_are_switched_off() -> None:
    def judged(by_hash: float, without: float, value: str = "ON") -> Judgement:
        status = {
            "Innodb_adaptive_hash_hash_searches": by_hash,
            "Innodb_adaptive_hash_non_hash_searches": without,
        }
        searched = server(variables={"innodb_adaptive_hash_index": value}, status=status)
        return rule_of("adaptive-hash-index").judge(system(searched), Targets())

    assert sentences(judged(1e5, 9e5)) == ["innodb_adaptive_hash_index = OFF (now ON)"]
    assert isinstance(judged(9e5, 1e5), Fine)
    assert isinstance(judged(10, 90), Unknown)
    assert isinstance(judged(1e5, 9e5, "OFF"), Fine)


def test_where_searches_are_not_counted_waits_for_latches_are_looked_into_by_hand() -> None:
    def judged(waits: int) -> Judgement:
        on = server(MYSQL_57, {"innodb_adaptive_hash_index": "ON"}, innodb=Innodb(semaphore_waits=waits))
        return rule_of("adaptive-hash-index").judge(system(on), Targets())

    assert found(judged(20)).changes[0].kind == "by hand"
    assert isinstance(judged(0), Fine)


def test_galera_gets_the_mode_that_it_needs() -> None:
    node = server(variables={"innodb_autoinc_lock_mode": "1"}, role=a_role(galera=True))
    finding = found(rule_of("autoinc-lock-mode").judge(system(node), Targets()))
    assert sentences(finding) == ["innodb_autoinc_lock_mode = 2 (now 1)"]


def test_numbers_that_a_replica_would_give_otherwise_are_reported() -> None:
    statements = {"log_bin": "ON", "binlog_format": "STATEMENT"}
    finding = found(
        judged(rule_of("autoinc-lock-mode"), MYSQL_84, innodb_autoinc_lock_mode="2", **statements)
    )
    assert (finding.severity, finding.changes[0].kind) == (Severity.HIGH, "by hand")
    rows = {"log_bin": "ON", "binlog_format": "ROW"}
    assert isinstance(
        judged(rule_of("autoinc-lock-mode"), MYSQL_84, innodb_autoinc_lock_mode="2", **rows), Fine
    )
    assert isinstance(judged(rule_of("autoinc-lock-mode"), innodb_autoinc_lock_mode="1", **statements), Fine)
    assert found(judged(rule_of("autoinc-lock-mode"), innodb_autoinc_lock_mode="0")).severity is Severity.LOW


def test_deadlocks_are_counted_and_written_down() -> None:
    often = server(
        variables={"innodb_print_all_deadlocks": "OFF"},
        status={"Innodb_deadlocks": 120_000},
        before={"Innodb_deadlocks": 119_400},
    )
    finding = found(rule_of("deadlocks").judge(system(often), Targets()))
    assert finding.title == "600.0 deadlocks a minute"
    assert sentences(rule_of("print-all-deadlocks").judge(system(often), Targets())) == [
        "innodb_print_all_deadlocks = ON (now OFF)"
    ]
    assert isinstance(judged(rule_of("print-all-deadlocks"), innodb_print_all_deadlocks="OFF"), Fine)
    assert isinstance(
        rule_of("deadlocks").judge(system(server(status={"Innodb_deadlocks": 3})), Targets()), Fine
    )
    assert isinstance(rule_of("deadlocks").judge(system(server(MYSQL_84)), Targets()), Unknown)


def test_a_deadlock_ends_at_once_unless_waits_are_short_anyway() -> None:
    off = {"innodb_deadlock_detect": "OFF"}
    assert sentences(judged(rule_of("deadlock-detect"), innodb_lock_wait_timeout="50", **off)) == [
        "innodb_deadlock_detect = ON (now OFF)"
    ]
    assert isinstance(judged(rule_of("deadlock-detect"), innodb_lock_wait_timeout="3", **off), Fine)
    assert isinstance(judged(rule_of("deadlock-detect")), NotHere)


def test_time_spent_waiting_for_rows_is_reported_as_sessions() -> None:
    waiting = server(
        MYSQL_84,
        status={"Innodb_row_lock_time": 600_000, "Innodb_row_lock_waits": 1200},
        before={"Innodb_row_lock_time": 0, "Innodb_row_lock_waits": 0},
    )
    finding = found(rule_of("row-lock-waits").judge(system(waiting), Targets()))
    assert finding.title == "10.0 sessions wait for a row lock at any moment"
    assert "20.0 waits/s of 500 ms each" in finding.evidence
    assert isinstance(rule_of("row-lock-waits").judge(system(), Targets()), Unknown)


def test_endless_waits_for_a_row_are_reported() -> None:
    assert "1h" in found(judged(rule_of("lock-wait-timeout"), innodb_lock_wait_timeout="3600")).title
    assert isinstance(judged(rule_of("lock-wait-timeout"), innodb_lock_wait_timeout="50"), Fine)


@pytest.mark.parametrize("name", ["transaction_isolation", "tx_isolation"])
def test_the_extremes_of_isolation_are_left_to_the_application(name: str) -> None:
    for level in ("READ-UNCOMMITTED", "SERIALIZABLE"):
        finding = found(judged(rule_of("isolation-level"), **{name: level}))
        assert name in finding.title
        assert finding.changes[0].kind == "by hand"
    assert isinstance(judged(rule_of("isolation-level"), **{name: "REPEATABLE-READ"}), Fine)
    statements = {"log_bin": "ON", "binlog_format": "STATEMENT", name: "READ-COMMITTED"}
    assert found(judged(rule_of("isolation-level"), **statements)).severity is Severity.HIGH


def test_a_gate_narrower_than_the_machine_is_opened() -> None:
    def judged(value: str, queue: int = 0, version: str = MYSQL_57) -> Judgement:
        gated = server(version, {"innodb_thread_concurrency": value}, innodb=Innodb(queries_in_queue=queue))
        return rule_of("thread-concurrency").judge(system(gated, host(cpus=8)), Targets())

    assert sentences(judged("4")) == ["innodb_thread_concurrency = 0 (now 4)"]
    assert "12 queue" in found(judged("16", queue=12)).title
    assert isinstance(judged("16"), Fine)
    assert isinstance(judged("0"), Fine)
    assert isinstance(judged("4", version=MARIADB_105), NotHere)


def test_tables_get_separate_files() -> None:
    finding = found(judged(rule_of("file-per-table"), innodb_file_per_table="OFF"))
    assert sentences(finding)[0] == "innodb_file_per_table = ON (now OFF)"
    assert finding.changes[1].kind == "by hand"
    assert isinstance(judged(rule_of("file-per-table"), innodb_file_per_table="ON"), Fine)


def test_statistics_are_kept_and_not_made_by_looking() -> None:
    assert sentences(judged(rule_of("statistics-persistent"), innodb_stats_persistent="OFF")) == [
        "innodb_stats_persistent = ON (now OFF)"
    ]
    assert sentences(judged(rule_of("statistics-on-metadata"), innodb_stats_on_metadata="ON")) == [
        "innodb_stats_on_metadata = OFF (now ON)"
    ]
    assert isinstance(judged(rule_of("statistics-persistent"), innodb_stats_persistent="ON"), Fine)
    assert isinstance(judged(rule_of("statistics-on-metadata"), innodb_stats_on_metadata="OFF"), Fine)


def test_undo_shrinks_where_the_release_has_it_on_by_default() -> None:
    off = {"innodb_undo_log_truncate": "OFF"}
    assert found(judged(rule_of("undo-truncate"), MYSQL_84, **off))
    assert isinstance(judged(rule_of("undo-truncate"), MYSQL_57, innodb_undo_tablespaces="0", **off), NotHere)
    assert isinstance(judged(rule_of("undo-truncate"), **off), NotHere)
    assert isinstance(judged(rule_of("undo-truncate"), MYSQL_84, innodb_undo_log_truncate="ON"), Fine)


def test_temporary_tables_get_a_bound_of_a_quarter_of_the_free_disk() -> None:
    path = "ibtmp1:12M:autoextend"
    data = FileSystem(mount_point="/", kind="ext4", source="/dev/sda", options=(), free_bytes=100 * GIB)
    uses = (Use(files="data", path="/data", mount_point="/"),)
    the_host = host(storage=Storage(filesystems=(data,), uses=uses))

    def judged(version: str, value: str) -> Judgement:
        return rule_of("temporary-tablespace").judge(
            system(server(version, {"innodb_temp_data_file_path": value}), the_host), Targets()
        )

    assert f"{path}:max:25G" in found(judged(MYSQL_57, path)).recommendation
    assert isinstance(judged(MARIADB, f"{path}:max:5G"), Fine)
    assert isinstance(judged(MYSQL_84, path), NotHere)


@pytest.mark.parametrize("truncates", [False, True])
def test_on_mariadb_only_temporary_tables_that_sessions_create_are_in_the_tablespace(truncates: bool) -> None:
    variables = {"innodb_temp_data_file_path": "ibtmp1:12M:autoextend"}
    if truncates:
        variables["innodb_truncate_temporary_tablespace_now"] = "OFF"

    def judged(created: int) -> Judgement:
        counted = {"Com_create_temporary_table": created}
        return rule_of("temporary-tablespace").judge(system(server(MARIADB, variables, counted)), Targets())

    assert isinstance(judged(0), Fine)
    evidence = " ".join(found(judged(7)).evidence)
    assert "CREATE TEMPORARY TABLE (Com_create_temporary_table = 7" in evidence
    assert "those of a GROUP BY are in tmpdir" in evidence
    assert ("innodb_truncate_temporary_tablespace_now = 1" in evidence) is truncates
    assert ("only when the server restarts" in evidence) is not truncates


def test_the_bound_of_the_temporary_tablespace_is_never_more_than_is_free() -> None:
    data = FileSystem(mount_point="/", kind="ext4", source="/dev/sda1", options=(), free_bytes=2 * GIB)
    uses = (Use(files="data", path="/var/lib/mysql", mount_point="/"),)
    small = host(storage=Storage(filesystems=(data,), uses=uses))
    path = {"innodb_temp_data_file_path": "ibtmp1:12M:autoextend"}
    judged = rule_of("temporary-tablespace").judge(system(server(MYSQL_57, path), small), Targets())
    assert ":max:512M" in found(judged).recommendation


def test_innodb_keeps_the_files_of_all_its_tables_open() -> None:
    def judged(tables: int, opened: float) -> Judgement:
        crowded = system(
            server(
                variables={"innodb_open_files": "2000"},
                status={"Innodb_num_open_files": opened},
                schema_facts=Schema(tables=tables, tables_by_engine={"InnoDB": tables}),
            )
        )
        return rule_of("innodb-open-files").judge(crowded, targets_of(crowded))

    assert sentences(judged(7_400, 2000)) == ["innodb_open_files = 7400 (now 2000)"]
    assert isinstance(judged(7_400, 300), Fine)
    assert isinstance(judged(500, 2000), Fine)


def test_the_monitor_is_not_left_on() -> None:
    assert sentences(judged(rule_of("status-output"), innodb_status_output="ON")) == [
        "innodb_status_output = OFF (now ON)"
    ]
    assert isinstance(judged(rule_of("status-output"), innodb_status_output="OFF"), Fine)
