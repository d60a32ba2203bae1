"""User-Mode Linux in the flesh: disks, limits, a server and the engine in a guest; and nothing left."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from live.engine import job, phase, rounds
from live.uml import NEEDS_KERNEL, ground_layer
from mydyno.core.errors import HostError, StorageError
from mydyno.lab.stack import BuiltLayers, FrozenDataset, ServerBinary, Site, cleanup, start_server
from mydyno.lab.stack.ground import DiskLimits
from mydyno.lab.stack.ground.uml import UmlGround
from mydyno.machine.processes import find_by_argument
from mydyno.machine.trees import copy_tree
from mydyno.machine.uml import UmlKernels

pytestmark = [pytest.mark.live, NEEDS_KERNEL]

DATA = Path("/run/mydyno/data")


@pytest.fixture
def ground(site: Site) -> Iterator[UmlGround]:
    layer = ground_layer(site)
    ground = layer.build(site, BuiltLayers())
    yield ground
    layer.remove(site, ground)
    assert list((site.lab / "run").iterdir()) == []
    assert site.journal.outstanding() == []


def commanded(ground: UmlGround, *argv: str) -> str:
    done = ground.host.run(argv, timeout_seconds=120)
    assert done.returncode == 0, done.stderr + ground.kernel_log()
    return done.stdout


def mounted_stripes(ground: UmlGround) -> None:
    """RAID 0 of the volume's two disks, with xfs, at DATA."""
    disks = [str(disk.path) for disk in ground.disks["data"]]
    commanded(ground, "mdadm", "--create", "/dev/md0", "--run", "--level=0", "--raid-devices=2", *disks)
    commanded(ground, "mkfs.xfs", "-q", "/dev/md0")
    commanded(ground, "mkdir", "-p", str(DATA))
    commanded(ground, "mount", "/dev/md0", str(DATA))


def personalities(ground: UmlGround) -> set[str]:
    """What md can do there: `Personalities : [raid0] [raid1]`."""
    line = (ground.host.read_text(Path("/proc/mdstat")) or "").splitlines()[0]
    return {word.strip("[]") for word in line.split()[2:]}


def marks(lab: Path) -> list[str]:
    """The arguments that the processes of this lab's guests carry, from its journal."""
    entries = [json.loads(line) for line in (lab / "journal.jsonl").read_text().splitlines()]
    undos = [entry["undo"] for entry in entries if "undo" in entry]
    return [undo["argument"] for undo in undos if undo["kind"] == "end-processes"]


