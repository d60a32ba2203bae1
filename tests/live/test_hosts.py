"""Other machines over the system's OpenSSH: a private sshd plays them."""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from live.far_side import agents, alive, comes_true, entry_of, left, processes
from live.sshd import Sshd, private_sshd
from mydyno.cli.main import app
from mydyno.core.errors import HostError, UsageError
from mydyno.machine.hosts.check import check_host
from mydyno.machine.hosts.clock import clock_offset
from mydyno.machine.hosts.entry import HostEntry, read_hosts
from mydyno.machine.hosts.host import RemoteHost, connect, sweep
from mydyno.machine.hosts.install import own_programs
from mydyno.machine.hosts.ssh import SshLauncher

KILLS = 3


@pytest.fixture(scope="module")
def sshd() -> Iterator[Sshd]:
    """Its folder may be entered by the ordinary user, which pytest's own may not."""
    folder = Path(tempfile.mkdtemp(prefix="mydyno-sshd-"))
    folder.chmod(0o755)
    try:
        with private_sshd(folder, for_root=False) as running:
            yield running
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def entry(sshd: Sshd) -> HostEntry:
    return entry_of(sshd.config)


def changed(sshd: Sshd, folder: Path, old: str, new: str) -> Path:
    """The configuration of ssh with one line changed."""
    text = sshd.config.read_text()
    assert old in text
    path = folder / "ssh_config"
    path.write_text(text.replace(old, new))
    return path


def test_the_programs_are_copied_once_and_again_only_when_they_are_damaged(sshd: Sshd) -> None:
    place = sshd.home / "first"
    entry = entry_of(sshd.config, folder=str(place))
    connect(entry).close()
    copies = [place / "programs" / each.place for each in own_programs()]
    for copy, program in zip(copies, own_programs(), strict=True):
        assert copy.read_bytes() == program.file.read_bytes()
    assert stat.S_IMODE((place / "programs").stat().st_mode) == 0o700
    written = [copy.stat().st_mtime_ns for copy in copies]
    connect(entry).close()
    assert [copy.stat().st_mtime_ns for copy in copies] == written
    with copies[0].open("r+b") as file:
        file.truncate(1000)
    connect(entry).close()
    assert copies[0].read_bytes() == own_programs()[0].file.read_bytes()
    assert list(place.glob("programs/*/.copy-*")) == []


def test_commands_and_files_are_those_of_the_user_there(sshd: Sshd, entry: HostEntry) -> None:
    with closing(connect(entry, session=True)) as host:
        assert host.user == sshd.user
        assert host.run(["id", "-un"]).stdout.strip() == sshd.user
        host.write_text(host.trial_folder / "file", "text")
        assert host.read_text(host.trial_folder / "file") == "text"
        assert (host.trial_folder / "file").stat().st_uid == sshd.home.stat().st_uid or os.geteuid() != 0
        engine = host.run([str(host.program("mydyno-engine")), "--version"])
        assert (engine.returncode, engine.stdout.split()[0]) == (0, "mydyno-engine")
        given = b"0123456789abcdef" * 200_000
        assert host.run(["cat"], stdin=given).stdout == given.decode()


def test_a_session_leaves_neither_a_process_nor_a_file(entry: HostEntry) -> None:
    with closing(connect(entry, session=True)) as host:
        folder = host.trial_folder
        host.start(["sh", "-c", "setsid sleep 600 & echo $!; wait"], output=folder / "pid")
        assert comes_true(lambda: (host.read_text(folder / "pid") or "").endswith("\n"))
        pid = int(host.read_text(folder / "pid") or "")
        assert alive(pid)
    assert comes_true(lambda: not alive(pid))
    assert comes_true(lambda: not folder.exists())


