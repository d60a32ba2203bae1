"""Histograms of parts, added up, are the histogram of the whole; and they say what the engine says."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given, settings
from hypothesis import strategies as some

from mydyno.sampling.histograms import merged, packed

FIXTURE = Path(__file__).parents[1] / "fixtures" / "engine" / "messages" / "phase_end.json"
AN_HOUR = 3_600_000_000_000
LATENCIES = some.lists(some.integers(1, AN_HOUR), min_size=1, max_size=60)


def histogram(values: list[int]) -> str:
    """As the engine tells them."""
    made = HdrHistogram(1, AN_HOUR, 3)
    for value in values:
        made.record_value(value)
    text: str = made.encode().decode()
    return text


@settings(deadline=None, max_examples=50)
@given(some.lists(LATENCIES, min_size=1, max_size=6))
def test_merging_the_intervals_gives_the_histogram_of_the_phase(intervals: list[list[int]]) -> None:
    whole = merged([histogram([value for part in intervals for value in part])])
    parts = merged(map(histogram, intervals))
    assert whole is not None
    assert parts is not None
    assert parts.latency() == whole.latency()
    assert parts.encoded() == whole.encoded()


@settings(deadline=None, max_examples=50)
@given(LATENCIES)
def test_quantiles_are_those_of_the_values_within_a_thousandth(values: list[int]) -> None:
    found = merged([histogram(values)])
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
    told = [end["queries"]["latency"], end["transactions"]["latency"], end["connects"]["latency"]]
    for each in told:
        found = merged([each.pop("histogram")])
        assert found is not None
        assert vars(found.latency()) == each


def test_the_lab_keeps_the_bytes_that_are_in_the_text() -> None:
    text = histogram([1_000, 2_000_000])
    found, kept = merged([text]), packed(text)
    assert found is not None
    assert kept == base64.b64decode(text)
    again = merged([kept])
    assert again is not None
    assert again.latency() == found.latency()


def test_no_histogram_is_none_and_an_empty_one_has_no_figures() -> None:
    assert merged([]) is None
    assert packed(None) is None
    empty = merged([histogram([])])
    assert empty is not None
    assert empty.quantile_ns(0.5) is None
    assert (empty.latency().count, empty.latency().p99_ns) == (0, None)
    assert merged([empty.encoded()]) is not None


@pytest.mark.parametrize("text", ["", "x", "AAAA", "HISTFAAA", histogram([5])[:-8], b"", b"abc", "HIST☃"])
def test_what_is_no_histogram_is_refused(text: str | bytes) -> None:
    with pytest.raises(ValueError, match="no histogram"):
        merged([text])
