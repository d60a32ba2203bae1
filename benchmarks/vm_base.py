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
from pathlib import Path
from typing import Any

from bench_support import machine, print_table, say, spread
from storage_ground import Bench, bench, storage

from mydyno.core.errors import MissingToolError
from mydyno.host.images import ImageStore
from mydyno.host.local import LocalHost
from mydyno.host.vm.chosen import chosen_root
from mydyno.spec import Storage
from mydyno.spec.host import Host
from mydyno.stack import (
    DataDirectoryLayer,
    DatasetLayer,
    Layer,
    RunningServer,
    ServerBinary,
    ServerLayer,
    Stack,
    Standing,
    find_binary,
    inspect_binary,
)
from mydyno.stack.disk_base import FORMAT, BaseManifest, DiskBase
from mydyno.stack.disk_base_layer import DiskBaseLayer
from mydyno.stack.ground import DiskLimits, Ground
from mydyno.stack.ground.disk_files import make_disk_files
from mydyno.stack.server.of_image import binary_of_image
from mydyno.stack.storage import MountedVolume, building_layers, loading_layers
from mydyno.trial.self_check import self_check

IOPS = 100
DISK_BYTES = 512 << 20
FIO_BYTES = 128 << 20
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
def disk(at: Bench, kind: str) -> Iterator[Ground]:
    """A guest with one disk that is full: a raw file, or an overlay of one."""
    wanted = storage(count=1, filesystem="raw")
    folder = at.site.folder_in(at.folder)
    ground = at.ground("vm", wanted, f"disk {kind}")
    below = Standing()
    if kind == "overlay":
        [file] = make_disk_files(folder.path, {"data": wanted.data.disks})
        file.write_bytes(b"\x5a" * DISK_BYTES)
        below = Standing((DiskBase(folder.path, _manifest()),))
    try:
        product = ground.up(at.site, below)
        try:
            if kind == "raw":
                fio(product, "--rw=write", "--bs=1M", "--iodepth=4")
            yield product
        finally:
            ground.down(at.site, product)
    finally:
        at.site.remove(folder)


def _manifest() -> BaseManifest:
    nowhere = Path("/")
    return BaseManifest(
        format=FORMAT,
        shaped_by={},
        dataset="",
        data=nowhere,
        scratch=nowhere,
        places={},
        settings={},
        size_bytes=DISK_BYTES,
        seconds=0.0,
    )


def fio(ground: Ground, *options: str, offset: int = 0) -> tuple[float, float]:
    """Writes a second, and the 99th percentile of their latency in ms."""
    [disk] = ground.disks["data"]
    where = [f"--filename={disk.path}", f"--offset={offset}", f"--size={FIO_BYTES}"]
    how = ["--name=a", "--direct=1", "--ioengine=libaio", "--output-format=json", "--randrepeat=0"]
    done = ground.host.run(["fio", *where, *how, *options], timeout_seconds=600)
    if done.returncode != 0:
        raise SystemExit(f"fio failed: {done.stderr}")
    write = json.loads(done.stdout)["jobs"][0]["write"]
    return float(write["iops"]), write["clat_ns"]["percentile"]["99.000000"] / 1e6


LOADS = {
    "16 in flight": ("--iodepth=16",),
    "one, each synced": ("--iodepth=1", "--fsync=1"),
}


def first_writes(at: Bench, kind: str) -> dict[tuple[str, str], tuple[float, float]]:
    """(limit, load) -> 4K random writes, each to a page that was not written before in this guest."""
    found = {}
    timed = ["--rw=randwrite", "--bs=4k", f"--runtime={FIO_SECONDS}"]
    with disk(at, kind) as ground:
        offset = 0
        for limit, limits in ((f"{IOPS} IOPS", DiskLimits(IOPS)), ("none", DiskLimits())):
            ground.throttle(dict.fromkeys(ground.disks["data"], limits))
            for load, options in LOADS.items():
                say(f"{kind}: limit {limit}, {load}")
                # A fresh quarter of the disk each: the map of fio sends no page twice.
                found[limit, load] = fio(ground, *timed, *options, offset=offset)
                offset += FIO_BYTES
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
        writes = {kind: first_writes(at, kind) for kind in ("raw", "overlay")}
        data = dataset(binary, arguments.dataset)
        say("loading the dataset")
        data.up(at.site, Standing())
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
            [limit, load, kind, f"{iops:,.0f}", f"{p99:,.1f}"]
            for limit, load in writes["raw"]
            for kind, by_load in writes.items()
            for iops, p99 in [by_load[limit, load]]
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
