"""What programs say of new texts, and how it is read."""

from __future__ import annotations

from pathlib import Path

from apply.edits.builders import reading, texts
from mydyno.apply.change import SetVariable
from mydyno.apply.checks import faults_of_drop_in, fstab_faults, mirrored, parse_verify
from mydyno.apply.diff import unified
from mydyno.apply.edits.option_file import set_variable
from mydyno.apply.reading import advised_version, started_by

HELP = """Default options are read from the following files in the given order:
/etc/my.cnf /etc/mysql/my.cnf ~/.my.cnf
"""


def test_errors_of_findmnt_bear_the_mount_point_and_warnings_are_none() -> None:
    output = (
        "/data\n   [E] unreachable on boot required source: UUID=1\n   [W] noatime is new\n"
        "/other\n   [E] x\n\n0 parse errors, 2 errors, 1 warning\n"
    )
    assert parse_verify(output, "findmnt: /tmp/x: parse error at line 7 -- ignored\n") == [
        "line 7 cannot be read",
        "/data: unreachable on boot required source: UUID=1",
        "/other: x",
    ]


def test_a_fault_that_was_there_before_does_not_count() -> None:
    old = "UUID=nobody-has-this /nowhere ext4 defaults 0 2\n"
    assert fstab_faults(old, old.replace("defaults", "noatime")) == []
    assert fstab_faults(old, old + "UUID=1 /x ext4 noatime, barrier 0 2\n") == ["line 2 cannot be read"]


def test_what_systemd_says_of_other_files_was_there_before() -> None:
    said = "/lib/systemd/system/x.service:3: Unknown key\n/tmp/f/m.service.d/zz.conf:4: Failed to parse\n"
    assert faults_of_drop_in(said, "/tmp/f/m.service.d/zz.conf") == ["line 4: Failed to parse"]


def test_option_files_are_copied_so_that_the_copies_include_each_other(
    tmp_path: Path,
) -> None:
    main = "[mysqld]\nport=1\n!includedir /etc/my.cnf.d\n"
    system = texts({"/etc/my.cnf": main, "/etc/my.cnf.d/a.cnf": "[mysqld]\n"})
    change = SetVariable(name="innodb_io_capacity", value="300", was=None, restart=False)
    set_variable(system, change, reading("/etc/my.cnf"))
    copy = mirrored(system, reading("/etc/my.cnf"), tmp_path)
    assert copy.read_text() == f"!include {tmp_path}/etc/my.cnf\n"
    assert f"!includedir {tmp_path}/etc/my.cnf.d\n" in (tmp_path / "etc/my.cnf").read_text()
    assert "innodb_io_capacity = 300" in (tmp_path / "etc/my.cnf.d/zz-mydyno.cnf").read_text()


def test_the_command_line_of_a_server_shows_which_files_it_reads() -> None:
    usual = ("/etc/my.cnf", "/etc/mysql/my.cnf")
    assert started_by([], HELP).start_files == usual
    assert started_by(["--defaults-file=/x.cnf", "--port=1"], HELP).start_files == ("/x.cnf",)
    assert started_by(["--defaults-extra-file=/x.cnf"], HELP).start_files == (*usual, "/x.cnf")
    assert started_by(["--no-defaults"], HELP).start_files == ()
    started = started_by(["--defaults-group-suffix=2", "--loose-innodb-io-capacity=5", "word"], HELP)
    assert (started.suffix, started.options) == ("2", frozenset({"innodb_io_capacity"}))


def test_the_release_of_an_advice_is_read_back_from_its_words() -> None:
    for written in ("MariaDB 10.11.19", "MySQL 8.4.3", "Percona Server 8.0.36-28"):
        assert str(advised_version(f"{written} at /run/mysqld/mysqld.sock")) == written


def test_differences_blot_out_what_looks_like_a_secret() -> None:
    result = unified(
        "/etc/my.cnf", "a = 1\npassword=x1\n", "a = 2\n#master-password = 'x2'\nu = http://me:x3@h\n"
    )
    assert "+a = 2" in result
    assert not [secret for secret in ("x1", "x2", "x3") if secret in result]
    assert result.count("****") == 3
