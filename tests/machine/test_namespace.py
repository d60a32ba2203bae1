"""What private namespaces promise beyond other hosts: nothing of them is seen, and nothing stays."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mydyno.core.errors import HostError
from mydyno.machine.processes import find_by_argument
from mydyno.machine.supervised import NamespaceHost, mark

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="private namespaces need root")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "mydyno-0123456789ab"
    path.mkdir()
    return path


@pytest.fixture
def host(folder: Path) -> Iterator[NamespaceHost]:
    host = NamespaceHost(folder)
    yield host
    host.close()


def wait_until(condition: Callable[[], bool], seconds: float = 10.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def test_a_mount_there_is_not_seen_here_and_goes_with_it(host: NamespaceHost, folder: Path) -> None:
    assert host.run(["mount", "-t", "tmpfs", "none", str(folder)]).returncode == 0
    host.write_text(folder / "inside", "x")
    assert host.exists(folder / "inside")
    assert list(folder.iterdir()) == []
    host.close()
    assert str(folder) not in Path("/proc/self/mountinfo").read_text()


def test_a_mount_here_is_not_seen_there(host: NamespaceHost, folder: Path) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "none", folder], check=True)
    try:
        (folder / "outside").touch()
        assert not host.exists(folder / "outside")
    finally:
        subprocess.run(["umount", folder], check=True)


def test_only_its_own_processes_are_seen_there(host: NamespaceHost) -> None:
    listed = host.run(["sh", "-c", "cat /proc/1/comm; ls -d /proc/[0-9]* | wc -l"]).stdout.split()
    assert listed[0] == "mydyno-agent"
    assert int(listed[1]) < 6


def test_its_supervisor_is_known_by_its_folder_and_ends_with_everything(
    host: NamespaceHost, folder: Path
) -> None:
    (supervisor,) = find_by_argument(mark(folder))
    assert supervisor.pid == host.pid
    argument = f"{folder}/sleeper"
    host.start(["sh", "-c", "sleep 60; :", argument], output=folder / "log")
    assert wait_until(lambda: len(find_by_argument(argument)) == 1)
    host.close()
    host.close()
    assert find_by_argument(mark(folder)) == []
    assert find_by_argument(argument) == []
    with pytest.raises(HostError):
        host.run(["true"])


def test_when_mydyno_is_killed_its_processes_and_mounts_go_at_once(folder: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from mydyno.machine.supervised import NamespaceHost\n"
        "folder = Path(sys.argv[1]); host = NamespaceHost(folder)\n"
        "host.run(['mount', '-t', 'tmpfs', 'none', str(folder)])\n"
        "host.start(['sh', '-c', 'sleep 60; :', str(folder / 'sleeper')], output=folder.parent / 'log')\n"
        "print(flush=True); sys.stdin.read()\n"
    )
    mydyno = subprocess.Popen(
        [sys.executable, "-c", script, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert mydyno.stdout is not None
    mydyno.stdout.readline()
    argument = str(folder / "sleeper")
    assert wait_until(lambda: len(find_by_argument(argument)) == 1)
    mydyno.kill()
    mydyno.communicate()
    assert wait_until(lambda: find_by_argument(argument) == [] == find_by_argument(mark(folder)), 2.0)
