"""A private server in the flesh: its life, its settings, its password, its ports."""

from __future__ import annotations

import json
import os
import socket
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import pymysql
import pytest

from live.conftest import Start
from mydyno.core.errors import ServerError
from mydyno.lab.stack import (
    RunningServer,
    ServerBinary,
    SettingsError,
    Site,
    settings_difference,
    start_server,
)
from mydyno.lab.stack.undo import EndProcesses, RemoveTree, Undo
from mydyno.machine.local import LocalHost
from mydyno.machine.processes import find_by_argument
from mydyno.server.variables.durability import durability

pytestmark = pytest.mark.live


def ever_intended(lab: Path) -> list[Undo]:
    """Everything that the lab's journal has ever recorded, undone or not."""
    entries = [json.loads(line) for line in (lab / "journal.jsonl").read_text().splitlines()]
    kinds = {"end-processes": EndProcesses, "remove-tree": RemoveTree}
    return [kinds[entry["undo"]["kind"]](**entry["undo"]) for entry in entries if "undo" in entry]


def left_behind(lab: Path) -> list[str]:
    """What the journal ever named and is still there, the data directories apart."""
    left = []
    for undo in ever_intended(lab):
        if isinstance(undo, EndProcesses):
            left += [f"process {process.pid}" for process in find_by_argument(undo.argument)]
        elif undo.path.exists() and not undo.path.is_relative_to(lab / "run"):
            left.append(str(undo.path))
    return left


def owner(pid: int) -> int:
    return Path(f"/proc/{pid}").stat().st_uid


def descriptors(pid: int) -> dict[Path, str]:
    """What each open descriptor of a process is; those that it closes meanwhile are left out."""
    found = {}
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            found[link] = str(link.readlink())
    return found


def listening_ports(pid: int) -> dict[int, str]:
    """TCP port -> address of every listening socket of a process, from /proc (proc_net(5))."""
    inodes = {target[8:-1] for target in descriptors(pid).values() if target.startswith("socket:[")}
    found = {}
    for table, loopback in (("tcp", "0100007F"), ("tcp6", "00000000000000000000000001000000")):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            columns = line.split()
            address, _, port = columns[1].partition(":")
            if columns[3] == "0A" and columns[9] in inodes:
                found[int(port, 16)] = "loopback" if address == loopback else address
    return found


def test_a_started_server_answers_and_a_stopped_one_leaves_nothing(start: Start, site: Site) -> None:
    server = start()
    assert server.alive()
    deadline = time.monotonic() + 10  # The server itself takes its time to see that a client has left.
    while server.status()["Threads_connected"] != "1":
        assert time.monotonic() < deadline, "another connection is open"
        time.sleep(0.05)  # The one that this asked with is leaving, too.
    assert server.variables()["version"].startswith(".".join(str(n) for n in server.version.numbers))
    private = server.socket.parent
    assert private.stat().st_mode & 0o777 == 0o700
    assert server.stop()
    assert not server.alive()
    assert not private.exists()
    assert left_behind(site.lab) == []
    assert server.error_log.stat().st_size > 0
    assert "[mysqld]" in server.config.read_text()
    server.stop()


def test_the_server_runs_without_rights_whoever_runs_mydyno(server: RunningServer) -> None:
    identity = LocalHost().server_identity
    assert owner(server.pid) == (identity.uid if identity else os.geteuid())
    assert owner(server.pid) != 0


def test_settings_are_in_force_as_asked(start: Start) -> None:
    asked = {
        "max-connections": 450,
        "innodb_buffer_pool_size": "256M",
        "thread_cache_size": 8,
        "skip-name-resolve": True,
        "long_query_time": 0.5,
        "innodb_flush_log_at_trx_commit": 2,
        "innodb_max_dirty_pages_pct": 75,
        "sql_mode": "ansi_quotes,STRICT_ALL_TABLES",
        "transaction_isolation": "read-committed",
        "optimizer_switch": "mrr=off",
        "log_bin": False,
        "local_infile": "off",
        "init_connect": "SET @a = 'x # \"y\" \\\\ z'",
        "slow_query_log_file": "my slow.log",
    }
    server = start(asked)
    assert settings_difference(server.settings, server.variables()) == ()
    assert server.variables()["init_connect"] == asked["init_connect"]
    assert durability(server.variables()).label == "loses up to 1 s on OS crash"


