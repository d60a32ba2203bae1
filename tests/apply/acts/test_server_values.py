"""Where a server stands between old and new values."""

from mydyno.apply.acts.server_values import state_between

POOL = {"innodb_buffer_pool_chunk_size": "134217728"}


def test_a_server_with_all_new_values_stands_after() -> None:
    look = state_between({"max_connections": 151}, {"max_connections": 300}, {"max_connections": "300"})
    assert (look.state, look.says) == ("after", "the server has max_connections = 300")


def test_a_server_between_the_two_as_a_kill_leaves_it_is_nobody_elses() -> None:
    before, after = {"a": 1, "slow_query_log": 0}, {"a": 2, "slow_query_log": "ON"}
    assert state_between(before, after, {"a": "2", "slow_query_log": "OFF"}).state == "before"


def test_a_value_of_another_session_is_reported() -> None:
    look = state_between({"max_connections": 151}, {"max_connections": 300}, {"max_connections": "500"})
    assert (look.state, look.says) == ("elsewhere", "max_connections is 500")


def test_a_value_that_the_server_has_rounded_counts_as_set_and_is_reported() -> None:
    name = "innodb_buffer_pool_size"
    look = state_between({name: 134217728}, {name: 200 << 20}, {name: str(256 << 20), **POOL})
    assert look.state == "after"
    assert "rounds it up to a multiple of its chunks" in look.says
