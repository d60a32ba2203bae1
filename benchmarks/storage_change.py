"""What a change of storage takes: another array, file system and mount on the disks of a standing guest.

The layers of one volume of four disks of 512 MB are moved from one combination to the next, as between
trials, on User-Mode Linux; each time is that of taking down the last and raising the next, read back.
The last rows are the guest's own: boot to a guest that answers, and power off.

    python benchmarks/storage_change.py [--rounds 3]
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from pathlib import Path

from bench_support import machine, print_table, say, spread

from mydyno.lab.spec.host import Host
from mydyno.lab.spec.storage import Storage
from mydyno.lab.stack import Journal, Site, Stack
from mydyno.lab.stack.ground.uml import UmlGroundLayer
from mydyno.lab.stack.storage import building_layers, loading_layers
from mydyno.machine.local import LocalHost

ARRAYS = ("linear", 0, 1, 4, 5, 6, 10)
FILE_SYSTEMS = ("ext2", "ext3", "ext4", "xfs", "btrfs", "jfs", "reiserfs")
DISKS = {"count": 4, "size": "512M", "iops": 200}
MOST_SECONDS = 5.0


def storage_of(raid: int | str, filesystem: str) -> Storage:
    written = {"disks": DISKS, "raid": raid, "filesystem": filesystem, "mount": ["noatime"]}
    return Storage.model_validate({"data": written})


def one_round(number: int, times: dict[str, list[float]]) -> None:
    """Every combination once, in a shuffled order, in one guest."""
    combinations = [(raid, filesystem) for raid in ARRAYS for filesystem in FILE_SYSTEMS]
    random.Random(number).shuffle(combinations)
    host = Host.model_validate({"kind": "uml", "memory": "1G"})
    with tempfile.TemporaryDirectory(prefix="mydyno-bench-") as folder:
        lab = Path(folder) / "lab"
        lab.mkdir()
        ground = UmlGroundLayer(host, storage_of(0, "xfs"), Path(folder), trial=f"round {number}")
        stack = Stack(Site(lab, LocalHost(), Journal(lab)))
        with stack:
            started = time.monotonic()
            stack.move_to([ground])
            times.setdefault("boot", []).append(time.monotonic() - started)
            for index, (raid, filesystem) in enumerate(combinations):
                storage = storage_of(raid, filesystem)
                started = time.monotonic()
                stack.move_to([ground, *building_layers(storage), *loading_layers(storage)])
                # The first finds nothing to take down, and the guest without its programs in memory.
                name = filesystem if index else "the first of a guest"
                times.setdefault(name, []).append(time.monotonic() - started)
            started = time.monotonic()
        times.setdefault("take down, power off", []).append(time.monotonic() - started)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    times: dict[str, list[float]] = {}
    for number in range(arguments.rounds):
        say(f"round {number + 1} of {arguments.rounds}")
        one_round(number, times)
    say(machine())
    changes = [seconds for name in FILE_SYSTEMS for seconds in times.get(name, [])]
    rows = [[name, str(len(values)), spread(values, 2)] for name, values in times.items()]
    rows.append(["all changes", str(len(changes)), spread(changes, 2)])
    print_table(["what", "n", "seconds, median [least most]"], rows)
    over = sum(seconds >= MOST_SECONDS for seconds in changes)
    print(f"{len(changes) - over} of {len(changes)} changes took less than {MOST_SECONDS:g} s")


if __name__ == "__main__":
    main()
