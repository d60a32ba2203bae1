"""What of a finding can be measured where, and why the rest cannot."""

from __future__ import annotations

import pytest
from advisor.builders import host, system

from mydyno.apply.change import ByHand, Change, SetMountOptions, SetQueue, SetSysctl, SetSysfs, SetUnit
from mydyno.prove.ground import Ground
from mydyno.prove.provable import Tried, Untried, tried, with_options
from mydyno.survey.facts import Disk, FileSystem, Storage, Use
from prove.builders import finding, variable

SANDBOX = Ground("sandbox", most_open_files=20_000)
DATA = FileSystem(
    mount_point="/data",
    kind="xfs",
    source="/dev/sdb",
    options=("rw", "relatime", "attr2", "inode64"),
    disks=("sdb",),
)
STORAGE = Storage(
    disks=(Disk(name="sdb"),),
    filesystems=(DATA,),
    uses=(Use(files="data", path="/data/mysql", mount_point="/data"),),
)
GUEST = Ground("uml", system=system(the_host=host(storage=STORAGE)))


def paths(change: Change, ground: Ground = SANDBOX) -> dict[str, object]:
    found = tried(finding("rule", change), ground)
    assert isinstance(found, Tried), found
    return {step.path: step.value for step in found.steps}


def reason(change: Change, ground: Ground = SANDBOX) -> str:
    found = tried(finding("rule", change), ground)
    assert isinstance(found, Untried)
    return found.reasons[0]


def test_variables_and_limits_are_measured_in_a_sandbox() -> None:
    assert paths(variable("sort_buffer_size", "1M", "2097152")) == {"server.config.sort_buffer_size": "1M"}
    limit = SetUnit(unit="mariadb.service", name="LimitNOFILE", value="16384", was="1024")
    assert paths(limit) == {"limits.nofile": 16384}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (SetSysctl(name="vm.swappiness", value="1", was="60"), "does not change system settings"),
        (
            SetSysfs(path="/sys/kernel/mm/transparent_hugepage/enabled", value="never", was="always"),
            "does not change system settings",
        ),
        (ByHand(says="build the array anew"), "done by hand"),
        (SetQueue(disk="sdb", attribute="scheduler", value="none", was="bfq"), "--on vm or --on uml"),
        (SetMountOptions(mount_point="/data", add=("noatime",), was=("relatime",)), "--on vm or --on uml"),
        (
            SetUnit(unit="mariadb.service", name="OOMScoreAdjust", value="-600", was="0"),
            "not started by systemd",
        ),
        (SetUnit(unit="mariadb.service", name="LimitNOFILE", value="99999", was="1024"), "at most 20000"),
        (variable("max_connections", "500", "151"), "the load opens a fixed number of them"),
    ],
)
def test_what_a_sandbox_cannot_show_is_reported_with_the_reason(change: Change, says: str) -> None:
    assert says in reason(change)


def test_a_setting_that_the_server_there_does_not_take_is_reported_in_its_words() -> None:
    ground = Ground("sandbox", refuses=lambda name, value: f"no {name} here")
    assert reason(variable("innodb_fast", "1", "0"), ground).endswith("no innodb_fast here")


def test_mounts_and_queues_of_the_data_are_measured_in_a_guest() -> None:
    assert paths(SetMountOptions(mount_point="/data", add=("noatime",), was=DATA.options), GUEST) == {
        "storage.data.mount": ("noatime",)
    }
    queue = SetQueue(disk="sdb", attribute="read_ahead_kb", value="128", was="4096")
    assert paths(queue, GUEST) == {"storage.data.readahead": "128K"}
    elsewhere = SetMountOptions(mount_point="/home", add=("noatime",), was=())
    assert "not known to hold the data" in reason(elsewhere, GUEST)


def test_on_the_server_itself_only_what_it_takes_while_it_runs_is_set() -> None:
    server = Ground("server")
    assert paths(variable("sort_buffer_size", "1M", "2M"), server)
    assert "only at a start" in reason(variable("innodb_log_file_size", "1G", "96M", restart=True), server)
    assert "only dynamic variables" in reason(
        SetUnit(unit="mariadb.service", name="LimitNOFILE", value="16384", was="1024"), server
    )


def test_a_finding_is_measured_in_part_where_only_a_part_of_it_can_be() -> None:
    both = finding(
        "swapping",
        variable("innodb_buffer_pool_size", "1G", "128M"),
        SetSysctl(name="vm.swappiness", value="1", was="60"),
    )
    found = tried(both, SANDBOX)
    assert isinstance(found, Tried)
    assert [step.path for step in found.steps] == ["server.config.innodb_buffer_pool_size"]
    assert len(found.left_out) == 1


def test_mount_options_replace_their_opposites() -> None:
    assert with_options(("relatime", "barrier"), ("noatime",), ("barrier",)) == ("noatime",)
    assert with_options(("data=ordered", "discard"), ("data=writeback", "nodiscard"), ()) == (
        "data=writeback",
        "nodiscard",
    )
