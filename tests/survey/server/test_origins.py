"""Where a value in force comes from."""

from __future__ import annotations

from mydyno.survey.facts import Origin
from mydyno.survey.facts.option_files import OptionFiles, option_files
from mydyno.survey.server.origins import Reported, origin_of

TEXT = {
    "/etc/my.cnf": "[mysqld]\nport=1\nsort_buffer_size=2M\n!include /etc/b.cnf\n",
    "/etc/b.cnf": "[mysqld]\nport=2\nport=3\nskip-name-resolve\n",
}


def files() -> OptionFiles:
    return option_files(
        TEXT.get, lambda folder: None, ["/etc/my.cnf"], {"mysqld"}, {"skip_name_resolve", "port"}
    )


def test_the_file_that_the_server_names_gets_its_line_and_the_lines_that_lose() -> None:
    assert origin_of("port", "3", Reported("file", "/etc/b.cnf"), files()) == Origin(
        source="file", file="/etc/b.cnf", line=3, overridden=("/etc/my.cnf:2", "/etc/b.cnf:2")
    )


def test_a_value_that_was_set_while_running_shows_the_lines_that_do_not_count() -> None:
    found = origin_of("sort_buffer_size", "4194304", Reported("set while running"), files())
    assert found == Origin(source="set while running", overridden=("/etc/my.cnf:3",))


def test_a_value_that_was_set_and_is_written_too_is_the_files() -> None:
    found = origin_of("sort_buffer_size", "2097152", Reported("set while running"), files())
    assert found == Origin(source="file", file="/etc/my.cnf", line=3)


def test_a_file_that_cannot_be_read_from_here_is_named_all_the_same() -> None:
    assert origin_of("port", "3", Reported("file", "/rds/my.cnf"), None) == Origin(
        source="file", file="/rds/my.cnf"
    )


def test_of_an_old_server_the_files_are_believed_where_they_say_what_is_in_force() -> None:
    found = origin_of("sort_buffer_size", "2097152", None, files())
    assert found is not None
    assert (found.file, found.line) == ("/etc/my.cnf", 3)
    assert origin_of("sort_buffer_size", "262144", None, files()) is None
    assert origin_of("skip_name_resolve", "ON", None, files()) is not None
    assert origin_of("max_connections", "151", None, files()) is None
