"""Latency histograms put together, and what they say.

Percentiles cannot be averaged: those of a stretch, or of several trials, come from the histograms of its
parts, added up. A histogram is base64 of HdrHistogram's V2 encoding, or those bytes themselves as the lab
keeps them, in nanoseconds (docs/reference/engine-protocol.md).
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mydyno.lab.results.records import Latency
from mydyno.lab.sampling.hdr import HdrCounts

Encoded = str | bytes


class Histogram:
    """Latencies in nanoseconds, each within one part in a thousand."""

    def __init__(self, histogram: HdrCounts) -> None:
        self._histogram = histogram
        self._counts = histogram.counts

    @cached_property
    def _total(self) -> int:
        return int(self._counts.sum())

    def quantile_ns(self, quantile: float) -> int | None:
        """The value that `quantile` (0 to 1) of the latencies do not exceed; None without any."""
        if not self._total:
            return None
        rank = max(1, int(np.ceil(quantile * self._total - 1e-9)))
        return self._value(int(np.searchsorted(self._cumulated, rank)))[1]

    def latency(self) -> Latency:
        """The figures that a record keeps."""
        if not self._total:
            return Latency(count=0)
        used = np.flatnonzero(self._counts)
        return Latency(
            count=self._total,
            min_ns=self._value(int(used[0]))[0],
            mean_ns=self._mean_ns(used),
            max_ns=self._value(int(used[-1]))[1],
            p50_ns=self.quantile_ns(0.5),
            p75_ns=self.quantile_ns(0.75),
            p90_ns=self.quantile_ns(0.9),
            p95_ns=self.quantile_ns(0.95),
            p99_ns=self.quantile_ns(0.99),
            p999_ns=self.quantile_ns(0.999),
        )

    def encoded(self) -> str:
        """As the engine tells histograms."""
        return base64.b64encode(self._histogram.encode()).decode()

    @cached_property
    def _cumulated(self) -> NDArray[np.int64]:
        return np.cumsum(self._counts)

    def _values(self, indices: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The least and the largest latency that are counted at each index."""
        half, magnitude = self._histogram.half, self._histogram.unit_magnitude
        bucket = indices // half - 1
        shift = np.maximum(bucket, 0) + magnitude
        within = np.where(bucket >= 0, indices % half + half, indices)
        least = within.astype(np.int64) << shift
        return least, least + (np.int64(1) << shift) - 1

    def _value(self, index: int) -> tuple[int, int]:
        least, largest = self._values(np.array([index], dtype=np.intp))
        return int(least[0]), int(largest[0])

    def _mean_ns(self, used: NDArray[np.intp]) -> float:
        """Each value counts as the middle of those that it stands for."""
        least, largest = self._values(used)
        middles = (least + (largest - least + 1) // 2).astype(np.float64)
        return float((self._counts[used] * middles).sum()) / self._total


def merged(histograms: Iterable[Encoded]) -> Histogram | None:
    """All of them in one; None for none. Raises ValueError for what is not a histogram."""
    whole: HdrCounts | None = None
    for encoded in histograms:
        one = _decoded(encoded)
        whole = one if whole is None else whole + one
    return None if whole is None else Histogram(whole)


def packed(text: str | None) -> bytes | None:
    """A histogram of a message in the fewest bytes, for the lab. Raises ValueError for what is not base64."""
    return None if text is None else base64.b64decode(text, validate=True)


def _decoded(encoded: Encoded) -> HdrCounts:
    try:
        content = base64.b64decode(encoded, validate=True) if isinstance(encoded, str) else encoded
        return HdrCounts.decode(content)
    except (ValueError, TypeError) as error:
        raise ValueError(f"this is not a histogram: {error}") from error
