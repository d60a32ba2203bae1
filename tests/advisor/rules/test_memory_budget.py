from advisor.builders import GIB, MARIADB, host, server, system
from mydyno.advisor import rule_of
from mydyno.advisor.rule import Fine, Judgement, Unknown
from mydyno.advisor.targets import targets_of
from mydyno.apply.finding import Finding, Severity


def judged(pool: int, connections: int, memory: int | None = 16 * GIB, used: int = 20) -> Judgement:
    variables = {
        "innodb_buffer_pool_size": str(pool),
        "max_connections": str(connections),
        "sort_buffer_size": str(2 << 20),
    }
    the_system = system(
        server(MARIADB, variables, {"Max_used_connections": used}), None if memory is None else host(memory)
    )
    if memory is None:
        the_system = the_system.model_copy(update={"host": None})
    return rule_of("memory-budget").judge(the_system, targets_of(the_system))


def test_what_fits_is_fine_and_says_the_sum() -> None:
    calm = judged(8 * GIB, 151)
    assert isinstance(calm, Fine)
    assert calm.because == "at most 9.2G of 14.4G can be allocated"


def test_connections_that_could_take_more_than_there_is_are_a_finding_that_others_mend() -> None:
    found = judged(8 * GIB, 5000)
    assert isinstance(found, Finding)
    assert found.severity is Severity.HIGH
    assert found.changes == ()
    assert "now 8.9G once + 5000 connections x 2M = 18.7G" in found.evidence


def test_a_pool_that_alone_is_too_large_is_critical() -> None:
    found = judged(15 * GIB, 100)
    assert isinstance(found, Finding)
    assert found.severity is Severity.CRITICAL


def test_where_nothing_helps_it_says_how_much_is_missing() -> None:
    found = judged(GIB, 1000, memory=GIB // 2, used=600)
    assert isinstance(found, Finding)
    assert found.changes
    assert found.recommendation.startswith("give the machine 1.")


def test_without_the_memory_known_it_is_unknown() -> None:
    assert isinstance(judged(GIB, 100, memory=None), Unknown)
