"""`wipe` on a disk that tells a serial: a virtio disk of a guest, in which mydyno's own local ground runs.

This machine's file system is the guest's to read, so its Python and this checkout are there.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mydyno.core.errors import MissingToolError
from mydyno.lab.stack import Site
from mydyno.lab.stack.undo import EndProcesses
from mydyno.machine.images import ImageStore
from mydyno.machine.programs import find_program
from mydyno.machine.vm.acceleration import ACCELERATION, acceleration
from mydyno.machine.vm.chosen import chosen_kernel, chosen_root
from mydyno.machine.vm.host import VmHost
from mydyno.machine.vm.initrd import entries, guest_config, make_initrd
from mydyno.machine.vm.machine import DiskImage, Machine, SharedFolder

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(1200)]

SERIAL = "WIPE1"
DISK = f"/dev/disk/by-id/virtio-{SERIAL}"
MACHINE, ROOT = "/run/machine", "/run/root"

# The guest has its own /dev, /proc, /sys and /run beside this machine's folders, which it cannot write. They
# are put together anew: over 9p the folders of several of this machine's file systems pass for one another.
ENTER = f"""
set -e
mkdir {MACHINE} {ROOT}
mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=512000,cache=loose machine {MACHINE}
mount -t tmpfs none {ROOT}
cd {MACHINE}
for each in *; do
    if [ -L $each ]; then cp -P $each {ROOT}/; continue; fi
    case $each in dev|proc|sys) from=/$each ;; run) continue ;; *) from=$each ;; esac
    if [ -d $each ]; then mkdir {ROOT}/$each; mount --rbind $from {ROOT}/$each; fi
done
mkdir -p {ROOT}/run/tmp /dev/disk/by-id
ln -s ../../$(cd /sys/block && grep -l {SERIAL} */serial | cut -d/ -f1) {DISK}
"""

# One start of Python for all, since its imports take minutes where every instruction is translated.
BUILD = """
import subprocess
import sys
from pathlib import Path
from mydyno.core.errors import StorageError
from mydyno.machine.local import LocalHost
from mydyno.lab.spec.host import Host
from mydyno.lab.spec.storage import Storage
from mydyno.lab.stack import Journal, Site, Stack
from mydyno.lab.stack.ground.local import LocalGroundLayer
from mydyno.lab.stack.storage import MountedVolume, building_layers

disk, own_serial = sys.argv[1:]
lab = Path("/run/lab")
lab.mkdir()
site = Site(lab, LocalHost(), Journal(lab))

def carried():
    argv = ["wipefs", "--no-act", "--noheadings", "--output", "TYPE", disk]
    return subprocess.check_output(argv, text=True).strip() or "nothing"

def build(serial, wipe):
    disks = {"devices": [{"id": disk, "serial": serial}], "wipe": wipe}
    storage = Storage.model_validate({"data": {"disks": disks, "filesystem": "ext4"}})
    ground = LocalGroundLayer(Host.model_validate({"kind": "local"}), storage, lab, f"{serial} {wipe}")
    try:
        with Stack(site) as stack:
            volume = stack.move_to([ground, *building_layers(storage)]).of(MountedVolume)
            done = f"built and mounted {volume.described['mount'].split(',')[0]}, carrying {carried()}"
    except StorageError as error:
        done = f"refused: {error.message.splitlines()[-1].strip()}"
    print(f"{done}; it carries {carried()}; to be undone: {site.journal.outstanding()}")

build("ANOTHER", True)
build(own_serial, False)
build(own_serial, True)
"""


@pytest.fixture
def guest(site: Site) -> Iterator[VmHost]:
    """A guest with one disk, which carries xfs."""
    store = ImageStore()
    try:
        root = chosen_root(store)
        kernel = chosen_kernel(store, None, root.manifest.suite)
    except MissingToolError as error:
        pytest.skip(f"{error}: `mydyno images build` makes what is missing")
    if os.geteuid() != 0 or shutil.which("qemu-system-x86_64") is None:
        pytest.skip("it takes root, and qemu-system-x86_64, to give a guest this machine's files")
    folder = site.roomy_folder()
    disk = folder.path / "disk.img"
    with disk.open("xb") as file:
        file.truncate(512 << 20)
    modules = kernel.modules()
    programs = [find_program(name) for name in ("mydyno-agent", "mydyno-engine")]
    machine = Machine(
        name=folder.path.name,
        kernel=kernel.file,
        initrd=make_initrd(store, entries(modules, programs, guest_config(modules, ()))),
        root=root.file,
        accelerator=acceleration(kernel.file, store.folder / ACCELERATION).accelerator,
        memory_bytes=1 << 30,
        cpus=2,
        disks=(DiskImage(SERIAL, disk),),
        folders=(SharedFolder("machine", Path("/"), "passthrough"),),
    )
    ending = site.intend(EndProcesses(argument=machine.name))
    host = VmHost(machine, site.lab / "console.log")
    try:
        commanded(host, "sh", "-c", ENTER)
        commanded(host, "mkfs.xfs", "-q", DISK)
        yield host
    finally:
        host.close()
        site.undo(ending)
        site.remove(folder)


def commanded(host: VmHost, *argv: str) -> str:
    done = host.run(argv, timeout_seconds=900)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_only_a_matching_serial_lets_wipe_take_a_disk_and_it_is_left_blank(guest: VmHost) -> None:
    path = os.pathsep.join(filter(None, sys.path))
    environment = [f"PYTHONPATH={path}", "TMPDIR=/run/tmp", f"PATH={os.environ['PATH']}"]
    python = [sys.executable, "-c", BUILD, DISK, SERIAL]
    result = commanded(guest, "chroot", ROOT, "env", *environment, *python).splitlines()
    other, unasked, wiped = result
    assert f"it has the serial {SERIAL}, and the experiment means the disk with the serial ANOTHER" in other
    assert "it carries xfs; with `wipe: yes` and its serial" in unasked
    for refused in (other, unasked):
        assert refused.startswith("refused: ")
        assert refused.endswith("; it carries xfs; to be undone: []")
    assert wiped == "built and mounted rw, carrying ext4; it carries nothing; to be undone: []"