def until_no_process_is_left(lab: Path, seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while left := [process for mark in marks(lab) for process in find_by_argument(mark)]:
        assert time.monotonic() < deadline, left


def test_a_server_stands_on_stripes_in_a_guest_and_answers_this_side(
    site: Site, ground: UmlGround, empty: FrozenDataset, binary: ServerBinary
) -> None:
    mounted_stripes(ground)
    # Only this lab is in the guest; the frozen data lies in another.
    copy_tree(site.host, empty.data, site.lab / "frozen")
    commanded(ground, "cp", "-a", str(site.lab / "frozen"), str(DATA / "data"))
    inside = replace(site, host=ground.host)
    identity = ground.host.server_identity
    ground.host.make_folder(DATA / "scratch", owner=identity)
    server = start_server(
        inside,
        binary,
        datadir=DATA / "data",
        scratch=DATA / "scratch",
        config={"innodb_buffer_pool_size": "32M", "innodb_flush_method": "O_DIRECT"},
        folder=site.lab / "trial",
    )
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT 1, VERSION(), @@hostname, REPEAT('x', 1000000)")
        one, version, hostname, long = cursor.fetchone() or ()
    assert (one, hostname, len(long)) == (1, "mydyno", 1_000_000)
    assert version.startswith(binary.version.text)
    # The engine runs beside the server, and its messages come here.
    talk = ground.host.open([str(ground.host.program("mydyno-engine")), "run"])
    with talk.stdin as pipe:
        pipe.write(json.dumps(job(server, PINGS, phase(2, rounds(50)))).encode())
    messages = [json.loads(line) for line in talk.stdout]
    assert talk.wait(10) == 0, talk.errors()
    assert messages[-1]["type"] == "done", messages[-1]
    talk.close()
    assert server.stop()
    assert "Shutdown complete" in (site.lab / "trial" / "error.log").read_text()
    assert "innodb_buffer_pool_size=32M" in (site.lab / "trial" / "my.cnf").read_text()


PINGS = {
    "program": {
        "name": "ping",
        "tables": [],
        "transactions": [{"name": "ping", "steps": [{"send": {"name": "ping", "sql": ["SELECT 1"]}}]}],
    }
}


def test_a_limited_disk_does_what_it_is_allowed_and_then_what_it_can(ground: UmlGround) -> None:
    (disk, _) = ground.disks["data"]

    def written_in_a_second() -> float:
        fio = f"fio --name=write --filename={disk.path} --rw=randwrite --bs=4k --direct=1 --ioengine=libaio"
        text = commanded(
            ground, *fio.split(), "--iodepth=8", "--runtime=2", "--time_based", "--output-format=json"
        )
        return float(json.loads(text)["jobs"][0]["write"]["iops"])

    ground.throttle({disk: DiskLimits(iops=100)})
    limited = written_in_a_second()
    assert 30 < limited < 115, "a busy machine may take of what the limit leaves"
    ground.throttle({disk: DiskLimits()})
    assert written_in_a_second() > 2 * limited


@pytest.mark.parametrize("kernel", [kernel.version for kernel in UmlKernels().all()])
def test_the_guest_has_the_kernel_the_memory_and_the_disks_that_were_asked_for(
    site: Site, kernel: str
) -> None:
    layer = ground_layer(site, count=3, size="100M", memory="300M", kernel=kernel)
    ground = layer.build(site, BuiltLayers())
    try:
        facts = ground.host.facts(Path("/"))
        assert facts.memory_bytes == pytest.approx(300 << 20, rel=0.15)
        assert facts.cpus == ground.cpus == 1
        paths = [str(disk.path) for disk in ground.disks["data"]]
        assert paths == ["/dev/ubda", "/dev/ubdb", "/dev/ubdc"]
        sizes = commanded(ground, "lsblk", "-b", "-n", "-d", "-o", "SIZE", *paths).split()
        assert sizes == [str(100 << 20)] * 3
        assert ground.kernel.startswith(f"{kernel}.")
        assert {"raid0", "raid1", "raid5", "raid10"} <= personalities(ground)
        # Nothing of this machine can be changed from there but the lab.
        assert ground.host.run(["touch", "/etc/mydyno"]).returncode != 0
        ground.host.write_text(site.lab / "note", "from the guest")
    finally:
        layer.remove(site, ground)
    assert (site.lab / "note").read_text() == "from the guest"


def test_a_guest_that_dies_in_the_middle_is_reported_at_once(site: Site, ground: UmlGround) -> None:
    talk = ground.host.open(["sleep", "60"])
    started = time.monotonic()
    with suppress(HostError):  # the kernel can be gone before the answer is on its way
        ground.host.start(["sh", "-c", "echo c > /proc/sysrq-trigger"], output=site.lab / "trial" / "crash")
    with pytest.raises(
        HostError, match=r"(?s)uml was lost: its connection was closed; its console ends:.*sysrq triggered"
    ) as caught:
        talk.wait(60)
    assert time.monotonic() - started < 50
    assert "+0x" not in caught.value.message
    with pytest.raises(HostError):
        ground.host.run(["true"])
    talk.close()


def test_a_guest_that_cannot_boot_is_an_error_with_the_console_and_leaves_nothing(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = site.lab / "cache"
    kernel = UmlKernels().all()[-1]
    shutil.copytree(kernel.folder, broken / "uml" / kernel.version)
    (broken / "uml" / kernel.version / "modules" / kernel.manifest.modules[0]).write_text("no module")
    monkeypatch.setenv("MYDYNO_CACHE", str(broken))
    with pytest.raises(HostError, match=r"its console ends:(?s:.*)mydyno-agent: module .*Exec format error"):
        ground_layer(site, kernel=kernel.version).build(site, BuiltLayers())
    assert list((site.lab / "run").iterdir()) == []
    assert site.journal.outstanding() == []
    until_no_process_is_left(site.lab)


def test_disks_that_this_machine_has_no_room_for_are_refused_before_anything_is_made(site: Site) -> None:
    with pytest.raises(StorageError, match=r"the disks can grow to .* are free"):
        ground_layer(site, count=4, size="200T").build(site, BuiltLayers())
    assert not (site.lab / "run").exists()


def test_more_disks_than_the_kernel_has_are_refused(site: Site) -> None:
    with pytest.raises(StorageError, match="17 disks are more than User-Mode Linux supports: 16"):
        ground_layer(site, count=17, size="32M").build(site, BuiltLayers())


BOOT = """
import sys
from pathlib import Path
from live.uml import ground_layer, site_in
from mydyno.lab.stack import BuiltLayers

site = site_in(Path(sys.argv[1]))
layer = ground_layer(site)
ground = layer.build(site, BuiltLayers())
if sys.argv[2] == "wait":
    script = "dd if=/dev/zero of=/dev/ubda bs=1M; exec sleep 600"
    ground.host.start(["sh", "-c", script], output=site.lab / "out")
    print("up", flush=True)
    sys.stdin.read()
print(ground.host.run(["sh", "-c", "mkfs.ext4 -q /dev/ubda && mount /dev/ubda /mnt && id -u"]).stdout, end="")
layer.remove(site, ground)
"""


def child(lab: Path, mode: str, *prefix: str, **more: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **more}
    return subprocess.Popen(
        [*prefix, sys.executable, "-c", BOOT, str(lab), mode],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
    )


def test_sigkill_leaves_no_process_and_clean_up_the_rest(lab: Path) -> None:
    process = child(lab, "wait")
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    assert [found for mark in marks(lab) for found in find_by_argument(mark)]
    process.send_signal(signal.SIGKILL)
    process.communicate()
    until_no_process_is_left(lab)
    cleanup(lab)
    assert list((lab / "run").iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_an_ordinary_user_has_the_same_guest(lab: Path) -> None:
    user = pwd.getpwnam("nobody")
    os.chown(lab, user.pw_uid, user.pw_gid)
    prefix = ("setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups")
    if subprocess.run([*prefix, sys.executable, "-c", ""], check=False, capture_output=True).returncode != 0:
        pytest.skip("the folder of this Python is closed to the user nobody")
    # Root's own cache is closed to others.
    cache, kernel = lab.parent / "cache", UmlKernels().all()[0]
    shutil.copytree(kernel.folder, cache / "uml" / kernel.version)
    process = child(lab, "leave", *prefix, MYDYNO_CACHE=str(cache))
    heard, _ = process.communicate(timeout=120)
    assert (process.returncode, heard) == (0, "0\n")
    assert list((lab / "run").iterdir()) == []