def test_the_binary_log_can_be_asked_for_by_name(start: Start) -> None:
    server = start({"log_bin": "mysql-bin", "server_id": 7})
    assert settings_difference(server.settings, server.variables()) == ()
    assert list(server.datadir.glob("mysql-bin.0*"))
    assert durability(server.variables()).label in ("durable", "loses up to 1 s on OS crash")


def test_a_value_that_the_server_bends_is_reported(start: Start) -> None:
    server = start({"innodb_flush_log_at_timeout": 5000, "max_connections": 20})
    (difference,) = settings_difference(server.settings, server.variables())
    assert str(difference) == "innodb_flush_log_at_timeout: configured 5000, in force 2700"


def test_a_misspelt_setting_is_refused_before_anything_is_started(start: Start, site: Site) -> None:
    with pytest.raises(SettingsError, match="did you mean thread_cache_size"):
        start({"thread_cach_size": 8})
    assert not (site.lab / "trial" / "error.log").exists()
    assert not any(isinstance(undo, EndProcesses) for undo in ever_intended(site.lab))


def test_a_value_that_the_server_refuses_is_quoted_from_its_log(start: Start, site: Site) -> None:
    with pytest.raises(ServerError, match="ended while starting") as caught:
        start({"innodb_flush_method": "carrier-pigeon"})
    assert "carrier-pigeon" in caught.value.message
    assert str(site.lab / "trial" / "error.log") in caught.value.message
    assert "correct it in the experiment" in str(caught.value.hint)
    assert left_behind(site.lab) == []


def test_memory_that_the_machine_does_not_have_is_named(start: Start, binary: ServerBinary) -> None:
    if not binary.version.is_mariadb:
        pytest.skip("MySQL takes any size and then fills the machine's memory page by page")
    with pytest.raises(ServerError, match="ended while starting") as caught:
        start({"innodb_buffer_pool_size": "100T"})
    assert caught.value.hint == ("the machine cannot give that much memory: lower innodb_buffer_pool_size")


def test_a_server_that_takes_too_long_is_given_up_and_leaves_nothing(start: Start, site: Site) -> None:
    with pytest.raises(ServerError, match="did not answer within 0 s"):
        start(ready_seconds=0.0)
    assert left_behind(site.lab) == []


def test_a_killed_server_is_noticed_and_its_end_explained(start: Start, site: Site) -> None:
    server = start()
    os.kill(server.pid, 9)
    server._process.wait(5.0)
    assert not server.alive()
    with pytest.raises(ServerError, match="killed by signal 9"):
        server.variables()
    assert not server.stop()
    assert left_behind(site.lab) == []


def test_two_servers_run_side_by_side(start: Start) -> None:
    first, second = start({"max_connections": 11}), start({"max_connections": 12})
    assert first.variables()["max_connections"] == "11"
    assert second.variables()["max_connections"] == "12"
    assert first.socket != second.socket


def test_no_port_is_open_unless_it_was_asked_for(start: Start) -> None:
    server = start()
    assert server.port is None
    assert listening_ports(server.pid) == {}


def test_an_asked_port_is_open_on_the_loopback_only(server: RunningServer) -> None:
    assert server.port is not None
    assert listening_ports(server.pid) == {server.port: "loopback"}
    connection = pymysql.connect(
        host="127.0.0.1",
        port=server.port,
        user=server.login.user,
        password=server.login.password.reveal(),
    )
    with connection, connection.cursor() as cursor:
        cursor.execute("SELECT CURRENT_USER()")
        assert str(cursor.fetchall()[0][0]).startswith("root@")


def test_the_port_works_without_name_resolution_too(start: Start) -> None:
    server = start({"skip_name_resolve": True}, port=0)
    assert server.port is not None
    pymysql.connect(
        host="127.0.0.1", port=server.port, user="root", password=server.login.password.reveal()
    ).close()


