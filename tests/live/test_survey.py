"""Real servers and this machine, read into facts."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from live.conftest import Start
from live.mydyno_process import Workplace, interrupt, wait_for_line
from live.sshd import Sshd, private_sshd
from live.test_external_server import option_file
from mydyno.advisor.registry import variables
from mydyno.core.errors import HostError, ServerError
from mydyno.core.secrets import Secret
from mydyno.core.server_version import parse_version
from mydyno.lab.stack import RunningServer
from mydyno.server.access.login import Login
from mydyno.survey import survey
from mydyno.survey.facts import Host, System
from mydyno.survey.facts.anonymous import anonymous
from mydyno.survey.facts.option_files import option_files, server_groups
from mydyno.survey.facts.system import read_system
from mydyno.survey.host.machine import LocalMachine
from mydyno.survey.host.ssh import SshMachine

pytestmark = pytest.mark.live

WORD = "geheim-word"
SCHEMA = (
    "CREATE DATABASE shop",
    "CREATE TABLE shop.orders (id TINYINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, a INT, b INT, KEY a (a),"
    " KEY ab (a, b)) ENGINE=InnoDB",
    "CREATE TABLE shop.items (id INT PRIMARY KEY, order_id TINYINT UNSIGNED, c INT, KEY of_order (order_id),"
    " KEY c (c), FOREIGN KEY (order_id) REFERENCES shop.orders (id)) ENGINE=InnoDB",
    "CREATE TABLE shop.notes (text VARCHAR(100)) ENGINE=MyISAM",
    "INSERT INTO shop.orders (id, a) VALUES (200, 1)",
)


def tell(server: RunningServer, *statements: str) -> None:
    with server.connect() as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def look(server: RunningServer, **more: Any) -> System:
    return survey(server.login, **{"seconds": 0.05, "settable": variables(), **more})


def names(tables: tuple[Any, ...]) -> list[str]:
    return [table.name for table in tables]


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    with private_sshd(tmp_path_factory.mktemp("sshd")) as running:
        yield running


def test_a_server_and_its_machine_are_read(start: Start) -> None:
    server = start({"performance_schema": True, "max_connections": 77, "report_password": WORD})
    tell(
        server,
        *SCHEMA,
        "CREATE USER app@'cafe%' IDENTIFIED BY 'word'",
        "CREATE USER ''@localhost",
        f"SET GLOBAL init_connect = \"SET @a = '{WORD}'\"",
        "SET GLOBAL sort_buffer_size = 1048576",
    )
    system = look(server)
    result = system.server
    assert str(result.release) == str(server.version)
    assert result.variables["max_connections"].value == "77"
    origin = result.variables["max_connections"].origin
    assert origin is not None
    assert origin.source == "file"
    assert Path(origin.file or "").name == "my.cnf"
    lines = server.config.read_text().splitlines()
    assert lines[(origin.line or 0) - 1].replace("-", "_").startswith("max_connections")
    running = result.variables["sort_buffer_size"].origin
    assert running is not None
    assert running.source == "set while running"
    assert result.rate("Questions") is not None
    assert result.innodb is not None
    assert result.innodb.log_sequence_number
    schema = result.schema_facts
    assert schema is not None
    assert (schema.tables, names(schema.without_primary_key)) == (3, ["shop.notes"])
    assert names(schema.other_engines) == ["shop.notes"]
    assert [(each.name, each.covered_by) for each in schema.redundant_indexes] == [("a", "ab")]
    assert [each.auto_increment_used for each in schema.nearly_full_counters] == [
        pytest.approx(200 / 255, abs=1e-4)
    ]
    unused = {index.name for index in schema.unused_indexes or ()}
    assert "c" in unused
    assert not unused & {"ab", "of_order"}
    assert result.accounts is not None
    assert result.accounts.anonymous_hosts == ("localhost",)
    assert result.accounts.named_hosts == ("cafe%",)
    assert result.host_cache is None  # Everybody came by the socket: nothing was counted.
    assert_host(system.host, server)
    assert WORD not in system.to_json()
    assert server.login.password.reveal() not in system.to_json()
    assert read_system(system.to_json(), "facts.json") == system


def assert_host(host: Host | None, server: RunningServer) -> None:
    assert host is not None
    assert host.process is not None
    assert host.process.pid == server.pid
    limit = next(each for each in server.limits() if each.name == "nofile")
    assert host.process.limits["Max open files"].soft == limit.soft
    assert len(host.process.option_files) == 1
    assert host.cpu.count == len(os.sched_getaffinity(server.pid))
    assert host.kernel.number("vm.swappiness") == int(Path("/proc/sys/vm/swappiness").read_text())
    data = host.storage.of("data")
    assert data is not None
    status = os.statvfs(server.datadir)
    assert data.size_bytes == status.f_blocks * status.f_frsize
    uses = {use.files: use for use in host.storage.uses}
    assert uses.keys() >= {"data", "redo log", "temporary files"}
    assert uses["data"].owner == server.datadir.owner()
    assert uses["data"].mode == server.datadir.stat().st_mode & 0o7777
    assert uses["data"].file_mode == (server.datadir / "ibdata1").stat().st_mode & 0o7777
    assert host.load is not None
    assert 0 <= host.load.cpu_busy <= 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mysql-9.7", "mysql-5.6", "mariadb-10.5", "mariadb-11.8"])
def test_other_releases_are_read_without_a_gap(name: str, start_release: Callable[[str], Start]) -> None:
    server = start_release(name)({"max_connections": 77})
    system = look(server, without_host=True)
    assert [unread for unread in system.unread if "performance_schema is off" not in unread.why] == []
    assert system.host is None
    assert system.server.innodb is not None
    assert system.server.innodb.checkpoint_age_bytes is not None
    origin = look(server).server.variables["max_connections"].origin
    assert origin is not None
    assert (origin.source, Path(origin.file or "").name) == ("file", "my.cnf")
    assert origin.line


def test_an_account_without_rights_hears_which_grant_helps(start: Start) -> None:
    server = start({"server_id": 7, "performance_schema": True})
    tell(
        server,
        "CREATE USER monitor@localhost IDENTIFIED BY 'word'",
        "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_USER = 'nobody'",
    )
    login = Login("monitor", Secret("word"), socket=server.socket)
    system = survey(login, settable=variables(), seconds=0.0, without_host=True)
    hints = {unread.hint for unread in system.unread if unread.hint}
    assert {
        "GRANT PROCESS ON *.* TO 'monitor'@'localhost'",
        "GRANT SELECT ON *.* TO 'monitor'@'localhost'",
    } <= hints
    assert (system.server.innodb, system.server.role.replica) == (None, None)
    assert system.server.text("max_connections") is not None
    assert system.server.variables["max_connections"].settable is False
    tell(server, *sorted(hints))
    granted = survey(login, seconds=0.0, without_host=True)
    assert granted.unread == ()
    assert granted.server.innodb is not None
    assert granted.server.role.replica is True


def test_over_a_loopback_address_the_server_is_known_by_its_process(server: RunningServer) -> None:
    login = Login(server.login.user, server.login.password, host="127.0.0.1", port=server.port)
    host = survey(login, seconds=0.0).host
    assert host is not None
    assert host.process is not None
    assert host.process.pid == server.pid


def test_behind_a_forwarded_socket_is_a_machine_that_is_not_seen(
    server: RunningServer, sshd: Sshd, tmp_path: Path
) -> None:
    here = tmp_path / "s.sock"
    forward = ["ssh", "-N", "-o", "ExitOnForwardFailure=yes", "-v", "-L", f"{here}:{server.socket}"]
    ssh = subprocess.Popen(
        [*forward, "-p", str(sshd.port), *sshd.options, "root@127.0.0.1"], stderr=subprocess.PIPE, text=True
    )
    try:
        assert ssh.stderr is not None
        assert any("Entering interactive session" in line for line in ssh.stderr)
        login = Login(server.login.user, server.login.password, socket=here)
        system = survey(login, seconds=0.0)
    finally:
        ssh.terminate()
        ssh.communicate()
    assert system.host is None
    assert "the server's host" in {unread.what for unread in system.unread}


def test_a_server_that_is_not_there_is_an_error_with_its_address() -> None:
    with pytest.raises(ServerError, match=r"127\.0\.0\.1:1: "):
        survey(Login("root", Secret(""), host="127.0.0.1", port=1), seconds=0.0)


def test_ctrl_c_ends_the_interval_early_and_the_command_prints_what_it_has(
    workplace: Workplace, server: RunningServer
) -> None:
    login = option_file(workplace.folder, server)
    running = workplace.start("facts", "--defaults-file", str(login), "--for", "600")
    wait_for_line(running, "watching the server")
    code, said = interrupt(running)
    assert code == 0, said
    assert "not read: which indexes are used: performance_schema is off" in said
    assert server.login.password.reveal() not in said
    system = read_system(said[said.index("{\n") :], "facts.json")
    assert system.server.address == str(server.socket)
    assert 0 < system.server.status.seconds < 60
    assert system.server.innodb is not None
    assert anonymous(system).server.text("hostname") in ("some-host", "localhost")


def test_over_ssh_the_same_facts_are_read(start: Start, sshd: Sshd) -> None:
    server = start()
    before = node_memory()
    with closing(SshMachine("root@127.0.0.1", sshd.port, sshd.options)) as far:
        over = look(server, machine=far)
    here = look(server)
    assert over.host is not None
    assert here.host is not None
    assert still(over.host) == still(here.host)
    # The host of a virtual machine may take pages of a node back meanwhile.
    if node_memory() == before:
        assert over.host.cpu == here.host.cpu
    assert over.server.variables["datadir"] == here.server.variables["datadir"]


def node_memory() -> list[str]:
    files = sorted(Path("/sys/devices/system/node").glob("node*/meminfo"))
    return [line for file in files for line in file.read_text().splitlines() if "MemTotal" in line]


def still(host: Host) -> dict[str, Any]:
    """The facts that do not move while one looks."""
    result = host.model_dump(
        exclude={
            "cpu": {"numa_memory_bytes"},
            "memory": {"available", "swap_free", "huge_pages_free"},
            "kernel": {"counters": True, "sysctls": {"fs.file-nr", "fs.aio-nr"}},
            "process": {"open_files", "threads", "resident_bytes"},
            "load": True,
        }
    )
    for mount in result["storage"]["filesystems"]:
        for moving in ("free_bytes", "free_inodes", "reserved_bytes"):
            del mount[moving]
    for disk in result["storage"]["disks"]:
        for moving in ("reads", "read_seconds", "writes", "write_seconds"):
            del disk[moving]
    return result


def test_a_far_machine_answers_as_this_one_does(sshd: Sshd, tmp_path: Path) -> None:
    (tmp_path / "a b").write_text("one\n\ntwo")
    (tmp_path / "c").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "c")
    here = LocalMachine()
    with closing(SshMachine("root@127.0.0.1", sshd.port, sshd.options)) as far:
        for machine in (here, far):
            assert machine.read_text(f"{tmp_path}/a b") == "one\n\ntwo"
            assert machine.read_text(f"{tmp_path}/c") == ""
            assert machine.read_text(f"{tmp_path}/none") is None
            assert machine.refused[f"{tmp_path}/none"] == "no such file or directory"
            assert machine.read_text(str(tmp_path)) is None
            assert machine.refused[str(tmp_path)] == "is a directory"
            assert machine.listing(str(tmp_path)) == ("a b", "c", "link")
            assert machine.listing(f"{tmp_path}/none") is None
            assert machine.glob(f"{tmp_path}/[cl]*") == (f"{tmp_path}/c", f"{tmp_path}/link")
            assert machine.real_path(f"{tmp_path}/link") == f"{tmp_path}/c"
            done = machine.run(["sh", "-c", "echo out; echo err >&2; exit 3"])
            assert done is not None
            assert (done.returncode, done.stdout, done.stderr.strip()) == (3, "out\n", "err")
            assert machine.run(["mydyno-no-such-program"]) is None
        far.fetch(f"/proc/sys/vm/{name}" for name in here.listing("/proc/sys/vm") or ())
        assert far.read_text("/proc/sys/vm/swappiness") == Path("/proc/sys/vm/swappiness").read_text()


def test_a_machine_that_lets_nobody_in_says_so_in_the_words_of_ssh(sshd: Sshd, tmp_path: Path) -> None:
    nowhere = f"UserKnownHostsFile={tmp_path}/known"
    unknown = [nowhere if option.startswith("UserKnownHosts") else option for option in sshd.options]
    with pytest.raises(HostError, match="Host key verification failed"):
        SshMachine("root@127.0.0.1", sshd.port, unknown)
    with pytest.raises(HostError, match="Permission denied"):
        SshMachine("nobody-of-that-name@127.0.0.1", sshd.port, sshd.options)
    with pytest.raises(HostError, match="Connection refused"):
        SshMachine("root@127.0.0.1", 1, ("-F", "none"))


def test_option_files_are_read_as_the_server_itself_reads_them(tmp_path: Path) -> None:
    (tmp_path / "my.cnf").write_text(
        "[mysqld]\nsql_mode='A B'  \nft-stopword-file=\"a#b\" # why\nbasedir=a#b\n"
        f"init_connect=a\\sb\\\\c\\qd\ntmpdir = 'it\n!include {tmp_path}/more.cnf\n"
        f"port = 3\n!includedir {tmp_path}/d\n[client]\nport=7\n[server]\nskip-log-bin\n"
    )
    (tmp_path / "more.cnf").write_text("[mariadbd-10.11]\nport=2\n[mariadb]\nport=4\n")
    (tmp_path / "d").mkdir()
    for name, port in (("z.cnf", 9), ("a.cnf", 8), ("b.txt", 1)):
        (tmp_path / "d" / name).write_text(f"[mariadbd]\nport={port}\n")
    version = parse_version(subprocess.check_output(["mariadbd", "--version"], text=True))
    start = f"{tmp_path}/my.cnf"
    said = subprocess.check_output(["mariadbd", f"--defaults-file={start}", "--print-defaults"], text=True)
    here = LocalMachine()
    known = {"log_bin", "skip_log_bin"}
    found = option_files(here.read_text, here.listing, [start], server_groups(version), known)
    ours = [f"--{line.name}" + ("" if line.value is None else f"={line.value}") for line in found.lines]
    theirs = said.splitlines()[1].strip().replace(" --", "\n--").split("\n")
    assert ours == [
        each.replace("ft-stopword-file", "ft_stopword_file").replace("skip-log-bin", "skip_log_bin")
        for each in theirs
    ]


@pytest.mark.slow
def test_the_disk_is_measured_on_a_file_that_nobody_finds(start: Start) -> None:
    server = start()
    before = sorted(server.datadir.parent.iterdir())
    system = look(server, measured=True)
    assert system.host is not None
    (speed,) = system.host.storage.speeds
    assert speed.read_iops > 0
    assert speed.write_iops > 0
    assert speed.sync_seconds is not None
    assert speed.sync_seconds > 0
    assert sorted(server.datadir.parent.iterdir()) == before
