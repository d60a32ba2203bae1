"""The matrix of grounds in `mydyno doctor`."""

from __future__ import annotations

from dataclasses import replace

from mydyno.cli.doctor_grounds import checks_of, table
from mydyno.core.facts import GroundFacts
from mydyno.lab.plan.grounds import MAKERS

ORDINARY = GroundFacts(
    root=False,
    kernel="6.18.44",
    filesystems=frozenset({"ext4", "xfs"}),
    md=False,
    loops=True,
    throttling=True,
    programs=frozenset({"mdadm", *MAKERS.values()}),
    agent=True,
    ssh=True,
    fetches=False,
    uml_kernels=("6.1.176",),
    uml_kernel="6.1",
    qemu=True,
    kvm=False,
    vm_kernels=(),
    vm_kernel=None,
)


def test_a_ground_that_can_be_used_is_fine_and_one_that_cannot_says_how_it_could() -> None:
    local, uml, vm = checks_of(ORDINARY)
    assert [check.verdict for check in (local, uml, vm)] == ["warning", "ok", "warning"]
    assert local.found == "this machine itself: building storage on this machine itself needs root"
    assert uml.found == "User-Mode Linux guests: all but real disks"
    assert (vm.found, vm.hint) == ("QEMU guests: no guest image is built", "mydyno images build")


def test_the_table_has_a_row_for_each_capability_and_a_column_for_each_ground() -> None:
    lines = list(table(checks_of(ORDINARY)))
    cells = {line[:14].strip(): line[14:].split("  ") for line in lines[: lines.index("")]}
    rows = {name: [word.strip() for word in words if word.strip()] for name, words in cells.items()}
    assert rows["storage on"] == ["local", "uml", "vm"]
    assert rows["can be used"] == ["no", "yes", "no"]
    assert rows["md"] == ["no", "yes", "would"]
    assert rows["jfs"] == ["no", "yes", "would"]
    assert rows["reiserfs"] == ["no", "yes", "would"]
    assert rows["throttling"] == ["would", "yes", "would"]
    assert rows["needs root"] == ["yes", "no", "no"]
    assert rows["KVM"] == ["-", "-", "does not work"]
    assert rows["kernels here"] == ["6.18.44", "6.1.176", "none"]


def test_each_reason_is_reported_once_with_the_way_to_get_it() -> None:
    lines = list(table(checks_of(replace(ORDINARY, root=True, programs=frozenset({"mke2fs", "mkfs.xfs"})))))
    reasons = lines[lines.index("why not") + 1 :]
    assert "  uml md, uml linear: mdadm is not installed (apt-get install mdadm)" in reasons
    assert "  local md, local linear: this machine's kernel 6.18.44 has no md" in reasons
    assert "  uml real disks, vm real disks: a guest's disks are files" in reasons
    assert len(reasons) == len({reason.split(": ", 1)[1] for reason in reasons})


def test_programs_hear_why_something_is_not_there() -> None:
    _, uml, _ = checks_of(ORDINARY)
    assert uml.offers["md"] == "yes"
    assert uml.offers["real disks"] == "a guest's disks are files"
    assert checks_of(replace(ORDINARY, uml_kernels=()))[1].hints["boots"].startswith("apt-get and dpkg-deb")
