"""The experiment file made of advice, to the letter: tests/prove/data/*.yaml."""

from __future__ import annotations

from pathlib import Path

import pytest
from advisor.builders import host, server, system, variable

from mydyno.apply.change import SetMountOptions, SetSysctl
from mydyno.apply.finding import Finding
from mydyno.lab import spec
from mydyno.lab.workload import read
from mydyno.prove.experiment import Common, Load, Proposal
from mydyno.prove.ground import Ground
from mydyno.prove.levels import levels_of
from mydyno.prove.place import Place
from mydyno.prove.propose import shared_settings, storage_of
from mydyno.prove.provable import CONFIG, Tried, Untried, tried
from mydyno.prove.shape import scaled, shape_of
from mydyno.survey.facts import Array, Disk, FileSystem, Schema, Storage, System, Use
from prove.builders import HERE, POOL, SYNC, THREADS, advice, finding

DATA = Path(__file__).parent / "data"
LOAD = Load("oltp-read-write", False, "1,8,10..30 step 10", "5s", "30s")
DISKS = tuple(Disk(name=f"sd{letter}") for letter in "abcd")
FILESYSTEM = FileSystem(
    mount_point="/data",
    kind="xfs",
    source="/dev/md0",
    options=("rw", "relatime", "inode64"),
    array="md0",
    disks=("sda", "sdb", "sdc", "sdd"),
)
ARRAY = Array(name="md0", level="raid10", devices=4, chunk_bytes=65536)
STORAGE = Storage(
    disks=DISKS,
    arrays=(ARRAY,),
    filesystems=(FILESYSTEM,),
    uses=(Use(files="data", path="/data/mysql", mount_point="/data"),),
)


def facts() -> System:
    return system(
        server(
            variables={
                "innodb_buffer_pool_size": variable("134217728"),
                "innodb_log_file_size": variable("100663296"),
                "sync_binlog": variable("0"),
                "log_bin_basename": variable(""),
            },
            schema_facts=Schema(tables=4, bytes_by_engine={"InnoDB": 1 << 30}),
        ),
        host(storage=STORAGE),
    )


def proposal(
    on: Place, findings: tuple[Finding, ...] = (POOL, THREADS, SYNC), seen: System | None = None
) -> Proposal:
    ground = Ground(on, system=seen)
    found = [tried(each, ground) for each in findings]
    tries = [each for each in found if isinstance(each, Tried)]
    shape = shape_of(read("oltp-read-write"), {"tables": 4}, 200 << 20, 1 << 30 if seen else None, None, HERE)
    levels = levels_of(scaled(tries, shape.scale))
    changed = [path.removeprefix(CONFIG) for path in levels.now.values]
    return Proposal(
        name="prove-advice",
        advice=advice(*findings),
        levels=levels,
        untried=tuple(each for each in found if isinstance(each, Untried)),
        shape=shape,
        common=Common(
            on=on,
            release=None if on == "server" else "system",
            external={"defaults_file": "~/.my.cnf", "database": "mydyno"} if on == "server" else None,
            config=shared_settings(ground, changed, shape.scale),
            storage=storage_of(seen, shape.data_bytes) if ground.has_storage else None,
        ),
        load=LOAD,
    )


NOATIME = finding("noatime", SetMountOptions(mount_point="/data", add=("noatime",), was=FILESYSTEM.options))
SWAPPINESS = finding("swappiness", SetSysctl(name="vm.swappiness", value="1", was="60"), aspect="stability")
CASES = {
    "sandbox": lambda: proposal("sandbox", (POOL, THREADS, SYNC, SWAPPINESS), facts()),
    "uml": lambda: proposal("uml", (POOL, NOATIME), facts()),
    "server": lambda: proposal("server"),
}


@pytest.mark.parametrize("name", CASES)
def test_the_file_is_as_it_was(name: str) -> None:
    """`python tests/prove/test_experiment.py` writes the files again; read the difference."""
    assert CASES[name]().text == (DATA / f"{name}.yaml").read_text()


@pytest.mark.parametrize("name", CASES)
def test_the_file_is_an_experiment_with_a_point_for_each_level(name: str) -> None:
    made = CASES[name]()
    read_back = spec.loads(made.text, "made.yaml")
    assert [each["advice"] for each in read_back.combinations()] == [level.name for level in made.levels.all]


def test_a_claim_is_made_for_each_finding_that_promises_speed_at_equal_durability() -> None:
    claims = spec.loads(CASES["sandbox"]().text, "made.yaml").claims
    assert [claim.order for claim in claims] == [("buffer-pool", "as it is"), ("thread-cache", "as it is")]


def test_what_is_not_measured_is_in_the_source_that_the_report_shows() -> None:
    source = spec.loads(CASES["sandbox"]().text, "made.yaml").source
    assert source is not None
    assert "Not measured here, swappiness: vm.swappiness = 1 (now 60)" in source


if __name__ == "__main__":
    for case, make in CASES.items():
        (DATA / f"{case}.yaml").write_text(make().text)
