"""Where a server variable is written so that it wins, and what is done to lines that should go."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apply.edits.builders import new_text, reading, texts
from mydyno.apply.change import RemoveVariable, SetVariable
from mydyno.apply.edits.option_file import remove_variable, set_variable
from mydyno.apply.edits.texts import HEADER, RefusedError

DEBIAN = {
    "/etc/mysql/my.cnf": "!includedir /etc/mysql/conf.d/\n!includedir /etc/mysql/mariadb.conf.d/\n",
    "/etc/mysql/conf.d/mysql.cnf": "[mysql]\n",
    "/etc/mysql/mariadb.conf.d/50-server.cnf": "[mysqld]\ninnodb_io_capacity = 100\n",
}
OURS = "/etc/mysql/mariadb.conf.d/zz-mydyno.cnf"


def capacity(value: str = "2000") -> SetVariable:
    return SetVariable(name="innodb_io_capacity", value=value, was="100", restart=False)


def test_a_variable_goes_into_the_folder_that_is_read_last() -> None:
    system = texts(DEBIAN)
    set_variable(system, capacity(), reading())
    assert system.changed() == {OURS: (None, f"{HEADER}[mariadb]\ninnodb_io_capacity = 2000\n")}


def test_mysql_has_a_group_of_its_own() -> None:
    system = texts(DEBIAN)
    set_variable(system, capacity(), reading(version="MySQL"))
    assert "[mysqld]\n" in new_text(system, OURS)


def test_a_later_advice_takes_the_place_of_the_earlier_one() -> None:
    system = texts({**DEBIAN, OURS: f"{HEADER}[mariadb]\ninnodb_io_capacity = 2000\nmax_connections = 50\n"})
    set_variable(system, capacity("4000"), reading())
    assert new_text(system, OURS) == f"{HEADER}[mariadb]\ninnodb_io_capacity = 4000\nmax_connections = 50\n"


@pytest.mark.parametrize("written", ["2000", "2000  # by hand", '"2000"'])
def test_nothing_changes_where_a_file_says_so_already(written: str) -> None:
    system = texts({"/etc/mysql/my.cnf": f"[mysqld]\ninnodb-io-capacity={written}\n"})
    set_variable(system, capacity(), reading())
    assert system.changed() == {}


def test_sizes_are_compared_by_what_they_mean() -> None:
    system = texts({"/etc/mysql/my.cnf": "[mysqld]\ninnodb_buffer_pool_size = 1024M\n"})
    pool = SetVariable(name="innodb_buffer_pool_size", value="1G", was=None, restart=False)
    set_variable(system, pool, reading())
    assert system.changed() == {}


def test_where_a_line_below_the_folder_wins_mydynos_group_goes_to_the_end_of_that_file() -> None:
    main = "[mysqld]\n!includedir /etc/my.cnf.d\n[mysqld]\ninnodb_io_capacity = 100"
    system = texts({"/etc/my.cnf": main, "/etc/my.cnf.d/server.cnf": "[server]\n"})
    set_variable(system, capacity(), reading("/etc/my.cnf"))
    set_variable(system, capacity("3000"), reading("/etc/my.cnf"))
    ((path, (_, new)),) = system.changed().items()
    assert (path, new.startswith(f"{main}\n# mydyno apply:")) == ("/etc/my.cnf", True)
    assert new.endswith("[mariadb]\ninnodb_io_capacity = 3000\n")


def test_a_server_without_any_option_file_gets_its_first_one() -> None:
    system = texts({})
    set_variable(system, capacity(), reading("/etc/my.cnf", "/etc/mysql/my.cnf"))
    assert new_text(system, "/etc/my.cnf") == f"{HEADER}[mariadb]\ninnodb_io_capacity = 2000\n"


def test_what_wins_over_every_file_is_reported() -> None:
    with pytest.raises(RefusedError, match="on its command line"):
        set_variable(texts(DEBIAN), capacity(), reading(on_command_line=frozenset({"innodb_io_capacity"})))


def test_what_the_server_keeps_by_itself_is_not_written_to_a_file_that_would_lose() -> None:
    system = texts(DEBIAN)
    set_variable(system, capacity(), reading(persisted=frozenset({"innodb_io_capacity"})))
    assert system.changed() == {}


def test_a_value_that_needs_quotes_gets_them() -> None:
    system = texts({"/etc/mysql/my.cnf": "[mysqld]\n"})
    change = SetVariable(name="init_connect", value="SET NAMES 'utf8' # x", was="", restart=False)
    set_variable(system, change, reading())
    assert "init_connect = \"SET NAMES 'utf8' # x\"\n" in new_text(system, "/etc/mysql/my.cnf")


@given(st.text(st.characters(codec="utf-8", exclude_characters="\n\r\0"), min_size=1, max_size=30))
def test_any_value_is_either_read_back_as_it_is_or_refused(value: str) -> None:
    system = texts({"/etc/mysql/my.cnf": "[mysqld]\n"})
    change = SetVariable(name="init_connect", value=value, was="", restart=False)
    try:
        set_variable(system, change, reading())
    except RefusedError:
        assert system.changed() == {}
        return
    (line,) = reading().of(system).of("init_connect")
    assert (line.value or "").casefold() == value.strip().casefold()


def test_every_line_of_a_variable_that_should_go_becomes_a_comment() -> None:
    system = texts(
        {
            "/etc/mysql/my.cnf": "[mysqld]\nquery-cache-size=1M\nport=3306\nquery_cache_size = 2M\n",
        }
    )
    change = RemoveVariable(name="query_cache_size", file="/etc/mysql/my.cnf", line=4, was="2M")
    remove_variable(system, change, reading())
    said = "# mydyno: query_cache_size is not to be set here any more\n"
    assert new_text(system, "/etc/mysql/my.cnf") == (
        f"[mysqld]\n{said}#query-cache-size=1M\nport=3306\n{said}#query_cache_size = 2M\n"
    )
    after = dict(system.changed())
    remove_variable(system, change, reading())
    assert system.changed() == after
