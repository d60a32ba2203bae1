from advisor.builders import MARIADB, MYSQL_57, MYSQL_84, host, server, variable
from advisor.rules.judging import finding, judged, sentences
from mydyno.advisor.rule import Fine, NotHere
from mydyno.advisor.targets import Targets
from mydyno.apply.finding import Severity
from mydyno.survey.facts import Process, Schema, Server


def opening(version: str = MARIADB) -> Server:
    return server(
        version,
        variables={"table_open_cache": "2000", "table_definition_cache": "400"},
        status={
            "Open_tables": 2000,
            "Opened_tables": 60_000,
            "Open_table_definitions": 400,
            "Opened_table_definitions": 6000,
            "Max_used_connections": 800,
        },
        before={"Opened_tables": 0, "Opened_table_definitions": 0},
    )


def test_full_caches_that_open_all_the_time_are_made_larger() -> None:
    found = finding("table-open-cache", opening())
    assert sentences(found) == ["table_open_cache = 3600 (now 2000)"]
    assert found.severity is Severity.MEDIUM
    assert sentences(finding("table-definition-cache", opening(MYSQL_84))) == [
        "table_definition_cache = 2000 (now 400)"
    ]


def test_a_cache_is_made_as_large_as_it_will_ever_be_advised_at_once() -> None:
    def filled(size: int) -> Server:
        return server(
            variables={"table_open_cache": str(size), "table_definition_cache": "400"},
            status={
                "Open_tables": size,
                "Opened_tables": 6_000_000,
                "Open_table_definitions": 30,
                "Max_used_connections": 16,
            },
        )

    assert sentences(finding("table-open-cache", filled(16))) == ["table_open_cache = 2000 (now 16)"]
    assert isinstance(judged("table-open-cache", filled(2000)), Fine)


def test_definitions_are_kept_for_as_many_tables_as_there_are() -> None:
    known = opening(MYSQL_84).model_copy(update={"schema_facts": Schema(tables=5230)})
    assert sentences(finding("table-definition-cache", known)) == ["table_definition_cache = 5300 (now 400)"]


def test_caches_with_room_are_fine() -> None:
    roomy = server(
        variables={"table_open_cache": "2000", "table_definition_cache": "400"},
        status={"Open_tables": 90, "Opened_tables": 99, "Open_table_definitions": 80},
    )
    assert isinstance(judged("table-open-cache", roomy), Fine)
    assert isinstance(judged("table-definition-cache", roomy), Fine)


def test_one_lock_for_many_cpus_is_cut_on_mysql_alone() -> None:
    one = {"table_open_cache_instances": variable("1", dynamic=False)}
    found = finding("table-open-cache-instances", server(MYSQL_57, one), host=host(cpus=16))
    assert sentences(found) == ["table_open_cache_instances = 16 (now 1)"]
    assert isinstance(judged("table-open-cache-instances", server(MYSQL_57, one), host=host(cpus=2)), Fine)
    assert isinstance(judged("table-open-cache-instances", server(MARIADB, one), host=host(cpus=16)), NotHere)


def test_too_few_files_are_critical_when_they_are_nearly_used_up() -> None:
    few = server(variables={"open_files_limit": variable("1024", dynamic=False)})
    needs = Targets(open_files=10_000, open_files_lines=("151 connections + ... = 9,251",))
    calm = finding("open-files-limit", few, needs)
    assert (calm.severity, calm.restart) == (Severity.LOW, True)
    assert sentences(calm) == ["open_files_limit = 10000 (now 1024)"]
    full = host(process=Process(pid=1, open_files=1000))
    assert finding("open-files-limit", few, needs, full).severity is Severity.CRITICAL
    assert isinstance(judged("open-files-limit", few, Targets(open_files=900)), Fine)
