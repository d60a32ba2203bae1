"""QEMU guests whose disks are overlays of a base: what a trial costs without its load, from blank disks and
from a base, and what a first write to an overlay costs.

    python benchmarks/vm_base.py [--rounds 2] [--dataset 200]

Without an image of a guest (`mydyno images build`) it says so and ends.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from bench_support import machine, print_table, say, spread
from storage_ground import Bench, bench, storage

from mydyno.core.errors import MissingToolError
from mydyno.lab.spec import Storage
from mydyno.lab.spec.host import Host
from mydyno.lab.stack import (
    BuiltLayers,
    DataDirectoryLayer,
    DatasetLayer,
    Layer,
    RunningServer,
    ServerBinary,
    ServerLayer,
    Stack,
    find_binary,
    inspect_binary,
)
from mydyno.lab.stack.disk_base_layer import DiskBaseLayer
from mydyno.lab.stack.ground import Ground
from mydyno.lab.stack.storage import MountedVolume, building_layers, loading_layers
from mydyno.lab.trial.self_check import self_check
from mydyno.machine.images import ImageStore
from mydyno.machine.local import LocalHost
from mydyno.machine.programs import find_program
from mydyno.machine.vm.acceleration import ACCELERATION, acceleration
from mydyno.machine.vm.chosen import chosen_kernel, chosen_root
from mydyno.machine.vm.host import VmHost
from mydyno.machine.vm.initrd import entries, guest_config, make_initrd
from mydyno.machine.vm.machine import DiskImage, Machine
from mydyno.machine.vm.overlay import make_overlay
from mydyno.server.releases.find import binary_of_image

IOPS = 100
DISK_BYTES = 1 << 30
FIO_BYTES = 64 << 20
FIO_SECONDS = 8


@dataclass
class Durations:
    """Seconds of each step of a trial, by its name, and of all of it."""

    steps: dict[str, float] = field(default_factory=dict)
    _begun: tuple[str, float] | None = None

    def begin(self, step: str) -> None:
        self.end()
        self._begun = (step, time.monotonic())

    def end(self) -> None:
        if self._begun is not None:
            name, since = self._begun
            self.steps[name] = self.steps.get(name, 0.0) + time.monotonic() - since
        self._begun = None


def dataset(binary: ServerBinary, mebibytes: int) -> DatasetLayer:
    def prepare(server: RunningServer) -> Mapping[str, Any]:
        with server.connect() as connection, connection.cursor() as cursor:
            cursor.execute("CREATE DATABASE mydyno")
            cursor.execute(
                "CREATE TABLE mydyno.t (id INT AUTO_INCREMENT PRIMARY KEY, filler CHAR(250) NOT NULL)"
            )
            row = "(REPEAT('x', 250))"
            for _ in range(mebibytes * 4):
                cursor.execute(f"INSERT INTO mydyno.t (filler) VALUES {','.join([row] * 1000)}")
            connection.commit()
        return {}

    return DatasetLayer(binary, {}, contents={"bench": mebibytes}, prepare=prepare)


def trial(
    at: Bench, data: DatasetLayer, server: ServerBinary, wanted: Storage, name: str, *, base: bool
) -> Durations:
    """All that a trial does but its load, as `trial.raising` has it: RAID 10 of four, xfs, a server."""
    told = Durations()
    folder = at.folder / name.replace(" ", "-")
    ground = at.ground("vm", wanted, name)
    loading = loading_layers(wanted)
    bottom: list[Layer] = [data, *([DiskBaseLayer(Host(kind="vm"), wanted, data, folder)] if base else [])]
    built = [*bottom, ground, *building_layers(wanted)]
    top = [DataDirectoryLayer(name), *loading, ServerLayer(server, {}, folder)]
    with Stack(at.site, announce=lambda layer: told.begin(_step(layer.name))) as stack:
        standing = stack.move_to([*built, *loading])
        told.begin("self-check")
        self_check(standing.of(Ground), standing.of(MountedVolume), wanted)  # type: ignore[type-abstract]
        stack.move_to([*built, *top])
        told.begin("taking down")
    told.end()
    return told


def _step(layer: str) -> str:
    known = ("dataset", "base of the disks", "ground", "data directory", "server")
    return layer if layer in known else "array, file system, mount, limits"


@contextmanager
def two_disks(at: Bench) -> Iterator[VmHost]:
    """A guest with two disks that are full: `raw`, a file, and `overlay`, one over such a file."""
    store = ImageStore()
    root = chosen_root(store)
    kernel = chosen_kernel(store, None, root.manifest.suite)
    modules = kernel.modules()
    programs = [find_program(name) for name in ("mydyno-agent", "mydyno-engine")]
    folder = at.site.folder_in(at.folder)
    raw, base, overlay = (folder.path / name for name in ("raw.img", "base.img", "overlay.qcow2"))
    for file in (raw, base):
        file.write_bytes(b"\x5a" * DISK_BYTES)
    make_overlay(base, overlay)
    guest = Machine(
        name=folder.path.name,
        kernel=kernel.file,
        initrd=make_initrd(store, entries(modules, programs, guest_config(modules, ()))),
        root=root.file,
        accelerator=acceleration(kernel.file, store.folder / ACCELERATION).accelerator,
        memory_bytes=1 << 30,
        cpus=2,
        disks=(DiskImage("raw", raw), DiskImage("overlay", overlay, "qcow2")),
    )
    host = VmHost(guest, at.folder / "console.log")
    try:
        yield host
    finally:
        host.close()
        at.site.remove(folder)


def fio(host: VmHost, disk: str, *options: str, offset: int) -> tuple[float, float]:
    """Writes a second, and the 99th percentile of their latency in ms."""
    find = ["sh", "-c", f"cd /sys/block && grep -lx {disk} */serial | cut -d/ -f1"]
    name = host.run(find).stdout.strip()
    where = [f"--filename=/dev/{name}", f"--offset={offset}", f"--size={FIO_BYTES}"]
    # The map of fio sends no page twice.
    how = ["--name=a", "--direct=1", "--ioengine=libaio", "--output-format=json", "--randrepeat=0"]
    load = ["--rw=randwrite", "--bs=4k", f"--runtime={FIO_SECONDS}", "--ramp_time=1"]
    done = host.run(["fio", *where, *how, *load, *options], timeout_seconds=600)
    if done.returncode != 0:
        raise SystemExit(f"fio failed: {done.stderr}")
    write = json.loads(done.stdout)["jobs"][0]["write"]
    return float(write["iops"]), write["clat_ns"]["percentile"]["99.000000"] / 1e6


LOADS = {
    "16 in flight": ("--iodepth=16",),
    "one, each synced": ("--iodepth=1", "--fsync=1"),
}


def first_writes(at: Bench, rounds: int) -> dict[tuple[str, str, str], list[tuple[float, float]]]:
    """(limit, load, disk) -> 4K random writes, each to a page that was not written before in this guest.

    The disks take turns, so that the machine's moods hit both.
    """
    found: dict[tuple[str, str, str], list[tuple[float, float]]] = {}
    with two_disks(at) as host:
        offset = 0
        for _ in range(rounds):
            for iops in (IOPS, None):
                for load, options in LOADS.items():
                    for disk in ("raw", "overlay"):
                        limit = f"{iops} IOPS" if iops else "none"
                        say(f"{disk}: limit {limit}, {load}")
                        host.control.throttle(disk, iops, None)
                        key = limit, load, disk
                        found.setdefault(key, []).append(fio(host, disk, *options, offset=offset))
                    offset = (offset + FIO_BYTES) % DISK_BYTES
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--dataset", type=int, default=200, help="MiB of rows")
    arguments = parser.parse_args()
    try:
        server = binary_of_image(chosen_root(ImageStore()))
    except MissingToolError as error:
        raise SystemExit(str(error)) from error
    binary = inspect_binary(LocalHost(), find_binary())
    wanted = storage(iops=IOPS, raid=10, filesystem="xfs", mount=["noatime"])
    trials: dict[str, list[Durations]] = {}
    with bench() as at:
        writes = first_writes(at, arguments.rounds)
        data = dataset(binary, arguments.dataset)
        say("loading the dataset")
        data.build(at.site, BuiltLayers())
        for number in range(arguments.rounds):
            for kind in ("blank disks", "base"):
                say(f"round {number + 1} of {arguments.rounds}: a trial from {kind}")
                name = f"{kind} {number}"
                done = trial(at, data, server, wanted, name, base=kind == "base")
                first = kind == "base" and number == 0
                trials.setdefault("base, made" if first else kind, []).append(done)
                if first:
                    say("the same, from the base that is there now")
                    done = trial(at, data, server, wanted, f"{name} again", base=True)
                    trials.setdefault(kind, []).append(done)

    print(f"\n4K random writes to a full disk of a guest, each page once. {machine()}\n")
    print_table(
        ("limit", "load", "disk", "writes/s", "P99 ms"),
        [
            [*key, *(spread(values, 0) for values in zip(*found, strict=True))]
            for key, found in writes.items()
        ],
    )
    print(
        f"\nA trial without its load: RAID 10 of 4 disks of {IOPS} IOPS, xfs, a server with "
        f"{arguments.dataset} MiB of rows; seconds, median [least most]\n"
    )
    steps = list(dict.fromkeys(step for each in trials.values() for one in each for step in one.steps))
    print_table(
        ("step", *trials),
        [
            *(
                [step, *(spread([one.steps.get(step, 0.0) for one in each], 1) for each in trials.values())]
                for step in steps
            ),
            ["in all", *(spread([sum(one.steps.values()) for one in each], 1) for each in trials.values())],
        ],
    )


if __name__ == "__main__":
    main()
