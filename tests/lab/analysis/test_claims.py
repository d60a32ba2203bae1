"""What a source concluded is judged against its own numbers: seed 004's table, and made-up ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from mydyno.lab.analysis.claims import JudgedClaim, judged_claims
from mydyno.lab.analysis.metrics import RUNNING_TIME
from mydyno.lab.imports.mapping import load
from mydyno.lab.imports.records import Imported, imported
from mydyno.lab.imports.table import parse
from mydyno.lab.results.records import ClaimRecord

FILE = Path(__file__).parents[3] / "experiments" / "imports" / "sql-bench-2005.yaml"


@pytest.fixture(scope="module")
def published() -> Imported:
    mapping, text = load(FILE)
    content = (FILE.parent / (mapping.table or "")).read_bytes()
    return imported(mapping, text, FILE.name, parse(content, "t.csv"), content, "2026-01-31T12:00:00Z")


@pytest.fixture(scope="module")
def judged(published: Imported) -> tuple[JudgedClaim, ...]:
    experiment = published.experiment
    return judged_claims(experiment.claims, published.trials, experiment.points, RUNNING_TIME)


def orders(claim: JudgedClaim) -> list[str]:
    return [one.display for one in claim.found]


def test_on_the_intel_machine_the_published_order_holds_but_for_one_tie(
    judged: tuple[JudgedClaim, ...],
) -> None:
    intel = judged[0]
    assert orders(intel) == ["JFS > XFS, ReiserFS (not distinguishable) > ext3"]
    assert [(step.better, step.worse) for step in intel.steps if step.state == "tie"] == [("XFS", "ReiserFS")]
    assert sum(step.state == "holds" for step in intel.steps) == 5


def test_on_the_ibm_machine_xfs_leads_and_one_lone_trial_made_jfs_the_last(
    judged: tuple[JudgedClaim, ...],
) -> None:
    ibm = judged[1]
    assert orders(ibm) == ["XFS > JFS, ReiserFS, ext3 (not distinguishable)"]
    assert {frozenset((step.better, step.worse)) for step in ibm.steps if step.state == "holds"} == {
        frozenset(("XFS", other)) for other in ("JFS", "ReiserFS", "ext3")
    }
    assert ibm.plain is not None
    assert ibm.plain.order == ibm.claim.order, "the published order is that of the plain means"
    assert ibm.plain.lone is not None
    assert (ibm.plain.lone.level, ibm.plain.lone.value) == ("JFS", 8757)
    assert ibm.plain.lone.without == ("XFS", "JFS", "ReiserFS", "ext3")


def test_the_effect_of_the_kernel_s_configuration_under_centos_is_found_with_its_size(
    judged: tuple[JudgedClaim, ...],
) -> None:
    (step,) = judged[2].steps
    assert judged[2].agrees
    assert step.pair is not None
    assert step.pair.conditions == 8
    assert step.pair.ratio.value == pytest.approx(1.215, abs=0.001)


def test_levels_that_were_never_measured_side_by_side_are_said_to_be(published: Imported) -> None:
    claim = ClaimRecord(factor="machine", order=("PowerEdge 1850", "IBM x336"), where={}, said="")
    (found,) = judged_claims([claim], published.trials, published.experiment.points, RUNNING_TIME)
    assert [step.state for step in found.steps] == ["not measured"]
    assert not found.agrees
