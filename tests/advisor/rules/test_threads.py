from advisor.builders import MARIADB, MYSQL_84, host, server, variable
from advisor.rules.judging import finding, judged, sentences
from mydyno.advisor.rule import Fine, NotHere, Unknown
from mydyno.advisor.targets import Targets
from mydyno.survey.facts import Server


def seed_001(cache: str, created: int, connections: int, used: int) -> Server:
    return server(
        variables={"thread_cache_size": cache, "max_connections": "450"},
        status={
            "Threads_created": created,
            "Connections": connections,
            "Max_used_connections": used,
            "Uptime": 500,
        },
        before={"Threads_created": 0, "Connections": 0},
        seconds=400,
    )


def test_the_cache_of_8_in_seed_001_is_a_finding_and_that_of_450_is_none() -> None:
    found = finding("thread-cache", seed_001("8", 5575, 8611, 396), Targets(max_connections=450))
    assert sentences(found) == ["thread_cache_size = 400 (now 8)"]
    assert any("60% of all connections" in line for line in found.evidence)
    assert isinstance(judged("thread-cache", seed_001("450", 31, 8937, 31)), Fine)


def test_a_cache_that_holds_all_connections_is_fine_whatever_is_made() -> None:
    assert isinstance(judged("thread-cache", seed_001("400", 5575, 8611, 396)), Fine)


def test_a_pool_has_no_use_for_the_cache() -> None:
    pooled = server(
        variables={"thread_cache_size": "8", "thread_handling": "pool-of-threads"},
        status={"Threads_created": 9_000_000, "Connections": 9_000_000, "Max_used_connections": 400},
    )
    assert isinstance(judged("thread-cache", pooled), NotHere)


def crowd(handling: str, groups: str, running: float, before: float | None = None) -> Server:
    return server(
        MARIADB,
        variables={
            "thread_handling": variable(handling, dynamic=False),
            "thread_pool_size": groups,
        },
        status={"Threads_running": running},
        before={} if before is None else {"Threads_running": before},
    )


def test_a_crowd_on_few_cpus_gets_a_pool_with_a_group_for_each() -> None:
    found = finding("thread-pool", crowd("one-thread-per-connection", "4", 64), host=host(cpus=4))
    assert sentences(found) == ["thread_handling = pool-of-threads (now one-thread-per-connection)"]
    assert found.restart
    odd = finding("thread-pool", crowd("one-thread-per-connection", "64", 64), host=host(cpus=4))
    assert "thread_pool_size = 4 (now 64)" in sentences(odd)


def test_a_crowd_of_one_instant_is_none() -> None:
    moment = crowd("one-thread-per-connection", "4", 64, before=2)
    assert isinstance(judged("thread-pool", moment), Fine)


def test_a_pool_as_large_as_the_cpus_is_fine_and_mysql_has_none() -> None:
    assert isinstance(judged("thread-pool", crowd("pool-of-threads", "4", 64)), Fine)
    plain = server(MYSQL_84, variables={"thread_handling": "one-thread-per-connection"})
    assert isinstance(judged("thread-pool", plain), NotHere)


def test_threads_that_start_slowly_show_an_overloaded_machine() -> None:
    starved = server(variables={"slow_launch_time": "2"}, status={"Slow_launch_threads": 40})
    assert "overloaded" in finding("slow-launch", starved).title
    assert isinstance(
        judged("slow-launch", server(variables={"slow_launch_time": "2"}, status={"Slow_launch_threads": 0})),
        Fine,
    )
    eager = server(variables={"slow_launch_time": "0"}, status={"Slow_launch_threads": 40})
    assert isinstance(judged("slow-launch", eager), Unknown)


def test_the_first_threads_of_connections_that_stay_are_not_counted() -> None:
    young = server(
        variables={"thread_cache_size": "9"},
        status={"Threads_created": 300, "Connections": 300, "Max_used_connections": 300, "Uptime": 60},
    )
    assert isinstance(judged("thread-cache", young), Fine)
