"""Which line of which option file a server's setting comes from."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence

import pytest

from mydyno.core.server_version import parse_version
from mydyno.survey.facts.option_files import OptionFiles, meant, option_files, server_groups, start_files

MARIADB = server_groups(parse_version("mariadbd Ver 10.11.19-MariaDB"))
KNOWN = frozenset({"innodb_buffer_pool_size", "skip_name_resolve", "log_bin", "key_buffer_size", "sql_mode"})


def of(files: Mapping[str, str], start: Sequence[str] = ("/etc/my.cnf",)) -> OptionFiles:
    def listing(folder: str) -> list[str] | None:
        inside = [posixpath.basename(path) for path in files if posixpath.dirname(path) == folder]
        return inside or None

    return option_files(files.get, listing, start, MARIADB, KNOWN)


def value_of(text: str, name: str) -> str | None:
    line = of({"/etc/my.cnf": f"[mysqld]\n{text}\n"}).effective(name)
    assert line is not None
    return line.value


def test_the_last_line_counts_and_those_before_it_are_reported() -> None:
    found = of({"/etc/my.cnf": "[mysqld]\nport=1\n\n[mariadb]\nport=2\n[server]\nport=3\n"})
    line = found.effective("port")
    assert line is not None
    assert (line.value, line.place, line.group) == ("3", "/etc/my.cnf:7", "server")
    assert [each.place for each in found.overridden("port")] == ["/etc/my.cnf:2", "/etc/my.cnf:5"]


def test_an_included_file_is_read_in_the_place_of_its_line_and_a_folder_by_name() -> None:
    found = of(
        {
            "/etc/my.cnf": "[mysqld]\nport=1\n!includedir /etc/my.cnf.d\nport=9\n!include /etc/last.cnf\n",
            "/etc/my.cnf.d/20-b.cnf": "[mysqld]\nport=3\n",
            "/etc/my.cnf.d/10-a.cnf": "[mysqld]\nport=2\n",
            "/etc/my.cnf.d/50-notes.txt": "[mysqld]\nport=4\n",
            "/etc/last.cnf": "[mysqld]\nport=5\n",
        }
    )
    assert [line.value for line in found.of("port")] == ["1", "2", "3", "9", "5"]
    assert found.folders == ("/etc/my.cnf.d",)
    assert found.files == (
        "/etc/my.cnf",
        "/etc/my.cnf.d/10-a.cnf",
        "/etc/my.cnf.d/20-b.cnf",
        "/etc/last.cnf",
    )


def test_the_group_before_an_include_goes_on_behind_it() -> None:
    found = of({"/etc/my.cnf": "[mysqld]\n!include /b.cnf\nport=2\n", "/b.cnf": "[client]\nport=1\n"})
    assert [line.place for line in found.of("port")] == ["/etc/my.cnf:3"]


def test_groups_of_clients_and_of_other_releases_are_not_the_servers() -> None:
    text = "[client]\nport=1\n[mariadb-10.6]\nport=2\n[mysqld_safe]\nport=3\n[mariadb-10.11]\nport=4\n"
    assert [line.value for line in of({"/etc/my.cnf": text}).of("port")] == ["4"]
    assert "mariadb" not in server_groups(parse_version("mysqld Ver 8.4.3 for Linux"))
    assert {"mysqld-8.4", "mysqld2"} <= server_groups(parse_version("mysqld Ver 8.4.3 for Linux"), "2")


@pytest.mark.parametrize(
    ("written", "value", "expected"),
    [
        ("innodb-buffer_pool-size", "1G", ("innodb_buffer_pool_size", "1G")),
        ("loose-innodb_buffer_pool_size", "1G", ("innodb_buffer_pool_size", "1G")),
        ("skip-log-bin", None, ("log_bin", "OFF")),
        ("skip-log-bin", "0", ("log_bin", "ON")),
        ("loose_disable_log_bin", None, ("log_bin", "OFF")),
        ("enable-log-bin", None, ("log_bin", "ON")),
        ("skip-name-resolve", None, ("skip_name_resolve", None)),
        ("key_buffer", "16M", ("key_buffer_size", "16M")),
        ("unheard_of", "1", ("unheard_of", "1")),
    ],
)
def test_a_name_is_the_variable_that_the_server_takes_it_for(
    written: str, value: str | None, expected: tuple[str, str | None]
) -> None:
    assert meant(written, value, KNOWN) == expected


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("sql_mode = ANSI", "ANSI"),
        ("sql_mode='A B'  ", "A B"),
        ('sql_mode="a#b" # why', "a#b"),
        ("sql_mode=a#b", "a"),
        (r"sql_mode=a\sb\\c\qd", r"a b\c\qd"),
        ("sql_mode=", ""),
        ("sql_mode", None),
        ("sql_mode = a = b", "a = b"),
        ("sql_mode = 'it", "'it"),
    ],
)
def test_values_lose_quotes_escapes_and_comments(written: str, value: str | None) -> None:
    assert value_of(written, "sql_mode") == value


def test_a_comment_may_begin_a_line_by_either_sign() -> None:
    assert of({"/etc/my.cnf": "# a\n; b\n\n[mysqld]\n  # port=1\n;port=2\n"}).lines == ()


@pytest.mark.parametrize(
    ("text", "place", "why", "fatal"),
    [
        ("port=1\n", "/etc/my.cnf:1", "before the first", True),
        ("[mysqld\nport=1\n", "/etc/my.cnf:1", "bracket", True),
        ("[mysqld]\n!includdir /x\n", "/etc/my.cnf:2", "directive", False),
        ("!include /nowhere.cnf\n", "/etc/my.cnf:1", "/nowhere.cnf is not there", False),
        ("!includedir /nowhere\n", "/etc/my.cnf:1", "/nowhere is not there", False),
    ],
)
def test_a_line_that_no_server_understands_is_reported_with_its_place(
    text: str, place: str, why: str, fatal: bool
) -> None:
    fault = of({"/etc/my.cnf": text}).faults[0]
    assert (fault.place, fault.fatal) == (place, fatal)
    assert why in fault.why


def test_files_that_include_each_other_come_to_an_end() -> None:
    found = of({"/etc/my.cnf": "[mysqld]\nport=1\n!include /etc/my.cnf\n"})
    assert len(found.of("port")) == 11
    assert "deep" in found.faults[0].why


def test_a_missing_start_file_is_no_fault() -> None:
    assert of({}, ("/etc/my.cnf", "/etc/mysql/my.cnf")).faults == ()


def test_the_start_files_are_those_that_the_server_names() -> None:
    result = (
        "Starts the MariaDB database server.\n\n"
        "Default options are read from the following files in the given order:\n"
        "/etc/my.cnf /etc/mysql/my.cnf ~/.my.cnf \n"
        "The following groups are read: mysqld server\n"
    )
    assert start_files(result, "/var/lib/mysql") == (
        "/etc/my.cnf",
        "/etc/mysql/my.cnf",
        "/var/lib/mysql/.my.cnf",
    )
    assert start_files(result) == ("/etc/my.cnf", "/etc/mysql/my.cnf")
    assert start_files(None, "/root")[-1] == "/root/.my.cnf"
