"""The table of machines and disks: whole, with a source for each row, and the page shows it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from mydyno.lab.cloud.catalogue import PROVIDERS, DiskKind, catalogue

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "cloud-disks.md"


def test_every_source_is_dated_and_used() -> None:
    known = catalogue()
    used = set()
    for name in PROVIDERS:
        provider = known.provider(name)
        rows = [*provider.machines.values(), *provider.disk_kinds.values()]
        assert all(row.sources for row in rows)
        used |= {key for row in rows for key in row.sources}
    assert used == set(known.sources)
    assert all(text[-4:].isdecimal() and text[-5] == " " for text in known.sources.values())


@pytest.mark.parametrize("name", PROVIDERS)
def test_machines_stand_in_the_order_in_which_they_are_chosen(name: str) -> None:
    machines = list(catalogue().provider(name).machines.values())  # type: ignore[arg-type]
    assert machines == sorted(machines, key=lambda size: (size.cpus, size.memory_gib))


def test_a_premium_disk_has_the_iops_of_the_tier_that_holds_it() -> None:
    kind = catalogue().azure.disk_kinds["Premium_LRS"]
    sizes = {4: 120, 64: 240, 65: 500, 128: 500, 129: 1100, 1024: 5000, 32767: 20000}
    assert {gib: kind.iops_of(gib, None) for gib in sizes} == sizes
    assert kind.iops_of(128, 20000) == 500, "the tier counts, whatever is wanted"


def test_ordered_iops_stay_between_the_least_and_the_most() -> None:
    kind = catalogue().aws.disk_kinds["gp3"]
    assert [kind.iops_of(100, wanted) for wanted in (None, 200, 5000, 99999)] == [3000, 3000, 5000, 16000]


def test_a_kind_of_disk_has_one_way_to_its_iops() -> None:
    both = {"title": "", "smallest_gib": 1, "largest_gib": 2, "sources": (), "iops_per_gib": 1}
    with pytest.raises(ValidationError, match="one of tiers"):
        DiskKind.model_validate({**both, "tiers": [(2, 100)]})
    with pytest.raises(ValidationError, match="the tiers end with the largest disk"):
        DiskKind.model_validate({**both, "iops_per_gib": None, "tiers": [(1, 100)]})


@pytest.mark.parametrize("name", PROVIDERS)
def test_the_page_has_every_machine_and_kind_of_disk(name: str) -> None:
    provider, page = catalogue().provider(name), PAGE.read_text()  # type: ignore[arg-type]
    for title, size in provider.machines.items():
        iops = "unknown" if size.iops is None else f"{size.iops:,}"
        disks = "unknown" if size.disks is None else size.disks
        assert f"| {title} | {size.cpus} | {size.memory_gib} | {disks} | {iops} |" in page
    for title in provider.disk_kinds:
        assert f"| `{title}` |" in page
    for source in catalogue().sources.values():
        assert f"- {source}" in page
