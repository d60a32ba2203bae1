"""Arrays and file systems of a real kernel, read as facts in a guest."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from live.test_uml import commanded
from live.uml import NEEDS_KERNEL, ground_layer
from mydyno.core.errors import MissingToolError
from mydyno.core.server_version import parse_version
from mydyno.lab.stack import BuiltLayers, Site
from mydyno.lab.stack.ground.uml import UmlGround
from mydyno.machine.protocol import Finished, Host
from mydyno.survey.facts import Storage, Unread
from mydyno.survey.host.machine import PATIENCE_SECONDS
from mydyno.survey.host.read import read_host

pytestmark = [pytest.mark.live, pytest.mark.slow, NEEDS_KERNEL]

DATA = "/run/mydyno/data"


class GuestMachine:
    """A guest as a machine that is only read."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.name = host.name
        self.refused: Mapping[str, str] = {}

    def fetch(self, paths: Iterable[str]) -> None:
        pass

    def read_text(self, path: str) -> str | None:
        return self._host.read_text(Path(path))

    def listing(self, folder: str) -> tuple[str, ...] | None:
        return self._lines(f"ls -A {shlex.quote(folder)}/")

    def glob(self, pattern: str) -> tuple[str, ...]:
        return self._lines(f'for f in {pattern}; do [ -e "$f" ] && echo "$f"; done') or ()

    def real_path(self, path: str) -> str:
        return (self._lines(f"readlink -f {shlex.quote(path)}") or (path,))[0]

    def run(self, argv: Sequence[str], *, patience_seconds: float = PATIENCE_SECONDS) -> Finished | None:
        try:
            return self._host.run(argv, timeout_seconds=patience_seconds)
        except MissingToolError:
            return None

    def _lines(self, command: str) -> tuple[str, ...] | None:
        return tuple(sorted(self._host.run(["sh", "-c", command]).stdout.splitlines())) or None


@pytest.fixture
def ground(site: Site) -> Iterator[UmlGround]:
    layer = ground_layer(site, count=3)
    ground = layer.build(site, BuiltLayers())
    yield ground
    layer.remove(site, ground)


def storage_of(ground: UmlGround) -> Storage:
    unread: list[Unread] = []
    version = parse_version("mariadbd Ver 10.11.19-MariaDB")
    read = read_host(GuestMachine(ground.host), None, {"datadir": f"{DATA}/mysql"}, version, unread)
    assert read.host is not None, unread
    return read.host.storage


def test_a_degraded_array_under_a_file_system_is_read_as_it_is(ground: UmlGround) -> None:
    disks = [str(disk.path) for disk in ground.disks["data"]]
    raid = ["mdadm", "--create", "/dev/md0", "--run", "--level=5", "--raid-devices=3", "--chunk=64"]
    commanded(ground, *raid, "--assume-clean", "--bitmap=internal", *disks)
    commanded(ground, "mkfs.ext4", "-q", "/dev/md0")
    commanded(ground, "mkdir", "-p", DATA)
    commanded(ground, "mount", "-o", "noatime", "/dev/md0", DATA)
    commanded(ground, "mkdir", f"{DATA}/mysql")
    storage = storage_of(ground)
    data = storage.of("data")
    assert data is not None
    assert (data.mount_point, data.kind, data.array) == (DATA, "ext4", "md0")
    assert "noatime" in data.options
    assert set(data.disks) == {Path(disk).name for disk in disks}
    assert data.reserved_bytes
    array = storage.array_of(data)
    assert array is not None
    assert (array.level, array.devices, array.degraded) == ("raid5", 3, False)
    assert (array.chunk_bytes, array.bitmap) == (64 << 10, "internal")
    assert array.stripe_cache_size == 256
    commanded(ground, "mdadm", "/dev/md0", "--fail", disks[0])
    array = storage_of(ground).array_of(data)
    assert array is not None
    assert (array.working, array.degraded) == (2, True)


def test_a_folder_of_btrfs_without_copy_on_write_is_known(ground: UmlGround) -> None:
    disk = str(ground.disks["data"][0].path)
    commanded(ground, "mkfs.btrfs", "-q", disk)
    commanded(ground, "mkdir", "-p", DATA)
    commanded(ground, "mount", disk, DATA)
    commanded(ground, "mkdir", f"{DATA}/mysql")
    assert [use.no_copy_on_write for use in storage_of(ground).uses] == [False]
    commanded(ground, "chattr", "+C", f"{DATA}/mysql")
    storage = storage_of(ground)
    assert [use.no_copy_on_write for use in storage.uses] == [True]
    data = storage.of("data")
    assert data is not None
    assert data.disks == (Path(disk).name,)
