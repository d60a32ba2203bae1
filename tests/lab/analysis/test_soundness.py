"""Remarks on servers that did not leave each other alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lab.analysis.slice_study import Machine, slices
from mydyno.lab.analysis.slices import CarryOver, Slice, SliceFit, fit
from mydyno.lab.analysis.soundness import Idle, Usage, soundness

NAMES = ("8", "450")
SOUND = SliceFit(
    cut_s=0.05,
    steady=True,
    rates=(1000.0, 1100.0),
    errors=(0.01, 0.01),
    means=(1000.0, 1100.0),
    mean_errors=(0.01, 0.01),
    outlying=0.01,
    rounds=80,
    carry_over=CarryOver((0, 1), 0.01, -0.01, 0.03),
    autocorrelation=0.1,
)
DRIVEN = Usage(seconds=40, cpu_s=40, read_bytes=400e6, write_bytes=400e6)
QUIET = Usage(seconds=40, cpu_s=0.4, read_bytes=0, write_bytes=4e6)


def messages(found: SliceFit, *idle: Usage) -> list[str]:
    servers = [Idle(number, DRIVEN, usage) for number, usage in enumerate(idle)]
    remarks = soundness(found, servers, NAMES)
    assert all(remark.check in ("slices", "slice-rounds") for remark in remarks)
    return [remark.message for remark in remarks]


def test_what_is_within_the_limits_is_no_remark() -> None:
    assert messages(SOUND, QUIET, QUIET) == []
    assert messages(replace(SOUND, carry_over=None, autocorrelation=None)) == []


@pytest.mark.parametrize(
    ("idle", "message"),
    [
        (replace(QUIET, cpu_s=4), "450 used 0.10 CPUs while another server was driven (10% of what a"),
        (replace(QUIET, read_bytes=80e6), "450 read 2.0 MB/s while another server was driven (20% of what"),
        (
            replace(QUIET, write_bytes=200e6),
            "450 wrote 5.0 MB/s while another server was driven (50% of what",
        ),
    ],
)
def test_an_idle_server_that_works_is_named(idle: Usage, message: str) -> None:
    (found,) = messages(SOUND, QUIET, idle)
    assert found.startswith(message)
    assert found.endswith("use longer slices, or order: blocked")


def test_servers_that_were_never_idle_or_never_driven_are_no_error() -> None:
    nothing = Usage(0, 0, 0, 0)
    assert soundness(SOUND, [Idle(0, DRIVEN, nothing), Idle(1, nothing, nothing)], NAMES) == ()


def test_what_is_carried_over_is_a_remark_with_its_size() -> None:
    carried = replace(SOUND, carry_over=CarryOver((1, 0), 0.05, 0.03, 0.07))
    assert messages(carried) == [
        "carry-over: slices after 450 are faster by 5.1% (99% CI 3.0 to 7.3) than slices after 8: "
        "use longer slices, or order: blocked"
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rounds": 4}, "only 4 rounds were measured (5 needed): measure longer"),
        ({"steady": False}, "queries per second still change within the slices"),
        ({"autocorrelation": 0.7}, "the noise of neighbouring rounds correlates by 0.70 (limit 0.5)"),
    ],
)
def test_too_few_too_short_and_too_similar_rounds_are_remarks(
    change: dict[str, object], message: str
) -> None:
    (found,) = messages(replace(SOUND, **change))  # type: ignore[arg-type]
    assert found.startswith(message)


def test_stalls_of_one_server_are_not_hidden_as_outliers() -> None:
    random = np.random.default_rng(2)
    made = slices(Machine(noise=0.03), random, rounds=100)
    stalled = [
        replace(one, parts=tuple(part // 20 for part in one.parts)) if _stalls(one) else one for one in made
    ]
    (found,) = messages(fit(stalled, 2))
    assert found.startswith("450 has slow slices that the others do not have")
    assert messages(fit(made, 2)) == []


def _stalls(one: Slice) -> bool:
    return one.server == 1 and one.round % 8 == 0


def test_a_neighbour_that_comes_and_goes_is_no_remark() -> None:
    random = np.random.default_rng(4)
    machine = Machine(noise=0.04, neighbour=0.2)
    assert sum(bool(messages(fit(slices(machine, random), 2))) for _ in range(40)) <= 2
