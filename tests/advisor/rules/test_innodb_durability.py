"""Rules on what survives a crash: none of their changes ever lowers durability."""

import pytest

from advisor.builders import MARIADB, MYSQL_57, MYSQL_84, a_role, host, server, system, variable
from advisor.rules.judging import found, sentences
from mydyno.advisor import RULES, rule_of
from mydyno.advisor.rule import Fine, Judgement, NotHere, Rule
from mydyno.advisor.targets import Targets
from mydyno.apply.finding import Severity
from mydyno.survey.facts import DiskSpeed, FileSystem, Origin, Storage, Use

MARIADB_118 = "mariadbd  Ver 11.8.6-MariaDB for Linux on x86_64"


def judged(rule: Rule, version: str = MARIADB, **variables: str) -> Judgement:
    return rule.judge(system(server(version, variables)), Targets())


@pytest.mark.parametrize(("value", "crash"), [("0", "of the server or machine"), ("2", "of the machine or")])
def test_only_one_is_durable_and_the_finding_says_what_the_others_lose(value: str, crash: str) -> None:
    loaded = server(
        variables={"innodb_flush_log_at_trx_commit": value, "innodb_flush_log_at_timeout": "1"},
        status={"Com_commit": 6000},
        before={"Com_commit": 0},
    )
    finding = found(rule_of("flush-at-commit").judge(system(loaded), Targets()))
    assert sentences(finding) == [f"innodb_flush_log_at_trx_commit = 1 (now {value})"]
    assert finding.durability == "raises"
    assert f"A crash {crash}" in finding.title
    assert "100.0 commits/s x 1 s = 100 transactions" in finding.evidence


def test_a_replica_at_the_end_of_the_chain_is_less_urgent() -> None:
    lazy = {"innodb_flush_log_at_trx_commit": "2"}
    end, between = (
        found(rule_of("flush-at-commit").judge(system(server(variables=lazy, role=role)), Targets()))
        for role in (a_role(replica=True), a_role(replica=True, source=True))
    )
    assert (end.severity, between.severity) == (Severity.MEDIUM, Severity.HIGH)


@pytest.mark.parametrize("value", ["1", "3"])
def test_what_syncs_at_each_commit_is_left_alone(value: str) -> None:
    assert isinstance(judged(rule_of("flush-at-commit"), innodb_flush_log_at_trx_commit=value), Fine)


def test_the_price_of_a_sync_is_reported_where_it_was_measured() -> None:
    data = FileSystem(mount_point="/data", kind="ext4", source="/dev/sda", options=())
    speed = DiskSpeed(mount_point="/data", read_iops=9e3, write_iops=4e3, sync_seconds=0.002)
    uses = (Use(files="data", path="/data", mount_point="/data"),)
    measured = host(storage=Storage(filesystems=(data,), uses=uses, speeds=(speed,)))
    lazy = server(variables={"innodb_flush_log_at_trx_commit": "2"})
    finding = found(rule_of("flush-at-commit").judge(system(lazy, measured), Targets()))
    assert "a sync was measured at 2ms: up to 500 commits/s on one connection" in finding.evidence


def test_no_rule_of_innodb_lowers_durability() -> None:
    assert not [
        rule.id for rule in RULES if "lowers" in rule.durability and "never lowers" not in rule.durability
    ]


def test_doublewrite_is_switched_on_where_a_page_can_tear() -> None:
    finding = found(judged(rule_of("doublewrite"), MYSQL_84, innodb_doublewrite="OFF"))
    assert sentences(finding) == ["innodb_doublewrite = ON (now OFF)"]
    assert (finding.severity, finding.durability, finding.restart) == (Severity.CRITICAL, "raises", True)
    assert not found(judged(rule_of("doublewrite"), MYSQL_84, innodb_doublewrite="DETECT_ONLY")).restart
    assert (
        found(judged(rule_of("doublewrite"), MARIADB_118, innodb_doublewrite="fast")).severity
        is Severity.MEDIUM
    )
    assert isinstance(judged(rule_of("doublewrite"), MYSQL_84, innodb_doublewrite="DETECT_AND_RECOVER"), Fine)


def test_zfs_tears_no_page() -> None:
    zfs = FileSystem(mount_point="/data", kind="zfs", source="tank", options=())
    storage = Storage(filesystems=(zfs,), uses=(Use(files="data", path="/data", mount_point="/data"),))
    on_zfs = system(server(variables={"innodb_doublewrite": "OFF"}), host(storage=storage))
    assert isinstance(rule_of("doublewrite").judge(on_zfs, Targets()), NotHere)


@pytest.mark.parametrize("value", ["none", "strict_none", "innodb"])
def test_checksums_are_crc32(value: str) -> None:
    finding = found(judged(rule_of("checksum-algorithm"), MYSQL_57, innodb_checksum_algorithm=value))
    assert sentences(finding) == [f"innodb_checksum_algorithm = crc32 (now {value})"]
    assert finding.severity is (Severity.LOW if value == "innodb" else Severity.HIGH)


def test_newer_checksums_are_left_alone() -> None:
    assert isinstance(judged(rule_of("checksum-algorithm"), innodb_checksum_algorithm="full_crc32"), Fine)


def test_recovery_mode_is_critical_and_never_taken_out_by_mydyno() -> None:
    left_on = variable("4", origin=Origin(source="file", file="/etc/my.cnf", line=12))
    finding = found(
        rule_of("force-recovery").judge(
            system(server(variables={"innodb_force_recovery": left_on})), Targets()
        )
    )
    assert (finding.severity, finding.changes[0].kind) == (Severity.CRITICAL, "by hand")
    assert "/etc/my.cnf:12 says so" in finding.evidence
    assert isinstance(judged(rule_of("force-recovery"), innodb_force_recovery="0"), Fine)


def test_redo_that_is_disabled_is_critical() -> None:
    off = server(MYSQL_84)
    status = off.status.model_copy(update={"after": {**off.status.after, "Innodb_redo_log_enabled": "OFF"}})
    finding = found(
        rule_of("redo-log-disabled").judge(system(off.model_copy(update={"status": status})), Targets())
    )
    assert (finding.severity, finding.durability) == (Severity.CRITICAL, "raises")
    assert isinstance(judged(rule_of("redo-log-disabled")), NotHere)


def test_a_shutdown_is_clean() -> None:
    assert sentences(judged(rule_of("fast-shutdown"), innodb_fast_shutdown="2")) == [
        "innodb_fast_shutdown = 1 (now 2)"
    ]
    assert isinstance(judged(rule_of("fast-shutdown"), innodb_fast_shutdown="0"), Fine)


def test_table_and_binary_log_commit_together() -> None:
    def with_log(log_bin: str) -> Judgement:
        return judged(rule_of("two-phase-commit"), MYSQL_57, innodb_support_xa="OFF", log_bin=log_bin)

    assert found(with_log("ON")).durability == "raises"
    assert isinstance(with_log("OFF"), Fine)
    assert isinstance(judged(rule_of("two-phase-commit"), MYSQL_84, log_bin="ON"), NotHere)


def test_an_innodb_that_only_reads_is_reported() -> None:
    assert found(judged(rule_of("innodb-read-only"), innodb_read_only="ON")).restart
    assert isinstance(judged(rule_of("innodb-read-only"), innodb_read_only="OFF"), Fine)
