"""Rules on InnoDB's memory: the buffer pool and its parts."""

from advisor.builders import GIB, MARIADB, MYSQL_57, MYSQL_84, host, server, system, variable
from advisor.rules.judging import found, sentences
from mydyno.advisor import rule_of
from mydyno.advisor.rule import Fine, Judgement, NotHere, Unknown
from mydyno.advisor.targets import Targets
from mydyno.apply.finding import Severity
from mydyno.survey.facts import Origin, Schema, System

POOL = "innodb_buffer_pool_size"
TEN_GIB = Targets(buffer_pool_bytes=10 * GIB, memory_lines=("16G - 6G = 10G",))


def with_pool(size: int, version: str = MARIADB, **variables: str) -> System:
    return system(
        server(
            version,
            {POOL: str(size), **variables},
            status={"Innodb_buffer_pool_reads": 60_000, "Innodb_buffer_pool_read_requests": 6_000_000},
            before={"Innodb_buffer_pool_reads": 0, "Innodb_buffer_pool_read_requests": 0},
            schema_facts=Schema(tables=9, bytes_by_engine={"InnoDB": 40 * GIB}),
        )
    )


def test_the_pool_gets_its_target_with_the_budget_and_the_misses_as_evidence() -> None:
    finding = found(rule_of("buffer-pool-size").judge(with_pool(128 << 20), TEN_GIB))
    assert sentences(finding) == ["innodb_buffer_pool_size = 10G (now 134217728)"]
    assert finding.evidence == (
        "InnoDB's tables and indexes have 40G",
        "60,000 of 6,000,000 page requests went to the disk (1.000%), 1,000.0/s",
        "16G - 6G = 10G",
    )
    assert (finding.severity, finding.effect.size, finding.restart) == (Severity.HIGH, "large", False)


def test_a_pool_larger_than_its_target_is_a_danger_to_the_server() -> None:
    finding = found(rule_of("buffer-pool-size").judge(with_pool(15 * GIB), TEN_GIB))
    assert (finding.severity, finding.effect.aspect) == (Severity.HIGH, "stability")


def test_mariadb_needs_a_restart_above_its_bound() -> None:
    bounded = with_pool(128 << 20, innodb_buffer_pool_size_max=str(128 << 20))
    assert found(rule_of("buffer-pool-size").judge(bounded, TEN_GIB)).restart


def test_a_pool_at_its_target_is_fine_and_without_a_target_nothing_is_known() -> None:
    assert isinstance(rule_of("buffer-pool-size").judge(with_pool(10 * GIB), TEN_GIB), Fine)
    assert isinstance(rule_of("buffer-pool-size").judge(with_pool(10 * GIB), Targets()), Unknown)


def test_a_large_pool_on_many_cpus_is_cut_in_eight_before_mysql_8_4() -> None:
    def judged(version: str, instances: str, cpus: int = 16) -> Judgement:
        the_server = server(version, {POOL: str(GIB), "innodb_buffer_pool_instances": instances})
        return rule_of("buffer-pool-instances").judge(system(the_server, host(cpus=cpus)), TEN_GIB)

    assert sentences(judged(MYSQL_57, "1")) == ["innodb_buffer_pool_instances = 8 (now 1)"]
    assert isinstance(judged(MYSQL_57, "16"), Fine)
    assert isinstance(judged(MYSQL_57, "1", cpus=2), Fine)
    assert isinstance(judged(MYSQL_84, "1"), Fine)
    assert isinstance(judged(MARIADB, "1"), NotHere)


def test_both_halves_of_a_warm_restart_are_switched_on() -> None:
    names = ("innodb_buffer_pool_dump_at_shutdown", "innodb_buffer_pool_load_at_startup")
    off = {POOL: str(GIB), names[0]: "OFF", names[1]: variable("OFF", dynamic=False)}
    finding = found(rule_of("buffer-pool-dump").judge(system(server(MYSQL_57, off)), Targets()))
    assert sentences(finding) == [f"{name} = ON (now OFF)" for name in names]
    assert finding.restart
    on = {POOL: str(GIB), **dict.fromkeys(names, "ON")}
    assert isinstance(rule_of("buffer-pool-dump").judge(system(server(variables=on)), Targets()), Fine)


def test_waits_for_a_free_page_are_reported_with_their_rate() -> None:
    waiting = server(
        status={"Innodb_buffer_pool_wait_free": 1200, "Innodb_buffer_pool_pages_dirty": 900,
                "Innodb_buffer_pool_pages_total": 1000},
        before={"Innodb_buffer_pool_wait_free": 0},
    )  # fmt: skip
    finding = found(rule_of("buffer-pool-wait-free").judge(system(waiting), Targets()))
    assert finding.title == "Queries wait for a free page of the buffer pool 20.0 times a second"
    assert "900 of 1,000 pages are dirty (90%)" in finding.evidence
    idle = server(status={"Innodb_buffer_pool_wait_free": 5})
    assert isinstance(rule_of("buffer-pool-wait-free").judge(system(idle), Targets()), Fine)


def test_a_scan_may_not_empty_the_pool() -> None:
    def judged(value: str) -> Judgement:
        return rule_of("old-blocks-time").judge(
            system(server(variables={"innodb_old_blocks_time": value})), Targets()
        )

    assert sentences(judged("0")) == ["innodb_old_blocks_time = 1000 (now 0)"]
    assert isinstance(judged("1000"), Fine)


def test_a_dedicated_server_with_explicit_sizes_is_left_to_the_user() -> None:
    def judged(source: str) -> Judgement:
        pool = variable(str(GIB), origin=Origin(source=source, file="/etc/my.cnf", line=3))
        return rule_of("dedicated-server").judge(
            system(server(MYSQL_84, {"innodb_dedicated_server": "ON", POOL: pool})), Targets()
        )

    assert found(judged("file")).changes[0].kind == "by hand"
    assert isinstance(judged("computed"), Fine)
    assert isinstance(rule_of("dedicated-server").judge(system(), Targets()), NotHere)
