"""What every host must do, tested on each of them with the same sentences."""

from __future__ import annotations

import os
import signal
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mydyno.core.errors import LabError, MissingToolError, ServerError
from mydyno.machine.identity import server_identity
from mydyno.machine.local import LocalHost
from mydyno.machine.protocol import Host
from mydyno.machine.supervised import NamespaceHost, SupervisedHost
from mydyno.machine.uml import UmlHost, UmlKernels, UmlMachine

FRAME_LIMIT = 1 << 20


@pytest.fixture(scope="module", params=["local", "agent", "namespace", "uml"])
def host(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    if request.param == "local":
        yield LocalHost()
    elif request.param == "namespace":
        if os.geteuid() != 0:
            pytest.skip("private namespaces need root")
        namespace = NamespaceHost(tmp_path_factory.mktemp("private"))
        yield namespace
        namespace.close()
    elif request.param == "uml":
        with uml_guest() as guest:
            yield guest
    else:
        agent = SupervisedHost(name="agent", ephemeral=True, server_identity=server_identity())
        yield agent
        agent.close()


@contextmanager
def uml_guest() -> Iterator[UmlHost]:
    """A guest of any kernel that is here."""
    kernels = UmlKernels().all()
    if not kernels:
        pytest.skip("no User-Mode Linux kernel is in mydyno's cache: fetching one takes a network")
    place = Path(tempfile.mkdtemp(prefix="contract-", dir="/var/tmp"))
    machine = UmlMachine(kernels[-1], memory_bytes=512 << 20, folder=place, disks=(), shares=())
    try:
        guest = UmlHost(machine, place / "console.log")
        yield guest
        guest.close()
    finally:
        LocalHost().remove_tree(place)


@pytest.fixture
def folder(host: Host) -> Iterator[Path]:
    """A folder of the test's own on that host, short enough for a unix socket."""
    path = Path(f"/tmp/contract-{os.getpid()}-{threading.get_native_id()}")
    host.make_folder(path, mode=0o755)
    yield path
    host.remove_tree(path)


def test_a_command_gives_its_output_and_its_return_code(host: Host) -> None:
    finished = host.run(["sh", "-c", "cat; echo trouble >&2; exit 3"], stdin=b"in")
    assert (finished.stdout, finished.stderr, finished.returncode) == ("in", "trouble\n", 3)
    assert finished.argv[0] == "sh"


def test_arguments_reach_the_program_as_they_are(host: Host) -> None:
    odd = ["two words", "$HOME", "a;b", "", "*", "ünï"]
    assert host.run(["printf", "%s\\n", *odd]).stdout.splitlines() == odd


def test_a_command_may_write_and_read_more_than_any_buffer_holds(host: Host) -> None:
    given = b"0123456789abcdef" * (FRAME_LIMIT // 16 + 1)
    finished = host.run(["cat"], stdin=given)
    assert finished.stdout == given.decode()


def test_a_command_that_was_killed_shows_the_signal(host: Host) -> None:
    assert host.run(["sh", "-c", "kill -9 $$"]).returncode == -signal.SIGKILL


def test_a_missing_program_is_named(host: Host) -> None:
    with pytest.raises(MissingToolError, match="/nowhere/mysqld"):
        host.run(["/nowhere/mysqld", "--version"])
    with pytest.raises(MissingToolError, match="no-such-program"):
        host.open(["no-such-program"])


def test_a_command_that_does_not_end_is_killed(host: Host, folder: Path) -> None:
    with pytest.raises(ServerError, match=r"sh did not end within 0\.5 s and was killed"):
        host.run(["sh", "-c", f"echo $$ > {folder}/pid; exec sleep 60"], timeout_seconds=0.5)
    pid = (host.read_text(folder / "pid") or "").strip()
    assert host.run(["kill", "-0", pid]).returncode != 0


def test_commands_speak_english_and_see_no_settings_of_other_servers(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("MYSQL_HOME", "/etc/mysql")
    seen = host.run(["env"]).stdout.splitlines()
    assert "LC_ALL=C.UTF-8" in seen
    assert "HOME=/nonexistent" in seen
    assert not any(line.startswith("MYSQL_") for line in seen)


def test_servers_run_as_a_user_without_rights(host: Host) -> None:
    ids = host.run(["sh", "-c", "id -u; id -g; id -G"], identity=host.server_identity).stdout.split()
    if host.server_identity is None:
        assert ids[0] == str(os.geteuid())
    else:
        gid = str(host.server_identity.gid)
        assert ids == [str(host.server_identity.uid), gid, gid]
        assert ids[0] != "0"


def test_the_output_of_a_process_is_appended_to_its_file(host: Host, folder: Path) -> None:
    host.write_text(folder / "log", "before\n")
    process = host.start(["sh", "-c", "echo out; echo err >&2"], output=folder / "log")
    assert process.wait(10) == 0
    assert process.returncode() == 0
    assert sorted((host.read_text(folder / "log") or "").splitlines()) == ["before", "err", "out"]


def test_a_process_runs_until_it_is_terminated(host: Host, folder: Path) -> None:
    process = host.start(["sleep", "60"], output=folder / "log")
    assert process.returncode() is None
    assert process.wait(0.1) is None
    process.terminate()
    assert process.wait(10) == -signal.SIGTERM
    process.terminate()
    process.kill()
    assert process.returncode() == -signal.SIGTERM


def test_a_process_that_ignores_sigterm_is_killed(host: Host, folder: Path) -> None:
    script = f"trap '' TERM; echo ready > {folder}/ready; sleep 60"
    process = host.start(["sh", "-c", script], output=folder / "log")
    while not host.exists(folder / "ready"):
        assert process.returncode() is None
    process.terminate()
    assert process.wait(0.1) is None
    process.kill()
    assert process.wait(10) == -signal.SIGKILL


def test_a_log_that_cannot_be_opened_is_named(host: Host) -> None:
    with pytest.raises((LabError, OSError), match="/nowhere/log"):
        host.start(["true"], output=Path("/nowhere/log"))


def test_a_conversation_goes_both_ways_while_the_process_runs(host: Host) -> None:
    talk = host.open(["sh", "-c", "while read line; do echo you said $line; done; echo bye >&2; exit 5"])
    for word in (b"one", b"two"):
        talk.stdin.write(word + b"\n")
        talk.stdin.flush()
        assert talk.stdout.readline() == b"you said " + word + b"\n"
    talk.stdin.close()
    assert talk.stdout.read() == b""
    assert talk.wait(10) == 5
    assert talk.errors() == "bye\n"
    talk.close()
    talk.close()


def test_a_conversation_without_a_reader_waits_and_loses_nothing(host: Host) -> None:
    size = 2 * FRAME_LIMIT
    talk = host.open(["sh", "-c", f"head -c {size} /dev/zero; echo end"])
    # Others are served meanwhile.
    assert host.run(["echo", "hello"]).stdout == "hello\n"
    assert talk.returncode() is None
    assert talk.stdout.read() == bytes(size) + b"end\n"
    assert talk.wait(10) == 0
    talk.close()


def test_a_writer_to_one_that_does_not_listen_any_more_gets_a_broken_pipe_or_an_end(host: Host) -> None:
    talk = host.open(["yes"])
    assert talk.stdout.readline() == b"y\n"
    talk.stdout.close()
    assert talk.wait(10) == -signal.SIGPIPE
    talk.close()


def test_closing_a_conversation_ends_its_process(host: Host) -> None:
    talk = host.open(["sleep", "60"])
    talk.close()
    assert talk.returncode() == -signal.SIGKILL


def test_conversations_of_several_threads_do_not_hinder_each_other(host: Host) -> None:
    heard: dict[int, bytes] = {}

    def converse(number: int) -> None:
        talk = host.open(["cat"])
        with talk.stdin as pipe:
            pipe.write(b"%d\n" % number * 50_000)
        heard[number] = talk.stdout.read()
        assert talk.wait(10) == 0
        talk.close()

    threads = [threading.Thread(target=converse, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    # Each fills its pipes before it reads, which only works when somebody takes what it says.
    for thread in threads:
        thread.join(60)
    assert heard == {number: b"%d\n" % number * 50_000 for number in range(8)}


def test_held_text_is_read_by_the_process_that_gets_it_and_gone_when_wiped(host: Host, folder: Path) -> None:
    held = host.hold(b"secret")
    process = host.start(["cat", held.path], output=folder / "log", held=[held])
    assert process.wait(10) == 0
    assert host.read_text(folder / "log") == "secret"
    slow = host.start(
        ["sh", "-c", f"until test -e {folder}/go; do :; done; cat {held.path}; echo end"],
        output=folder / "slow",
        held=[held],
    )
    held.wipe()
    held.wipe()
    host.write_text(folder / "go", "")
    assert slow.wait(10) == 0
    assert host.read_text(folder / "slow") == "end\n"


ECHO = """
import socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
stream, _ = listener.accept()
while data := stream.recv(65536):
    stream.sendall(data.upper())
stream.sendall(b"bye")
"""


def test_a_socket_is_dialled_and_each_direction_ends_by_itself(host: Host, folder: Path) -> None:
    server = host.start(["python3", "-c", ECHO, str(folder / "s")], output=folder / "log")
    while not host.exists(folder / "s"):
        assert server.returncode() is None, host.read_text(folder / "log")
    with dialled(host, folder / "s") as stream:
        stream.settimeout(20)
        stream.sendall(b"word")
        assert stream.recv(4, socket.MSG_WAITALL) == b"WORD"
        stream.shutdown(socket.SHUT_WR)
        assert stream.recv(100) == b"bye"
        assert stream.recv(100) == b""
    assert server.wait(10) == 0


def dialled(host: Host, path: Path) -> socket.socket:
    """Between bind and listen the socket is there and refuses."""
    while True:
        try:
            return host.dial(path)
        except ConnectionRefusedError:
            continue


def test_dialling_a_socket_without_a_listener_raises_what_connect_raises(host: Host, folder: Path) -> None:
    with pytest.raises(FileNotFoundError):
        host.dial(folder / "none")
    host.write_text(folder / "file", "")
    with pytest.raises(ConnectionRefusedError):
        host.dial(folder / "file")


def test_files_are_private_and_missing_ones_read_as_none(host: Host, folder: Path) -> None:
    host.write_text(folder / "my.cnf", "[mysqld]\n")
    assert host.read_text(folder / "my.cnf") == "[mysqld]\n"
    assert host.run(["stat", "-c", "%a", str(folder / "my.cnf")]).stdout == "600\n"
    assert host.read_text(folder / "none") is None
    host.write_text(folder / "my.cnf", "")
    assert host.read_text(folder / "my.cnf") == ""


def test_files_are_as_long_as_they_need_be(host: Host, folder: Path) -> None:
    text = "ü" * (FRAME_LIMIT // 2 + 1)
    host.write_text(folder / "long", text)
    assert host.read_text(folder / "long") == text


def test_a_file_is_never_written_through_a_link(host: Host, folder: Path) -> None:
    host.run(["ln", "-s", str(folder / "target"), str(folder / "link")])
    with pytest.raises(LabError, match="symbolic link"):
        host.write_text(folder / "link", "text")
    assert not host.exists(folder / "target")


def test_files_and_folders_get_the_owner_that_is_requested(host: Host, folder: Path) -> None:
    owner = host.server_identity
    host.make_folder(folder / "data", owner=owner)
    host.write_text(folder / "data" / "file", "", owner=owner)
    seen = host.run(["stat", "-c", "%u %a", str(folder / "data"), str(folder / "data" / "file")]).stdout
    uid = owner.uid if owner else os.geteuid()
    assert seen == f"{uid} 700\n{uid} 600\n"


def test_a_folder_is_made_once_and_below_one_that_is_there(host: Host, folder: Path) -> None:
    host.make_folder(folder / "new")
    with pytest.raises(LabError, match="new cannot be written: File exists"):
        host.make_folder(folder / "new")
    with pytest.raises(LabError, match="No such file or directory"):
        host.make_folder(folder / "not" / "there")


def test_removing_takes_all_and_what_is_missing_is_removed_already(host: Host, folder: Path) -> None:
    host.make_folder(folder / "tree")
    host.write_text(folder / "tree" / "file", "")
    host.run(["ln", "-s", str(folder), str(folder / "tree" / "link")])
    host.remove_tree(folder / "tree")
    host.remove_tree(folder / "tree")
    assert not host.exists(folder / "tree")
    assert host.exists(folder)


def test_facts_and_environment_are_the_hosts_own(host: Host, folder: Path) -> None:
    facts = host.facts(folder / "not" / "yet")
    assert facts.cpus == len(host.run(["nproc"]).stdout.splitlines()) * int(host.run(["nproc"]).stdout)
    assert facts.memory_bytes is not None
    assert facts.free_disk_bytes is not None
    seen = host.environment(folder)
    assert seen.kernel == host.run(["uname", "-r"]).stdout.strip()
    assert seen.memory_bytes == facts.memory_bytes
    assert seen.filesystem is not None
    kind = host.run(["findmnt", "-n", "-o", "FSTYPE", "--target", str(folder)]).stdout.strip()
    assert seen.filesystem.kind == kind