def test_a_taken_port_is_reported_before_the_server_starts(start: Start, site: Site) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ServerError, match=f"port {port} on 127.0.0.1 is in use by another program"):
            start(port=port)
    assert not (site.lab / "trial" / "error.log").exists()
    assert start(port=port).port == port


@pytest.mark.parametrize("port", [-1, 65536, 70000])
def test_a_number_that_is_no_port_is_refused(start: Start, port: int) -> None:
    with pytest.raises(ServerError, match=f"{port} is not a port"):
        start(port=port)


@pytest.mark.parametrize("password", ["", "wrong", "root"])
def test_nobody_gets_in_without_the_password(server: RunningServer, password: str) -> None:
    assert server.port is not None
    for place in ({"unix_socket": str(server.socket)}, {"host": "127.0.0.1", "port": server.port}):
        with pytest.raises(pymysql.err.OperationalError, match="Access denied"):
            pymysql.connect(user="root", password=password, **place)


def test_only_root_and_locked_accounts_exist(server: RunningServer) -> None:
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT user, host FROM mysql.user ORDER BY user, host")
        accounts = [(str(user), str(host)) for user, host in cursor.fetchall()]
    usable = [account for account in accounts if not account[0].startswith(("mysql.", "mariadb."))]
    assert usable == [("root", "127.0.0.1"), ("root", "localhost")]


def test_the_password_is_nowhere_but_in_memory(start: Start, site: Site) -> None:
    server = start({"log_bin": "mysql-bin", "general_log": True, "server_id": 7}, port=0)
    server.variables()
    password = server.login.password.reveal().encode()
    process = Path(f"/proc/{server.pid}")
    assert password not in (process / "cmdline").read_bytes()
    assert password not in (process / "environ").read_bytes()
    in_memory_files = [link for link, target in descriptors(server.pid).items() if "memfd:held" in target]
    assert [link.read_bytes() for link in in_memory_files] == [b""]
    files = [
        path
        for folder in (site.lab, server.socket.parent, server.datadir)
        for path in folder.rglob("*")
        if path.is_file()
    ]
    assert {server.error_log, server.config, site.lab / "journal.jsonl"} <= set(files)
    assert next(server.datadir.glob("*.log")).stat().st_size > 0
    assert [path for path in files if password in path.read_bytes()] == []
    assert server.login.password.reveal() not in repr(server)


def test_each_start_has_a_password_of_its_own(start: Start) -> None:
    assert start().login.password != start().login.password


def test_a_deep_temporary_folder_does_not_make_the_socket_path_too_long(
    start: Start, lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = lab / ("d" * 60) / ("e" * 60)
    deep.mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    server = start()
    assert len(os.fsencode(server.socket)) <= 107
    assert not server.socket.is_relative_to(deep)
    assert server.alive()


def test_the_settings_of_the_machine_are_not_read(
    start: Start, binary: ServerBinary, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "my.cnf").write_text("[mysqld]\nmax_connections=99\n")
    (tmp_path / ".my.cnf").write_text("[mysqld]\nmax_connections=99\n")
    monkeypatch.setenv("MYSQL_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert start().variables()["max_connections"] == binary.options["max_connections"]


def test_a_server_whose_data_is_thrown_away_leaves_the_writing_to_a_recovery(
    start: Start, site: Site, binary: ServerBinary
) -> None:
    server = start({"innodb_max_dirty_pages_pct": 99, "innodb_max_dirty_pages_pct_lwm": 0})
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE dirty")
        cursor.execute("CREATE TABLE dirty.t (a INT PRIMARY KEY, b CHAR(250)) ENGINE=InnoDB")
        values = ", ".join(f"({number}, 'x')" for number in range(5000))
        cursor.execute(f"INSERT INTO dirty.t VALUES {values}")
    server.leave_pages_unwritten()
    assert server.stop()
    server.leave_pages_unwritten()
    folder = site.lab / "again"
    folder.mkdir()
    again = start_server(
        site,
        binary,
        datadir=server.datadir,
        scratch=server.datadir.parent / "scratch",
        config={},
        folder=folder,
    )
    assert again.stop()
    assert "recovery" in (folder / "error.log").read_text()
