from advisor.builders import MARIADB, MYSQL_57, MYSQL_84, a_role, host, server
from advisor.rules.judging import finding, judged, sentences
from mydyno.advisor.rule import Fine, NotHere
from mydyno.apply.finding import Severity

REPLICA = a_role(replica=True)


def test_file_and_offset_are_a_finding_on_servers_that_replicate() -> None:
    found = finding("gtid", server(MYSQL_84, {"gtid_mode": "OFF"}, role=REPLICA))
    assert "SET GLOBAL gtid_mode = ON_PERMISSIVE;" in str(found.changes[0])
    assert isinstance(judged("gtid", server(MYSQL_84, {"gtid_mode": "ON"}, role=REPLICA)), Fine)
    assert isinstance(judged("gtid", server(MYSQL_84, {"gtid_mode": "OFF"})), NotHere)
    assert isinstance(judged("gtid", server(MARIADB, role=REPLICA)), NotHere)


def test_a_replica_keeps_its_place_through_a_crash() -> None:
    old = server(
        MYSQL_57,
        {
            "relay_log_recovery": "OFF",
            "relay_log_info_repository": "FILE",
            "master_info_repository": "TABLE",
        },
        role=REPLICA,
    )
    found = finding("replica-crash-safety", old)
    assert sentences(found) == [
        "relay_log_recovery = ON (now OFF)",
        "relay_log_info_repository = TABLE (now FILE)",
    ]
    assert found.durability == "raises"
    assert all(change.model_dump()["restart"] for change in found.changes)
    safe = server(MARIADB, {"relay_log_recovery": "ON"}, role=REPLICA)
    assert isinstance(judged("replica-crash-safety", safe), Fine)
    assert isinstance(judged("replica-crash-safety", server(MARIADB, {"relay_log_recovery": "OFF"})), NotHere)


def test_one_applier_gets_company_by_the_names_of_the_release() -> None:
    mariadb = server(MARIADB, {"slave_parallel_threads": "0"}, role=REPLICA)
    assert sentences(finding("replica-parallel", mariadb, host=host(cpus=8))) == [
        "slave_parallel_threads = 8 (now 0)"
    ]
    mysql = server(
        MYSQL_84,
        {"replica_parallel_workers": "0", "replica_preserve_commit_order": "OFF"},
        role=REPLICA,
    )
    assert sentences(finding("replica-parallel", mysql, host=host(cpus=2))) == [
        "replica_parallel_workers = 4 (now 0)",
        "replica_preserve_commit_order = ON (now OFF)",
    ]
    several = server(MYSQL_84, {"replica_parallel_workers": "4"}, role=REPLICA)
    assert isinstance(judged("replica-parallel", several), Fine)


def test_where_the_order_of_commits_cannot_be_kept_there_are_no_workers() -> None:
    unlogged = server(
        MYSQL_57, {"slave_parallel_workers": "0", "log_bin": "OFF", "log_slave_updates": "OFF"}, role=REPLICA
    )
    assert isinstance(judged("replica-parallel", unlogged), NotHere)
    galera = server(MARIADB, {"slave_parallel_threads": "0"}, role=a_role(replica=True, galera=True))
    assert isinstance(judged("replica-parallel", galera), NotHere)


WRITES = dict.fromkeys(("Com_insert", "Com_update", "Com_delete", "Com_replace"), 0.0)


def test_a_replica_without_writes_is_closed_and_another_is_left_to_its_owner() -> None:
    untouched = server(variables={"read_only": "OFF"}, status=WRITES, role=REPLICA)
    assert sentences(finding("replica-read-only", untouched)) == ["read_only = ON (now OFF)"]
    written = server(variables={"read_only": "OFF"}, status={**WRITES, "Com_insert": 7}, role=REPLICA)
    assert [change.kind for change in finding("replica-read-only", written).changes] == ["by hand"]
    young = server(variables={"read_only": "OFF"}, status={**WRITES, "Uptime": 60}, role=REPLICA)
    assert [change.kind for change in finding("replica-read-only", young).changes] == ["by hand"]
    both = server(variables={"read_only": "OFF"}, status=WRITES, role=a_role(replica=True, source=True))
    assert [change.kind for change in finding("replica-read-only", both).changes] == ["by hand"]
    assert isinstance(judged("replica-read-only", server(variables={"read_only": "OFF"})), NotHere)


def test_semi_synchronous_replication_that_fell_back_is_reported() -> None:
    fallen = server(
        MYSQL_84,
        {"rpl_semi_sync_source_enabled": "ON", "rpl_semi_sync_source_timeout": "10000"},
        {"Rpl_semi_sync_source_no_tx": 500, "Rpl_semi_sync_source_yes_tx": 500},
    )
    silent = fallen.status.after | {"Rpl_semi_sync_source_status": "OFF"}
    off = fallen.model_copy(update={"status": fallen.status.model_copy(update={"after": silent})})
    found = finding("semi-sync", off)
    assert found.severity is Severity.HIGH
    assert any("500 of 1000 transactions" in line for line in found.evidence)
    assert isinstance(judged("semi-sync", server(MYSQL_84)), NotHere)


def test_of_two_names_for_one_setting_the_release_gets_its_own() -> None:
    both = {"slave_parallel_threads": "0", "slave_parallel_workers": "0"}
    found = finding("replica-parallel", server(MARIADB, both, role=REPLICA), host=host(cpus=4))
    assert sentences(found) == ["slave_parallel_threads = 4 (now 0)"]
    sizes = {
        "max_allowed_packet": "1073741824",
        "replica_max_allowed_packet": "16777216",
        "slave_max_allowed_packet": "16777216",
    }
    assert sentences(finding("packet-size", server(MYSQL_84, sizes, role=REPLICA))) == [
        "replica_max_allowed_packet = 1G (now 16777216)"
    ]
