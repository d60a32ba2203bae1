"""Storage on guests: how long its layers take to change, what a trial costs without load, and how near
arrays of limited disks come to theory.

    python benchmarks/storage_ground.py [--rounds 3] [--grounds uml vm]

A ground that this machine has no kernel or image for is left out with its reason. `vm` gets disks of half
the I/Os: emulated CPUs, where KVM does not work, are busy at more.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench_support import machine, print_table, say, spread

from mydyno.core import grounds
from mydyno.core.errors import MissingToolError
from mydyno.lab.analysis.disk_theory import IDLE_FLOOR
from mydyno.lab.results.records import SelfCheckRecord
from mydyno.lab.spec import Storage
from mydyno.lab.spec.host import Host
from mydyno.lab.stack import Journal, Layer, Site, Stack
from mydyno.lab.stack.ground import Ground
from mydyno.lab.stack.ground.uml import UmlGroundLayer
from mydyno.lab.stack.ground.vm import VmGroundLayer
from mydyno.lab.stack.storage import MountedVolume, building_layers, loading_layers
from mydyno.lab.trial.self_check import self_check
from mydyno.machine.local import LocalHost

IOPS = {"uml": 200, "vm": 100}
MOST_CHANGE_S = 5.0
MOST_OVERHEAD_S = 6.0
STACKS: tuple[dict[str, Any], ...] = (
    {"raid": 10, "filesystem": "xfs", "mount": ["noatime"]},
    {"raid": 5, "filesystem": "ext4", "mount": ["relatime"]},
    {"raid": 0, "filesystem": "xfs", "mount": ["noatime"]},
)
"""Changed into each other in this order, round and round."""

ARRAYS: dict[str, dict[str, Any]] = {
    "one disk": {"raid": "none", "count": 1},
    "RAID 0 of 4": {"raid": 0, "count": 4},
    "RAID 1 of 2": {"raid": 1, "count": 2},
    "RAID 5 of 4": {"raid": 5, "count": 4},
    "RAID 10 of 4": {"raid": 10, "count": 4},
}


@dataclass(frozen=True)
class Bench:
    """Where guests are raised, gone afterwards."""

    site: Site
    folder: Path

    def ground(self, kind: str, storage: Storage, trial: str) -> Layer:
        folder = self.folder / trial.replace(" ", "-")
        folder.mkdir(exist_ok=True)
        if kind == "uml":
            return UmlGroundLayer(Host(kind="uml"), storage, folder, trial)
        return VmGroundLayer(Host(kind="vm"), storage, folder, trial)


@contextmanager
def bench() -> Iterator[Bench]:
    with tempfile.TemporaryDirectory(prefix="mydyno-bench-") as name:
        lab = Path(name)
        # The guest's processes may be another user's.
        lab.chmod(0o755)
        yield Bench(Site(lab, LocalHost(), Journal(lab)), lab)


def storage(count: int = 4, iops: int | None = None, **values: Any) -> Storage:
    disks = {"count": count, "size": "512M"} | ({} if iops is None else {"iops": iops})
    return Storage.model_validate({"data": {"disks": disks, **values}})


def change_seconds(at: Bench, rounds: int) -> list[float]:
    """Of array, file system and mount, on a guest that stands: from one of `STACKS` to the next."""
    found = []
    first = storage(**STACKS[0])
    ground = at.ground("uml", first, "change")
    with Stack(at.site) as stack:
        stack.move_to([ground, *building_layers(first)])
        for number in range(rounds):
            for place in range(len(STACKS)):
                values = STACKS[(place + 1) % len(STACKS)]
                say(f"round {number + 1} of {rounds}: to RAID {values['raid']}, {values['filesystem']}")
                layers = [ground, *building_layers(storage(**values))]
                begin = time.monotonic()
                stack.move_to(layers)
                found.append(time.monotonic() - begin)
    return found


def overhead_seconds(at: Bench, rounds: int) -> list[float]:
    """From nothing to a guest with a limited RAID 10 of four disks, and back to nothing."""
    found = []
    for number in range(rounds):
        say(f"round {number + 1} of {rounds}: boot, RAID 10, xfs, power off")
        wanted = storage(iops=IOPS["uml"], **STACKS[0])
        ground = at.ground("uml", wanted, f"overhead {number}")
        begin = time.monotonic()
        with Stack(at.site) as stack:
            stack.move_to([ground, *building_layers(wanted), *loading_layers(wanted)])
        found.append(time.monotonic() - begin)
    return found


def against_theory(at: Bench, kind: str, rounds: int) -> dict[tuple[str, str], list[SelfCheckRecord]]:
    """(array, operation) -> its checks, each on a guest of its own."""
    found: dict[tuple[str, str], list[SelfCheckRecord]] = {}
    for number in range(rounds):
        for name, values in ARRAYS.items():
            say(f"round {number + 1} of {rounds}: {kind}, {name}")
            wanted = storage(iops=IOPS[kind], filesystem="xfs", **values)
            ground = at.ground(kind, wanted, f"{kind} {name} {number}")
            with Stack(at.site) as stack:
                standing = stack.move_to([ground, *building_layers(wanted), *loading_layers(wanted)])
                stood = standing.of(Ground)  # type: ignore[type-abstract]
                for check in self_check(stood, standing.of(MountedVolume), wanted):
                    found.setdefault((name, check.operation), []).append(check)
    return found


def verdict(worst: float, most: float) -> str:
    return "kept" if worst < most else "BROKEN"


def theory_row(kind: str, name: str, operation: str, checks: list[SelfCheckRecord]) -> list[str]:
    [expected] = {check.expected_iops for check in checks}
    measured = [check.measured_iops for check in checks if check.measured_iops is not None]
    ratios = [check.ratio for check in checks if check.ratio is not None]
    idle = [check.idle for check in checks if check.idle is not None]
    row = [kind, name, operation, f"{expected:,.0f}"]
    if not measured:
        return [*row, "failed", str(len(checks)), "", "", checks[0].error or ""]
    off, most = max(abs(each - 1) for each in ratios), grounds.BY_NAME[kind].tolerance
    least = min(idle)
    judged = f"within {most:.0%}: {verdict(off, most)}"
    bound = "CPU-bound" if least < IDLE_FLOOR else ""
    return [
        *row,
        spread(measured, 0),
        str(len(measured)),
        f"{off:.1%}",
        f"{least:.0%} {bound}".strip(),
        judged,
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--grounds", nargs="+", choices=list(IOPS), default=list(IOPS))
    arguments = parser.parse_args()
    times: list[tuple[str, list[float], float]] = []
    checks: dict[str, dict[tuple[str, str], list[SelfCheckRecord]]] = {}
    with bench() as at:
        for kind in arguments.grounds:
            try:
                if kind == "uml":
                    what = "uml: RAID, file system and mount of 4 x 512 MB into another"
                    times.append((what, change_seconds(at, arguments.rounds), MOST_CHANGE_S))
                    what = "uml: boot, RAID 10, xfs, limits, power off"
                    times.append((what, overhead_seconds(at, arguments.rounds), MOST_OVERHEAD_S))
                checks[kind] = against_theory(at, kind, arguments.rounds)
            except MissingToolError as error:
                say(f"{kind} is left out: {error}")

    print(f"\nStorage on guests; median [least most]. {machine()}\n")
    print_table(
        ("what", "seconds", "n", "promise"),
        [
            [what, spread(values, 2), str(len(values)), f"< {most:g} s: {verdict(max(values), most)}"]
            for what, values, most in times
        ],
    )
    print("\n4K random I/Os per second on xfs against theory; the farthest run from it, the least idle CPU\n")
    print_table(
        ("ground", "array", "operation", "theory", "measured", "n", "farthest", "idle", "promise"),
        [
            theory_row(kind, name, operation, found)
            for kind, by_array in checks.items()
            for (name, operation), found in by_array.items()
        ],
    )


if __name__ == "__main__":
    main()
