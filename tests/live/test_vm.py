"""QEMU guests in the flesh: an image built, a guest booted on it, and nothing left.

The image is built once for all of them, so all are slow. They are skipped, aloud, where QEMU or what
builds images is not installed.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from live.vm import ground_layer, storage
from mydyno.core.errors import HostError, MissingToolError, StorageError
from mydyno.lab.stack import BuiltLayers, Site, Stack, cleanup, start_server
from mydyno.lab.stack.ground.vm import VmGround
from mydyno.lab.stack.server.initialise import initialise
from mydyno.lab.stack.storage import MountedVolume, building_layers, loading_layers
from mydyno.machine.images import ImageStore, RootImage, build_kernel, build_root
from mydyno.machine.images.suites import SUITES, machine_suite
from mydyno.machine.local import LocalHost
from mydyno.machine.processes import find_by_argument
from mydyno.server.releases.find import binary_of_image

pytestmark = [pytest.mark.live, pytest.mark.slow]


def told(text: str) -> None:
    sys.stdout.write(text + "\n")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RootImage]:
    """The image of this machine's suite, in a cache that only these tests use."""
    suite = machine_suite(LocalHost())
    if suite not in SUITES:
        pytest.skip("images are built of Debian's packages, and this machine is not Debian or is sid")
    if shutil.which("qemu-system-x86_64") is None:
        pytest.skip("no qemu-system-x86_64: apt-get install --no-install-recommends qemu-system-x86")
    cache = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MYDYNO_CACHE", str(cache))
        store = ImageStore()
        try:
            build_kernel(store, SUITES[suite], told)
            yield build_root(store, suite, told)
        except MissingToolError as error:
            pytest.skip(str(error))


@pytest.fixture
def ground(site: Site, root: RootImage) -> Iterator[VmGround]:
    """A guest with one disk."""
    layer = ground_layer(site, storage())
    ground = layer.build(site, BuiltLayers())
    yield ground
    layer.remove(site, ground)
    assert_nothing_is_left(site)


def assert_nothing_is_left(site: Site) -> None:
    assert list((site.lab / "run").iterdir()) == []
    assert site.journal.outstanding() == []


def commanded(ground: VmGround, *argv: str) -> str:
    done = ground.host.run(argv, timeout_seconds=120)
    assert done.returncode == 0, done.stderr + ground.kernel_log()
    return done.stdout


def marks(lab: Path) -> list[str]:
    """The arguments by which the processes of this lab's guests are found, from its journal."""
    entries = [json.loads(line) for line in (lab / "journal.jsonl").read_text().splitlines()]
    undos = [entry["undo"] for entry in entries if "undo" in entry]
    return [undo["argument"] for undo in undos if undo["kind"] == "end-processes"]