def test_a_killed_connection_leaves_nothing(entry: HostEntry) -> None:
    with closing(connect(entry, session=True)) as host:
        folder = host.trial_folder
        host.start(["sleep", "600"], output=folder / "log")
        os.kill(host.pid, signal.SIGKILL)
        assert comes_true(lambda: not folder.exists())
        with pytest.raises(HostError, match="was lost"):
            host.run(["true"])


def test_what_a_killed_agent_has_left_goes_with_the_next_session(entry: HostEntry) -> None:
    with closing(connect(entry, session=True)) as host:
        left = host.trial_folder
        host.start(["sh", "-c", "setsid sleep 600 & echo $!; wait"], output=left / "pid")
        assert comes_true(lambda: (host.read_text(left / "pid") or "").endswith("\n"))
        pid = int(host.read_text(left / "pid") or "")
        agent = int(host.run(["sh", "-c", "echo $PPID"]).stdout)
        os.kill(agent, signal.SIGKILL)
        assert comes_true(lambda: not alive(agent))
    assert left.exists()
    assert alive(pid)
    with closing(connect(entry, session=True)):
        assert not left.exists()
        assert comes_true(lambda: not alive(pid))


@pytest.mark.parametrize("victim", ["the client of ssh", "the child of sshd", "the agent"])
def test_a_kill_at_a_random_moment_leaves_nothing(entry: HostEntry, victim: str) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    moments = random.Random(seed)
    for _ in range(KILLS):
        kill_once(entry, victim, moments.uniform(0, 0.5))


def kill_once(entry: HostEntry, victim: str, seconds: float) -> None:
    with closing(connect(entry, session=True)) as host:
        folder = host.trial_folder
        agent = int(host.run(["sh", "-c", "echo $PPID"]).stdout)
        status = Path(f"/proc/{agent}/status").read_text()
        child = int(status.partition("PPid:")[2].split()[0])
        pid = {"the client of ssh": host.pid, "the child of sshd": child, "the agent": agent}[victim]
        killing = threading.Timer(seconds, os.kill, (pid, signal.SIGKILL))
        killing.start()
        with pytest.raises(HostError):
            start_for_ever(host)
        killing.join()
    if victim == "the agent":
        assert comes_true(lambda: not alive(agent))
        assert sweep(entry) == (str(folder),)
    assert comes_true(lambda: not folder.exists() and not processes(folder))


def start_for_ever(host: RemoteHost) -> None:
    for number in itertools.count():
        output = host.trial_folder / f"{number}"
        host.start(["sh", "-c", "setsid sleep 600 & wait"], output=output)


def test_cleanup_removes_what_a_killed_run_has_left_on_every_host_that_answers(
    sshd: Sshd, entry: HostEntry, tmp_path: Path
) -> None:
    file = tmp_path / "hosts.yaml"
    file.write_text(
        f"hosts:\n  lost: {{destination: stranger@there, config: {sshd.config}}}\n"
        f"  db1: {{destination: there, config: {sshd.config}}}\n"
    )
    command = ["cleanup", "--lab", str(tmp_path / "none"), "--hosts", str(file)]
    with closing(connect(entry, session=True)) as host:
        left = host.trial_folder
        busy = CliRunner().invoke(app, command)
        assert "db1: ssh:there: another run of mydyno uses this host" in str(busy.exception)
        os.kill(int(host.run(["sh", "-c", "echo $PPID"]).stdout), signal.SIGKILL)
    assert left.exists()
    done = CliRunner().invoke(app, command)
    assert f"db1: made sure that {left} and its processes are gone" in done.output
    assert "lost: ssh to stranger@there: it refuses your key" in str(done.exception)
    assert not left.exists()


