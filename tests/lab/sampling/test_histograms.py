"""Histograms of parts, added up, are the histogram of the whole; and they say what the engine says."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from lab.sampling.builders import AN_HOUR, histogram
from mydyno.lab.sampling.histograms import merged, packed

FIXTURE = Path(__file__).parents[2] / "fixtures" / "engine" / "messages" / "phase_end.json"
RECORDED = Path(__file__).parents[2] / "fixtures" / "histograms" / "recorded.json"
LATENCIES = some.lists(some.integers(1, AN_HOUR), min_size=1, max_size=60)


@settings(deadline=None, max_examples=50)
@given(some.lists(LATENCIES, min_size=1, max_size=6))
def test_merging_the_intervals_gives_the_histogram_of_the_phase(intervals: list[list[int]]) -> None:
    whole = merged([histogram(*(value for part in intervals for value in part))])
    parts = merged(histogram(*values) for values in intervals)
    assert whole is not None
    assert parts is not None
    assert parts.latency() == whole.latency()
    assert parts.encoded() == whole.encoded()


@settings(deadline=None, max_examples=50)
@given(LATENCIES)
def test_quantiles_are_those_of_the_values_within_a_thousandth(values: list[int]) -> None:
    found = merged([histogram(*values)])
    assert found is not None
    assert found.latency().count == len(values)
    for quantile in (0.001, 0.5, 0.9, 0.99, 1.0):
        exact = np.quantile(values, quantile, method="inverted_cdf")
        assert found.quantile_ns(quantile) == pytest.approx(exact, rel=0.001)
    assert found.latency().mean_ns == pytest.approx(np.mean(values), rel=0.001)
    assert found.latency().max_ns == pytest.approx(max(values), rel=0.001)
    assert found.latency().min_ns == pytest.approx(min(values), rel=0.001)


def test_what_the_engine_reckons_comes_out_of_its_histogram_to_the_digit() -> None:
    end = json.loads(FIXTURE.read_text())
    lines = [end["queries"]["latency"], end["transactions"]["latency"], end["connects"]["latency"]]
    for each in lines:
        found = merged([each.pop("histogram")])
        assert found is not None
        assert vars(found.latency()) == each


def test_the_figures_are_those_that_another_library_reads_from_histograms_of_the_engine() -> None:
    recorded = json.loads(RECORDED.read_text())
    texts = [one["histogram"] for one in recorded["histograms"]]
    whole = recorded["merged"] | {"name": "merged"}
    for one, parts in [*((one, [one["histogram"]]) for one in recorded["histograms"]), (whole, texts)]:
        found = merged(parts)
        assert found is not None
        figures = vars(found.latency())
        assert figures == one["figures"], one["name"]
        assert {name: figures[name] for name in one["library"]} == one["library"], one["name"]


def test_the_lab_keeps_the_bytes_that_are_in_the_text() -> None:
    text = histogram(1_000, 2_000_000)
    found, kept = merged([text]), packed(text)
    assert found is not None
    assert kept == base64.b64decode(text)
    again = merged([kept])
    assert again is not None
    assert again.latency() == found.latency()


def test_no_histogram_is_none_and_an_empty_one_has_no_figures() -> None:
    assert merged([]) is None
    assert packed(None) is None
    empty = merged([histogram()])
    assert empty is not None
    assert empty.quantile_ns(0.5) is None
    assert (empty.latency().count, empty.latency().p99_ns) == (0, None)
    assert merged([empty.encoded()]) is not None


NONE: list[Any] = ["", "x", "AAAA", "HISTFAAA", histogram(5)[:-8], b"", b"abc", "HIST☃", 5, None]


@pytest.mark.parametrize("text", NONE)
def test_what_is_no_histogram_is_refused(text: Any) -> None:
    with pytest.raises(ValueError, match="not a histogram"):
        merged([text])
