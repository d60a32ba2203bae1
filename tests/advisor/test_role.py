import pytest

from advisor.builders import a_role, host, server, system
from mydyno.advisor.role import forbidden
from mydyno.apply.change import ByHand, Change, RemoveVariable, SetQueue, SetSysctl, SetUnit, SetVariable
from mydyno.survey.facts import System

SYSCTL = SetSysctl(name="vm.swappiness", value="1", was="60")
QUEUE = SetQueue(disk="sda", attribute="scheduler", value="none", was="bfq")
UNIT = SetUnit(unit="mariadb.service", name="LimitNOFILE", value="65536", was="1024")


def setting(name: str, value: str) -> SetVariable:
    return SetVariable(name=name, value=value, was=None, restart=False)


def as_(**role: object) -> System:
    return system(server(role=a_role(**role)))


@pytest.mark.parametrize("change", [SYSCTL, QUEUE, UNIT, setting("max_connections", "500")])
def test_a_server_of_ones_own_on_a_machine_of_ones_own_takes_everything(change: Change) -> None:
    assert forbidden(system(), change) is None


@pytest.mark.parametrize(
    ("service", "way"),
    [
        ("Amazon RDS", "DB parameter group"),
        ("Amazon Aurora", "DB cluster"),
        ("Azure Database", "server parameters"),
        ("Cloud SQL", "database flags"),
        ("some other service", "console"),
    ],
)
def test_a_managed_service_is_set_by_its_own_way_and_its_host_is_not_ours(service: str, way: str) -> None:
    managed = as_(managed=service)
    assert way in (forbidden(managed, setting("max_connections", "500")) or "")
    leaves = RemoveVariable(name="query_cache_size", file="/etc/my.cnf", line=3, was="0")
    assert way in (forbidden(managed, leaves) or "")
    assert forbidden(managed, SYSCTL) == f"the host belongs to {service}"


def test_aurora_has_no_redo_log_files_to_set() -> None:
    assert "its own storage layer" in (
        forbidden(as_(managed="Amazon Aurora"), setting("innodb_redo_log_capacity", "1G")) or ""
    )


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("innodb_autoinc_lock_mode", "2", "1"),
        ("binlog_format", "ROW", "MIXED"),
        ("innodb_doublewrite", "1", "OFF"),
        ("default_storage_engine", "innodb", "Aria"),
        ("transaction_isolation", "READ-COMMITTED", "SERIALIZABLE"),
        ("read_only", "0", "ON"),
        ("log_output", "FILE", "TABLE"),
    ],
)
def test_galera_keeps_what_it_needs(name: str, good: str, bad: str) -> None:
    node = as_(galera=True)
    assert forbidden(node, setting(name, good)) is None
    assert forbidden(node, setting(name, bad)) is not None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("super_read_only", "OFF"),
        ("gtid_mode", "OFF"),
        ("log_replica_updates", "OFF"),
        ("binlog_format", "STATEMENT"),
        ("replica_preserve_commit_order", "OFF"),
        ("relay_log_info_repository", "FILE"),
    ],
)
def test_a_member_of_a_group_keeps_what_the_group_needs(name: str, value: str) -> None:
    assert forbidden(as_(group_replication=True), setting(name, value)) is not None


@pytest.mark.parametrize("role", ["replica", "source", "galera", "group_replication"])
@pytest.mark.parametrize("name", ["server_id", "gtid_domain_id", "sql_mode"])
def test_what_a_topology_agrees_on_is_not_changed_on_one_of_its_servers(role: str, name: str) -> None:
    assert forbidden(as_(**{role: True}), setting(name, "7")) is not None
    assert forbidden(as_(), setting(name, "7")) is None


def test_only_a_server_without_writes_may_become_read_only() -> None:
    read_only = setting("read_only", "ON")
    assert forbidden(as_(replica=True), read_only) is None
    assert forbidden(as_(replica=True, source=True), read_only) is None
    assert forbidden(as_(source=True), read_only) is not None


def test_a_source_keeps_the_format_and_the_whole_rows_of_its_log() -> None:
    source = as_(source=True)
    assert "replicas first" in (forbidden(source, setting("binlog_format", "ROW")) or "")
    assert forbidden(source, setting("binlog_row_image", "MINIMAL")) is not None
    assert forbidden(source, setting("binlog_row_image", "FULL")) is None


@pytest.mark.parametrize("change", [SYSCTL, QUEUE, UNIT])
def test_a_container_and_a_host_that_was_not_seen_are_left_alone(change: Change) -> None:
    contained = system(the_host=host(container=True))
    assert "container" in (forbidden(contained, change) or "")
    unseen = system().model_copy(update={"host": None})
    assert forbidden(unseen, change) == "the server's host was not read"
    assert forbidden(unseen, setting("max_connections", "500")) is None


def test_without_systemd_there_are_no_units() -> None:
    assert forbidden(system(the_host=host(systemd=False)), UNIT) is not None
    assert forbidden(system(the_host=host(systemd=False)), SYSCTL) is None


def test_what_is_done_by_hand_is_left_to_the_hand() -> None:
    by_hand = ByHand(says="build the array anew")
    assert forbidden(as_(managed="Amazon RDS"), by_hand) is None
