import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mydyno.core.errors import LabError, MissingToolError, ServerError
from mydyno.machine.local import LocalHost
from mydyno.machine.protocol import Host, Process


def until(condition: Callable[[], bool], seconds: float = 5.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def gone(pid: int) -> bool:
    """Ended, reaped or not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_a_command_gives_its_output_and_its_return_code() -> None:
    finished = LocalHost().run(["sh", "-c", "cat; echo trouble >&2; exit 3"], stdin=b"in")
    assert (finished.stdout, finished.stderr, finished.returncode) == ("in", "trouble\n", 3)


def test_arguments_reach_the_program_as_they_are() -> None:
    odd = ["two words", "$HOME", "a;b", "", "*"]
    assert LocalHost().run(["printf", "%s\\n", *odd]).stdout.splitlines() == odd


def test_a_missing_program_is_named() -> None:
    with pytest.raises(MissingToolError, match="/nowhere/mysqld"):
        LocalHost().run(["/nowhere/mysqld", "--version"])


def test_a_command_that_does_not_end_is_killed(tmp_path: Path) -> None:
    with pytest.raises(ServerError, match=r"did not end within 0\.2 s"):
        LocalHost().run(["sh", "-c", f"echo $$ > {tmp_path}/pid; exec sleep 60"], timeout_seconds=0.2)
    assert gone(int((tmp_path / "pid").read_text()))


def test_commands_speak_english_and_see_no_settings_of_other_servers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("MYSQL_HOME", "/etc/mysql")
    seen = LocalHost().run(["env"]).stdout.splitlines()
    assert "LC_ALL=C.UTF-8" in seen
    assert not any(line.startswith("MYSQL_") for line in seen)


def test_a_process_outlives_the_thread_that_started_it(tmp_path: Path) -> None:
    started: list[Process] = []
    host = LocalHost()
    asking = threading.Thread(
        target=lambda: started.append(host.start(["sleep", "60"], output=tmp_path / "log"))
    )
    asking.start()
    asking.join()
    (process,) = started
    assert process.wait(0.3) is None
    process.terminate()
    assert process.wait(5) == -signal.SIGTERM
    process.kill()
    assert process.returncode() == -signal.SIGTERM


def test_the_output_of_a_process_is_appended_to_its_file(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("before\n")
    process = LocalHost().start(["sh", "-c", "echo out; echo err >&2"], output=tmp_path / "log")
    assert process.wait(5) == 0
    assert sorted((tmp_path / "log").read_text().splitlines()) == ["before", "err", "out"]


def test_a_process_has_the_descriptors_that_it_is_given(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = LocalHost().start(
            [sys.executable, "-c", f"import os; os.write({theirs.fileno()}, b'hello')"],
            output=tmp_path / "log",
            inherited=[theirs.fileno()],
        )
        assert process.wait(5) == 0
        assert ours.recv(100) == b"hello"


def test_a_process_dies_with_a_killed_mydyno(tmp_path: Path) -> None:
    script = (
        "import pathlib, sys, time\n"
        "from mydyno.machine.local import LocalHost\n"
        f"process = LocalHost().start(['sleep', '60'], output=pathlib.Path({str(tmp_path / 'log')!r}))\n"
        "print(process.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    try:
        # Only once setpriv has become the program is the tie in place.
        assert until(lambda: Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"sleep"))
        assert not gone(pid)
    finally:
        parent.kill()
        parent.wait()
        parent.stdout.close()
    assert until(lambda: gone(pid), 2.0)


def test_files_are_private_and_missing_ones_read_as_none(tmp_path: Path) -> None:
    host = LocalHost()
    host.write_text(tmp_path / "my.cnf", "[mysqld]\n")
    assert host.read_text(tmp_path / "my.cnf") == "[mysqld]\n"
    assert (tmp_path / "my.cnf").stat().st_mode & 0o777 == 0o600
    assert host.read_text(tmp_path / "none") is None


def test_a_file_is_never_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(LabError, match="symbolic link"):
        LocalHost().write_text(tmp_path / "link", "text")
    assert not (tmp_path / "target").exists()


def test_servers_run_as_a_user_without_rights_for_every_user_of_mydyno() -> None:
    host: Host = LocalHost()
    ids = host.run(["sh", "-c", "id -u; id -g; id -G"], identity=host.server_identity).stdout.split()
    if os.geteuid() == 0:
        assert host.server_identity is not None
        assert host.server_identity.name == "nobody"
        gid = str(host.server_identity.gid)
        assert ids == [str(host.server_identity.uid), gid, gid]
    else:
        assert host.server_identity is None
        assert ids[0] == str(os.geteuid())


def test_a_fork_of_a_process_that_has_run_commands_runs_commands_too() -> None:
    assert LocalHost().run(["true"]).returncode == 0
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # Ends it should it wait for a thread that only its parent has.
        try:
            os._exit(LocalHost().run(["sh", "-c", "exit 7"]).returncode)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 7
