"""The verdict on each finding in words, and the table of all."""

from __future__ import annotations

import pytest

from mydyno.lab.analysis.bootstrap import Interval
from mydyno.lab.analysis.metrics import LATENCY_P95, QUERIES_PER_SECOND, Metric
from mydyno.lab.analysis.ratio import Ratio
from mydyno.lab.analysis.verdict import Side, Verdict, judge
from mydyno.prove import table
from mydyno.prove.proof import Proof, proofs_of
from prove.builders import POOL, SYNC, THREADS
from prove.test_experiment import SWAPPINESS, proposal

PROPOSAL = proposal("sandbox", (POOL, THREADS, SYNC, SWAPPINESS))
NOW = Side("advice = as it is", "loses up to 1 s on OS crash")


def verdict(
    value: float,
    low: float,
    high: float,
    p: float = 0.001,
    metric: Metric = QUERIES_PER_SECOND,
    durability: str = "loses up to 1 s on OS crash",
) -> Verdict:
    ratio = Ratio(5, 5, True, value, Interval(low, high), p, 0.02)
    return judge(ratio, Side("level", durability), NOW, metric)


def proofs(**verdicts: Verdict) -> dict[str, Proof]:
    found = proofs_of(PROPOSAL, {name.replace("_", "-"): each for name, each in verdicts.items()}, "0.1.0")
    return {each.level: each for each in found.proofs}


def test_what_a_finding_is_worth_is_reported_with_its_interval() -> None:
    found = proofs(buffer_pool=verdict(1.12, 1.09, 1.15))["buffer-pool"]
    assert (found.outcome, found.worth) == ("worth it", "worth 12.0% (95% CI 9.0 to 15.0)")
    assert (found.ratio, found.low, found.high, found.n) == (1.12, 1.09, 1.15, (5, 5))
    assert found.expected == "throughput better (large): fewer disk reads"


def test_worth_nothing_says_how_large_a_difference_is_ruled_out() -> None:
    found = proofs(thread_cache=verdict(1.001, 0.99, 1.012, p=0.8))["thread-cache"]
    assert (found.outcome, found.worth) == ("worth nothing", "worth nothing: no difference larger than 1.2%")


def test_harm_is_called_harm() -> None:
    found = proofs(thread_cache=verdict(0.9, 0.87, 0.93))["thread-cache"]
    assert (found.outcome, found.worth) == ("harms", "harms: 10.0% (95% CI 7.0 to 13.0)")


def test_too_few_trials_say_how_many_more() -> None:
    found = proofs(thread_cache=verdict(1.02, 0.94, 1.1, p=0.5))["thread-cache"]
    assert found.outcome == "not enough data"
    assert found.worth.startswith("not enough data: no difference larger than 10.0%; about ")


def test_less_latency_is_worth_something() -> None:
    found = proofs(buffer_pool=verdict(0.8, 0.75, 0.85, metric=LATENCY_P95))["buffer-pool"]
    assert found.worth == f"worth 20.0% (95% CI 15.0 to 25.0) of {LATENCY_P95.noun}"


def test_what_safety_costs_is_reported_with_what_it_buys() -> None:
    found = proofs(flush_at_commit=verdict(0.7, 0.65, 0.75, durability="durable"))["flush-at-commit"]
    assert found.worth == (
        "costs 30.0% (95% CI 25.0 to 35.0); it improves durability: "
        "commits survive a crash of the operating system"
    )


def test_a_level_without_a_valid_trial_and_a_finding_without_a_level_are_distinguished() -> None:
    found = proofs()
    assert found["buffer-pool"].worth == "not measured: no valid trial"
    assert found["swappiness"].worth == "not measured here"
    assert "does not change system settings" in found["swappiness"].not_measured[0]


@pytest.mark.parametrize(
    ("together", "said"),
    [(1.30, "they overlap"), (1.55, "together they gain more than each alone"), (1.41, "no interaction")],
)
def test_what_findings_bring_together_is_compared_with_the_product_of_each_alone(
    together: float, said: str
) -> None:
    found = proofs_of(
        PROPOSAL,
        {
            "buffer-pool": verdict(1.25, 1.2, 1.3),
            "thread-cache": verdict(1.12, 1.1, 1.14),
            "all together": verdict(together, together - 0.04, together + 0.04),
        },
        "0.1.0",
    )
    assert found.notes[0].startswith(
        f"each finding alone multiplies to 1.40x, all together {together:.2f}x: {said}"
    )


def test_less_latency_together_than_the_product_is_more() -> None:
    found = proofs_of(
        PROPOSAL,
        {
            "buffer-pool": verdict(0.8, 0.75, 0.85, metric=LATENCY_P95),
            "thread-cache": verdict(0.9, 0.85, 0.95, metric=LATENCY_P95),
            "all together": verdict(0.8, 0.78, 0.82, metric=LATENCY_P95),
        },
        "0.1.0",
    )
    assert found.notes[0].endswith("they overlap")


def test_without_all_parts_nothing_is_said_of_their_product() -> None:
    found = proofs_of(PROPOSAL, {"all together": verdict(1.3, 1.2, 1.4)}, "0.1.0")
    assert not any("multiplies" in note for note in found.notes)


def test_the_table_has_a_row_for_what_was_measured_and_a_line_for_what_was_not() -> None:
    found = proofs_of(PROPOSAL, {"buffer-pool": verdict(1.12, 1.09, 1.15)}, "0.1.0")
    result = table.markdown(found)
    row = "| buffer-pool | throughput better (large): fewer disk reads | 1.120 (1.090 to 1.150) |"
    assert f"{row} worth 12.0% (95% CI 9.0 to 15.0) |" in result
    assert "- swappiness, not measured: vm.swappiness = 1 (now 60):" in result
    shown = table.text(found, 100)
    assert "buffer-pool  worth 12.0% (95% CI 9.0 to 15.0)" in shown
    assert max(map(len, shown.splitlines())) <= 100
