"""A whole machine, as far as it shows itself."""

from __future__ import annotations

from pathlib import Path

from mydyno.core.server_version import parse_version
from mydyno.survey.facts import Unread
from mydyno.survey.host.read import ReadHost, read_host
from survey.host.machines import machine
from survey.host.test_filesystems import FILES as MOUNTED
from survey.host.test_kernel import MEMINFO, STAT
from survey.host.test_process import PROCESS

MARIADB = parse_version("mariadbd Ver 10.11.19-MariaDB")
VARIABLES = {"datadir": "/var/lib/mysql/", "max_connections": "100"}
MACHINE = {"/proc/stat": STAT, "/proc/meminfo": MEMINFO, **MOUNTED, **PROCESS}


def look(folder: Path, files: dict[str, str], pid: int | None = None) -> tuple[ReadHost, list[Unread]]:
    unread: list[Unread] = []
    return read_host(machine(folder, files), pid, VARIABLES, MARIADB, unread), unread


def test_the_servers_option_files_are_those_of_its_command_line(tmp_path: Path) -> None:
    files = {
        "/opt/my.cnf": "[mysqld]\nmax_connections=100\n[mysqld2]\nmax-connections=7\n",
        "/etc/my.cnf": "[mysqld]\nmax_connections=1\n",
    }
    found, _ = look(tmp_path, {**MACHINE, **files}, pid=42)
    assert found.host is not None
    assert found.host.process is not None
    assert found.host.process.option_files == ("/opt/my.cnf",)
    assert found.options is not None
    assert [line.place for line in found.options.of("max_connections")] == ["/opt/my.cnf:2", "/opt/my.cnf:4"]


def test_a_wrong_line_of_an_option_file_is_reported_and_its_text_is_not(tmp_path: Path) -> None:
    files = {"/opt/my.cnf": "password=geheim\n[mysqld]\nreport_password=geheim\n"}
    found, unread = look(tmp_path, {**MACHINE, **files}, pid=42)
    assert "all that the option files say: /opt/my.cnf:1" in {each.what for each in unread}
    assert found.host is not None
    assert "geheim" not in found.host.model_dump_json() + repr(unread)


def test_fstab_comes_without_its_passwords_and_with_its_faults(tmp_path: Path) -> None:
    text = "//nas/x /nas cifs user=me,password=geheim 0 0\n/dev/md0 /data xfs nobootwait, noatime 0 2\n"
    found, _ = look(tmp_path, {**MACHINE, "/etc/fstab": text})
    assert found.host is not None
    share, broken = found.host.storage.fstab
    assert share.options == ("user=me", "password=****")
    assert broken.fault is not None


def test_a_container_and_systemd_are_known_by_their_marks(tmp_path: Path) -> None:
    plain, _ = look(tmp_path / "plain", {**MACHINE, "/run/systemd/system/x": ""}, pid=42)
    assert plain.host is not None
    assert (plain.host.container, plain.host.systemd) == (False, True)
    docker = {**MACHINE, "/proc/42/cgroup": "0::/system.slice/docker-abc.scope\n"}
    inside, _ = look(tmp_path / "docker", docker, pid=42)
    assert inside.host is not None
    assert (inside.host.container, inside.host.systemd) == (True, False)


def test_a_server_whose_process_is_not_seen_still_has_a_machine(tmp_path: Path) -> None:
    found, unread = look(tmp_path, MACHINE)
    assert found.host is not None
    assert found.host.process is None
    assert "the server's process, its limits and its unit" in {each.what for each in unread}


def test_a_machine_that_shows_nothing_is_no_host_and_no_crash(tmp_path: Path) -> None:
    found, unread = look(tmp_path, {})
    assert found.host is None
    assert {"the CPUs", "the memory"} <= {each.what for each in unread}