def test_standard_error_may_come_later_than_the_first_frame(
    entry: HostEntry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = tmp_path / "ssh"
    late.write_text(f'#!/bin/bash\nexec {shutil.which("ssh")} "$@" 2> >(sleep 1; exec cat >&2)\n')
    late.chmod(0o755)
    connect(entry).close()  # The programs are there now.
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with closing(connect(entry)) as host:
        assert host.folder.is_dir()


def test_one_run_at_a_time_uses_a_host(entry: HostEntry) -> None:
    with closing(connect(entry, session=True)):
        with pytest.raises(HostError, match="another run of mydyno uses this host"):
            connect(entry, session=True)
        facts = check_host("there", entry).facts
        assert facts is not None
        assert facts.in_use
        assert facts.busy
    facts = check_host("there", entry).facts
    assert facts is not None
    assert not facts.in_use


def test_an_unknown_host_key_is_refused_and_not_learned(sshd: Sshd, tmp_path: Path) -> None:
    known = tmp_path / "known"
    config = changed(sshd, tmp_path, f"{sshd.config.parent}/known", str(known))
    with pytest.raises(HostError, match="its host key is unknown") as refused:
        connect(entry_of(config))
    assert "fingerprint" in str(refused.value.hint)
    assert not known.exists()


def test_another_host_key_than_the_known_one_is_refused(sshd: Sshd, tmp_path: Path) -> None:
    known = tmp_path / "known"
    own = (sshd.config.parent / "own.pub").read_text()
    known.write_text(f"[127.0.0.1]:{sshd.port} {own}")
    config = changed(sshd, tmp_path, f"{sshd.config.parent}/known", str(known))
    with pytest.raises(HostError, match="another host key than the known one"):
        connect(entry_of(config))


def test_a_refused_key_an_unknown_host_and_a_closed_port_are_named(sshd: Sshd, tmp_path: Path) -> None:
    key = changed(sshd, tmp_path, f"{sshd.config.parent}/own", f"{tmp_path}/none")
    with pytest.raises(HostError, match="it refuses your key"):
        connect(entry_of(key))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        closed = changed(sshd, tmp_path, f"Port {sshd.port}", f"Port {probe.getsockname()[1]}")
        with pytest.raises(HostError, match="it cannot be reached"):
            connect(entry_of(closed))
    # A name with an empty label is refused before any resolver is reached.
    unknown = changed(sshd, tmp_path, "HostName 127.0.0.1", "HostName no..host")
    with pytest.raises(HostError, match="unknown host"):
        connect(entry_of(unknown))


def test_another_processor_is_refused_before_anything_is_copied(
    sshd: Sshd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    place = sshd.home / "other"
    with pytest.raises(HostError, match="programs are for Linux riscv64"):
        connect(entry_of(sshd.config, folder=str(place)))
    assert not place.exists()


def test_a_folder_that_the_user_cannot_make_is_named(sshd: Sshd) -> None:
    with pytest.raises(HostError, match="/proc/mydyno cannot be a private folder"):
        connect(entry_of(sshd.config, folder="/proc/mydyno"))


@pytest.mark.skipif(os.geteuid() != 0, reason="a full file system of the test's own needs root")
def test_a_host_without_space_is_named(sshd: Sshd) -> None:
    place = sshd.home / "full"
    place.mkdir()
    # Seen in the namespace of sshd alone.
    inside = ["nsenter", f"--mount=/proc/{sshd.process}/ns/mnt", "--"]
    mount = ["mount", "-t", "tmpfs", "-o", "size=1M,mode=777", "mydyno", str(place)]
    subprocess.run([*inside, *mount], check=True)
    with pytest.raises(HostError, match=r"could not be copied to .*No space left on device") as full:
        connect(entry_of(sshd.config, folder=str(place / "agent")))
    assert "free some space" in str(full.value.hint)


def test_the_clock_of_the_same_machine_is_right_within_its_own_uncertainty(entry: HostEntry) -> None:
    with closing(connect(entry)) as host:
        offset = clock_offset(host)
    assert 0 < offset.error < 1
    assert abs(offset.seconds) <= offset.error + 1e-4


def test_hosts_check_shows_what_a_host_is_and_why_one_cannot_be_used(sshd: Sshd, tmp_path: Path) -> None:
    file = tmp_path / "hosts.yaml"
    file.write_text(
        f"hosts:\n  db1: {{destination: there, config: {sshd.config}, roles: [server]}}\n"
        f"  lost: {{destination: stranger@there, config: {sshd.config}}}\n"
    )
    assert list(read_hosts(file)) == ["db1", "lost"]
    result = CliRunner().invoke(app, ["hosts", "check", "--hosts", str(file)])
    assert result.exit_code == 4
    assert f"db1 (ssh:there; server)\n  user     {sshd.user} (" in result.output
    assert f"kernel {os.uname().release}" in result.output
    assert "lost (ssh:stranger@there; server, load)\n  cannot be used: ssh to stranger@there" in result.output
    checked = CliRunner().invoke(app, ["hosts", "check", "db1", "--hosts", str(file), "--json"])
    assert checked.exit_code == 0
    (host,) = json.loads(checked.stdout)
    assert (host["name"], host["reachable"], host["roles"]) == ("db1", True, ["server"])
    assert host["facts"]["kernel"] == os.uname().release
    assert host["facts"]["free_bytes"] > 0
    assert host["facts"]["clock"]["error"] > 0


def test_a_configuration_of_ssh_that_others_may_write_is_not_used(sshd: Sshd, tmp_path: Path) -> None:
    config = changed(sshd, tmp_path, "Host there", "Host there")
    config.chmod(0o666)
    with pytest.raises(UsageError, match="could have been written by another user"):
        connect(entry_of(config))
    with pytest.raises(UsageError, match="cannot be read"):
        connect(entry_of(tmp_path / "none"))


def test_a_network_that_was_cut_leaves_nothing(entry: HostEntry, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stopped client of ssh is as silent as a cut network, and the connection does not end either."""
    monkeypatch.setattr("mydyno.machine.hosts.install.SILENCE_SECONDS", 6)
    monkeypatch.setattr("mydyno.machine.hosts.host._ALIVE_SECONDS", 1.5)
    with closing(connect(entry, session=True)) as host:
        folder = host.trial_folder
        host.start(["sh", "-c", "echo $$; sleep 600 & wait"], output=folder / "pid")
        assert comes_true(lambda: (host.read_text(folder / "pid") or "").endswith("\n"))
        pid = int(host.read_text(folder / "pid") or "")
        # Longer than the silence, with nothing to say.
        time.sleep(8)
        assert alive(pid)
        os.kill(host.pid, signal.SIGSTOP)
        try:
            assert comes_true(lambda: not folder.exists())
            assert not alive(pid)
        finally:
            os.kill(host.pid, signal.SIGCONT)


def test_an_agent_that_falls_silent_is_lost_although_its_connection_lives(
    sshd: Sshd, entry: HostEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mydyno.machine.hosts.host._ALIVE_SECONDS", 1.5)
    monkeypatch.setattr("mydyno.machine.supervised._ENDS_WITHIN_SECONDS", 1.0)
    with closing(connect(entry, session=True)) as host:
        folder = host.trial_folder
        sleeping = host.start(["sleep", "600"], output=folder / "output")
        (agent,) = agents(sshd)
        os.kill(agent, signal.SIGSTOP)
        try:
            with pytest.raises(HostError, match=r"the host ssh:there was lost: nothing came from it for 6 s"):
                sleeping.wait(120)
            host.close()
            assert not alive(host.pid)
        finally:
            os.kill(agent, signal.SIGCONT)
        assert comes_true(lambda: left(sshd) == [])


def test_nothing_of_the_users_own_configuration_is_weakened() -> None:
    command = SshLauncher(HostEntry(destination="db1")).command("true")
    assert "BatchMode=yes" in command
    assert not any("StrictHostKeyChecking" in word or "KnownHosts" in word for word in command)
    assert command[-2] == "db1"
    assert command[-3] == "--"
