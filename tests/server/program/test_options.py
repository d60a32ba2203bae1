import pytest
from hypothesis import given
from hypothesis import strategies as st
from lab.stack.builders import options_of

from mydyno.core.errors import ServerError
from mydyno.core.server_variables import option_name
from mydyno.server.program.binary import parse_options

MYSQL_CLIENT = """\
Variables (--variable-name=value)
and boolean options {FALSE|TRUE}  Value (after reading options)
--------------------------------- ----------------------------------------
auto-rehash                       TRUE
max-allowed-packet                16777216
"""


def test_mariadb_lists_its_options_with_their_defaults() -> None:
    options = options_of("mariadb-10.11.19")
    assert len(options) == 703
    assert options["max_connections"] == "151"
    assert options["innodb_buffer_pool_size"] == "134217728"
    assert options["skip_name_resolve"] == "FALSE"
    assert options["ft_boolean_syntax"] == '+ -><()~*:""&|'
    assert options["log_bin"] is None
    assert options["init_connect"] == ""
    assert "To" not in options


def test_mysql_lists_its_options_in_the_same_shape() -> None:
    options = options_of("mysql-9.7.4")
    assert len(options) == 720
    assert options["max_connections"] == "151"
    assert options["innodb_redo_log_capacity"] == "104857600"
    assert options["log_bin"] == "binlog"
    assert "query_cache_size" not in options


@pytest.mark.parametrize("text", ["", "Usage: sleep NUMBER", MYSQL_CLIENT])
def test_help_that_is_not_a_servers_is_refused(text: str) -> None:
    with pytest.raises(ServerError, match="lists no server options"):
        parse_options(text)


@given(
    options=st.dictionaries(
        st.from_regex(r"[a-z][a-zA-Z0-9-]{0,79}", fullmatch=True),
        st.none() | st.from_regex(r"[!-~]([ -~]{0,40}[!-~])?", fullmatch=True),
    )
)
def test_names_of_any_length_and_values_of_any_words_are_read_back(options: dict[str, str | None]) -> None:
    options = {"datadir": "/var/lib/mysql/", "max-connections": "151", **options}
    table = "".join(
        f"{name:<60} {'(No default value)' if value is None else value}\n" for name, value in options.items()
    )
    text = f"Usage\n\nVariables\n{'-' * 60} {'-' * 13}\n{table}\nTo see what values a server is using...\n"
    expected = {option_name(name): value for name, value in options.items() if value != "(No default value)"}
    assert {name: parse_options(text)[name] for name in expected} == expected
