"""Mount options: a slip is refused at its place, what nobody knows is a warning, the rest passes."""

from __future__ import annotations

import pytest

from lab.spec.builders import experiment, workload
from mydyno.core.facts import HostFacts
from mydyno.lab import plan, spec
from mydyno.lab.plan.mount_options import _GENERAL, _OWN

FACTS = HostFacts(memory_bytes=16 * 1024**3, cpus=2, free_disk_bytes=100 * 1024**3)
SMALL = workload("oltp-read-only: {tables: 1, table_size: 100}")


def planned(filesystem: str, mount: str) -> plan.Plan:
    storage = f"{{data: {{disks: {{size: 1G}}, filesystem: {filesystem}, mount: {mount}}}}}"
    return plan.make(experiment(setup=f"{{host: uml, storage: {storage}}}", workload=SMALL), FACTS)


@pytest.mark.parametrize(
    ("filesystem", "mount", "likely"),
    [
        ("xfs", "[noatim]", "noatime"),
        ("ext4", "[noatime, dta=writeback]", "data=writeback"),
        ("btrfs", "[compres=zstd]", "compress=zstd"),
    ],
)
def test_a_slip_is_refused_with_the_option_that_was_meant(filesystem: str, mount: str, likely: str) -> None:
    with pytest.raises(spec.SpecErrors) as refused:
        planned(filesystem, mount)
    (problem,) = refused.value.problems
    assert problem.nearest == likely
    assert problem.line is not None
    assert f"{filesystem} has no mount option" in problem.message


def test_an_option_that_is_close_to_none_is_a_warning_since_kernels_differ() -> None:
    text = " ".join(planned("xfs", "[zoned_by_magic]").warnings)
    assert "xfs is not known to have the mount option zoned_by_magic" in text


@pytest.mark.parametrize("filesystem", sorted(_OWN))
def test_options_of_the_file_system_and_of_all_file_systems_pass(filesystem: str) -> None:
    assert {"noatime", "nodiratime", "lazytime"} <= _GENERAL
    own = {
        "ext4": "[noatime, data=writeback, nobarrier, commit=60]",
        "xfs": "[noatime, logbsize=256k, nobarrier]",
    }
    made = planned(filesystem, own.get(filesystem, "[noatime]"))
    assert not [warning for warning in made.warnings if "mount option" in warning]
