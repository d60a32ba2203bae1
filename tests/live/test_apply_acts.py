"""Acts on the variables of real servers: set, read back, put back."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from live.conftest import Start
from mydyno.apply.acts import PersistVariables, SetGlobals
from mydyno.apply.acts.global_variables import setting_globals
from mydyno.apply.acts.persisted_variables import persisting
from mydyno.apply.acts.plan import live_acts, present, waiting
from mydyno.apply.apply_context import ApplyContext
from mydyno.apply.change import SetVariable
from mydyno.core.errors import ApplyError
from mydyno.lab.stack import RunningServer

pytestmark = pytest.mark.live


def context_of(server: RunningServer) -> ApplyContext:
    return ApplyContext(login=server.login)


def variable(context: ApplyContext, name: str) -> str | None:
    return present(SetVariable(name=name, value="", was=None, restart=False), context)


def change(name: str, value: str, *, restart: bool = False) -> SetVariable:
    return SetVariable(name=name, value=value, was=None, restart=restart)


def test_globals_come_and_go_with_those_that_bound_each_other(server: RunningServer) -> None:
    context = context_of(server)
    wanted = {
        "innodb_io_capacity": "9000",
        "innodb_io_capacity_max": "12000",
        "long_query_time": "0.5",
        "slow_query_log": "ON",
        "innodb_buffer_pool_size": "256M",
    }
    before = {name: variable(context, name) for name in wanted}
    act = setting_globals(context, wanted)
    assert act.look(context).state == "before"
    act = SetGlobals.model_validate_json(act.model_dump_json())
    act.do(context)
    act.do(context)
    assert act.look(context).state == "after"
    assert variable(context, "innodb_io_capacity") == "9000"
    assert variable(context, "slow_query_log") == "ON"
    back = act.reversed()
    back.do(context)
    assert back.look(context).state == "after"
    assert {name: variable(context, name) for name in wanted} == before


def test_a_value_that_the_server_clamps_is_refused_with_what_it_made_of_it(server: RunningServer) -> None:
    context = context_of(server)
    act = setting_globals(context, {"net_buffer_length": "2M"})
    with pytest.raises(ApplyError, match="net_buffer_length is 1048576, and net_buffer_length = 2097152 was"):
        act.do(context)
    act.reversed().do(context)
    assert act.look(context).state == "before"


def test_what_somebody_else_has_set_since_is_seen(server: RunningServer) -> None:
    context = context_of(server)
    act = setting_globals(context, {"thread_cache_size": "20"})
    act.do(context)
    setting_globals(context, {"thread_cache_size": "30"}).do(context)
    look = act.reversed().look(context)
    assert (look.state, look.says) == ("elsewhere", "thread_cache_size is 30")


def test_a_server_of_no_unit_waits_for_its_restart_and_what_is_in_force_needs_no_act(
    server: RunningServer,
) -> None:
    context = context_of(server)
    changes = (
        change("innodb_log_file_size", "64M", restart=True),
        change("max_connections", str(variable(context, "max_connections"))),
        change("table_definition_cache", "777"),
    )
    (act,) = live_acts(changes, context, restart=True)
    assert isinstance(act, SetGlobals)
    assert act.after == {"table_definition_cache": 777}
    waits = waiting(changes[::2], [act])
    assert waits == ("innodb_log_file_size = 64M",)


def test_without_a_way_into_the_server_nothing_of_it_is_done(server: RunningServer) -> None:
    changes = (change("table_definition_cache", "777"),)
    assert live_acts(changes, ApplyContext(), restart=True) == ()
    assert waiting(changes, ()) == ("table_definition_cache = 777",)
    with pytest.raises(ApplyError, match="no login to the server was given"):
        setting_globals(ApplyContext(), {"table_definition_cache": "777"})


@pytest.mark.slow
def test_mysql_keeps_values_for_its_next_start_and_forgets_them(
    start_release: Callable[[str], Start],
) -> None:
    context = context_of(start_release("mysql-9.7")())
    wanted = {"max_connections": "222", "innodb_log_buffer_size": "32M", "slow_query_log": "ON"}
    persisting(context, {"max_connections": "333"}).do(context)
    act = persisting(context, wanted)
    assert act.before == {"max_connections": "333", "innodb_log_buffer_size": None, "slow_query_log": None}
    act = PersistVariables.model_validate_json(act.model_dump_json())
    assert act.look(context).state == "before"
    act.do(context)
    act.do(context)
    assert act.look(context).state == "after"
    assert variable(context, "max_connections") == "151"
    back = act.reversed()
    back.do(context)
    assert back.look(context).state == "after"
    assert persisting(context, wanted).before == act.before
