from pathlib import Path

import pytest

from mydyno.machine import environment
from mydyno.machine.environment import Mount, filesystem_under, read_environment, read_facts

MOUNTS = """\
21 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,errors=remount-ro
30 21 0:25 / /tmp rw,nosuid,nodev shared:9 - tmpfs tmpfs rw,size=1024k
40 21 8:1 / /mnt/my\\040disk rw,noatime - xfs /dev/sda1 rw,attr2
41 21 8:2 / /mnt/my\\040disk rw,relatime shared:2 master:1 - btrfs /dev/sdb rw,space_cache
a line that the kernel never wrote
"""


def test_the_file_system_is_that_of_the_longest_mount_point() -> None:
    found = filesystem_under(Path("/var/tmp/lab"), MOUNTS)
    assert found == Mount("/", "ext4", "/dev/vda", ("rw", "relatime", "errors=remount-ro"), "254:0", "/")
    nested = filesystem_under(Path("/tmp/lab"), MOUNTS)
    assert nested is not None
    assert nested.kind == "tmpfs"


def test_a_mount_point_is_compared_by_whole_names() -> None:
    found = filesystem_under(Path("/tmpfile"), MOUNTS)
    assert found is not None
    assert found.mount_point == "/"


def test_of_two_mounts_on_one_place_the_later_one_is_seen() -> None:
    found = filesystem_under(Path("/mnt/my disk/lab"), MOUNTS)
    assert found is not None
    assert (found.kind, found.source) == ("btrfs", "/dev/sdb")


@pytest.mark.parametrize("text", [None, "", "nonsense"])
def test_what_cannot_be_read_is_none(text: str | None) -> None:
    assert environment.memory_bytes(text) is None
    assert environment.cpu_model(text) is None
    assert environment.distribution(text) is None
    assert environment.virtualisation(text, text) is None
    assert environment.chosen(text) is None
    assert environment.load_average(text) is None
    assert filesystem_under(Path("/"), text) is None


def test_memory_is_counted_in_bytes() -> None:
    assert environment.memory_bytes("MemTotal:        2048 kB\nMemFree: 1 kB\n") == 2 * 1024 * 1024


def test_sysfs_marks_the_choice_in_force_with_brackets() -> None:
    assert environment.chosen("none [mq-deadline] kyber\n") == "mq-deadline"


def test_names_of_the_machine_are_read_as_written() -> None:
    cpuinfo = "processor\t: 0\nmodel name\t: AMD EPYC 7B13\nflags\t\t: fpu hypervisor sse\n"
    assert environment.cpu_model(cpuinfo) == "AMD EPYC 7B13"
    assert environment.distribution('ID=debian\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n') == (
        "Debian GNU/Linux 12 (bookworm)"
    )
    assert environment.load_average("0.50 1.25 2.00 1/300 4242\n") == (0.5, 1.25, 2.0)


def test_a_virtual_machine_is_distinguished_from_bare_metal() -> None:
    assert environment.virtualisation("flags : fpu hypervisor\n", "Amazon EC2\n") == "Amazon EC2"
    assert environment.virtualisation("flags : fpu hypervisor\n", None) == "virtual machine"
    assert environment.virtualisation("flags : fpu sse\n", "Dell Inc.\n") == "none"


def test_a_folder_that_is_not_there_yet_is_judged_by_its_parent(tmp_path: Path) -> None:
    there, missing = read_facts(tmp_path), read_facts(tmp_path / "lab" / "new")
    assert there.free_disk_bytes is not None
    assert missing.free_disk_bytes is not None
    assert read_environment(tmp_path / "lab").filesystem == read_environment(tmp_path).filesystem


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, "none: this kernel has no perf events"),
        ({"paranoid": "2"}, "none: this machine has no PMU (most virtual machines have none)"),
        ({"paranoid": "2", "cpu": "4"}, "in user space"),
        ({"paranoid": "-1", "cpu_core": "4"}, "in user space"),
        ({"paranoid": "3", "armv8_pmuv3_0": "8"}, "for root only: kernel.perf_event_paranoid is 3"),
    ],
)
def test_whether_the_cpu_counts_instructions_is_said(files: dict[str, str], expected: str) -> None:
    def read(path: str) -> str | None:
        _, _, name = path.removesuffix("/type").replace("perf_event_", "").rpartition("/")
        return files.get(name)

    assert environment.hardware_counters(read) == expected