def until_no_process_is_left(lab: Path, seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while left := [process for mark in marks(lab) for process in find_by_argument(mark)]:
        assert time.monotonic() < deadline, left


@pytest.mark.timeout(1800)  # An image is built: minutes on a busy machine.
def test_the_same_packages_give_the_same_bytes(root: RootImage) -> None:
    again = build_root(ImageStore(), root.manifest.suite, told)
    assert again.manifest.packages == root.manifest.packages
    assert again.manifest.sha256 == root.manifest.sha256
    assert [path.name for path in ImageStore().folder.glob(".partial*")] == []


def test_a_guest_has_its_own_kernel_its_disks_no_network_and_the_lab(site: Site, ground: VmGround) -> None:
    kernel = ImageStore().images()[-1]
    assert kernel.kind == "kernel"
    assert commanded(ground, "uname", "-r").strip() == ground.kernel == kernel.release
    assert commanded(ground, "ls", "/sys/class/net").split() == ["lo"]
    (disk,) = ground.disks["data"]
    assert commanded(ground, "blockdev", "--getsize64", str(disk.path)).strip() == str(512 << 20)
    (site.lab / "note").write_text("from outside")
    assert ground.host.read_text(site.lab / "note") == "from outside"
    ground.host.write_text(site.lab / "answer", "from the guest", owner=ground.host.server_identity)
    assert (site.lab / "answer").read_text() == "from the guest"
    version = commanded(ground, str(ground.host.program("mydyno-engine")), "--version")
    assert version.startswith("mydyno-engine ")


def test_many_short_commands_are_all_answered(ground: VmGround) -> None:
    for number in range(200):
        assert commanded(ground, "echo", str(number)) == f"{number}\n"


def test_an_array_of_limited_disks_does_what_they_may_together(site: Site, root: RootImage) -> None:
    wanted = storage(count=4, iops=50, raid=10, filesystem="raw")
    with Stack(site) as stack:
        built = stack.move_to([ground_layer(site, wanted), *building_layers(wanted), *loading_layers(wanted)])
        ground, volume = built.of(VmGround), built.of(MountedVolume)
        # One budget for reads and writes; a write goes to two of the four.
        for direction, limit in {"read": 4 * 50, "write": 4 * 50 / 2}.items():
            # A busy machine gives less for a while, and never more.
            while (iops := measured_iops(ground, volume, direction)) < 0.6 * limit:
                pass
            assert iops < 1.12 * limit
    assert_nothing_is_left(site)


def measured_iops(ground: VmGround, volume: MountedVolume, direction: str) -> float:
    fio = f"fio --name=a --filename={volume.path} --rw=rand{direction} --bs=4k --direct=1"
    how = "--ioengine=libaio --iodepth=32 --time_based --runtime=8 --ramp_time=2 --output-format=json"
    text = commanded(ground, *fio.split(), *how.split(), "--norandommap", "--randrepeat=0")
    return float(json.loads(text)["jobs"][0][direction]["iops"])


def test_a_server_stands_on_a_volume_of_the_guest_and_answers_this_side(site: Site, root: RootImage) -> None:
    wanted = storage()
    binary = binary_of_image(root)
    with Stack(site) as stack:
        built = stack.move_to([ground_layer(site, wanted), *building_layers(wanted)])
        host, place = built.of(VmGround).host, built.of(MountedVolume).path
        inside = replace(site, host=host)
        host.run(["chmod", "755", str(place)])
        host.make_folder(place / "server", mode=0o755, owner=host.server_identity)
        datadir, scratch = place / "server" / "data", place / "server" / "scratch"
        initialise(inside, binary, datadir=datadir, scratch=scratch, settings={})
        server = start_server(
            inside,
            binary,
            datadir=datadir,
            scratch=scratch,
            config={"innodb_buffer_pool_size": "64M"},
            folder=site.lab / "trial",
        )
        with server.connect() as connection, connection.cursor() as cursor:
            cursor.execute("SELECT @@hostname, VERSION(), REPEAT('x', 1000000)")
            hostname, version, long = cursor.fetchone() or ()
        assert (hostname, len(long)) == ("mydyno", 1_000_000)
        assert version.startswith(binary.version.text)
        assert server.stop()
    assert "Shutdown complete" in (site.lab / "trial" / "error.log").read_text()
    assert_nothing_is_left(site)


def test_a_guest_that_dies_in_the_middle_is_reported_at_once(ground: VmGround) -> None:
    talk = ground.host.open(["sleep", "60"])
    started = time.monotonic()
    os.kill(ground.host.pid, signal.SIGKILL)
    with pytest.raises(HostError, match="vm was lost"):
        talk.wait(60)
    assert time.monotonic() - started < 10
    with pytest.raises(HostError):
        ground.host.run(["true"])
    talk.close()


def test_a_guest_that_cannot_boot_is_an_error_with_the_console_and_leaves_nothing(
    site: Site, root: RootImage, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = site.lab / "cache"
    shutil.copytree(ImageStore().folder, broken / "images")
    (broken / "images" / "roots" / root.manifest.suite / "root.erofs").write_bytes(b"\0" * 4096)
    monkeypatch.setenv("MYDYNO_CACHE", str(broken))
    with pytest.raises(HostError, match=r"its console ends:(?s:.*)erofs on /dev/vda"):
        ground_layer(site, storage()).build(site, BuiltLayers())
    assert_nothing_is_left(site)
    until_no_process_is_left(site.lab)


def test_disks_that_this_machine_has_no_room_for_are_refused_before_anything_is_made(site: Site) -> None:
    with pytest.raises(StorageError, match=r"the disks can grow to .* are free"):
        ground_layer(site, storage(count=4, size="200T", raid=0)).build(site, BuiltLayers())
    assert not (site.lab / "run").exists()


BOOT = """
import sys
from pathlib import Path
from live.vm import ground_layer, site_in, storage
from mydyno.lab.stack import BuiltLayers

site = site_in(Path(sys.argv[1]))
ground = ground_layer(site, storage()).build(site, BuiltLayers())
ground.host.start(["sh", "-c", "dd if=/dev/zero of=/dev/vdb bs=1M; exec sleep 600"], output=site.lab / "out")
print("up", flush=True)
sys.stdin.read()
"""


def test_sigkill_leaves_no_process_and_clean_up_removes_the_rest(lab: Path, root: RootImage) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", BOOT, str(lab)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "up\n"
    assert [found for mark in marks(lab) for found in find_by_argument(mark)]
    child.send_signal(signal.SIGKILL)
    child.communicate()
    until_no_process_is_left(lab)
    assert [path.name for path in (lab / "run").iterdir()] == marks(lab)
    cleanup(lab)
    assert list((lab / "run").iterdir()) == []
