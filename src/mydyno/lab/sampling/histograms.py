"""Latency histograms put together, and what they say.

Percentiles cannot be averaged: those of a stretch, or of several trials, come from the histograms of its
parts, added up. A histogram is base64 of HdrHistogram's V2 encoding, or those bytes themselves as the lab
keeps them, in nanoseconds (docs/reference/engine-protocol.md).
"""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mydyno.lab.results.records import Latency

Counts = NDArray[np.int64]

_OUTER = struct.Struct(">II")
"""Cookie, bytes of the zlib stream."""
_INNER = struct.Struct(">IIIIQQd")
"""Cookie, bytes of the counts, normalizing offset, digits, least and largest value, conversion ratio."""
_OUTER_COOKIE = 0x1C849314
_INNER_COOKIE = 0x1C849313
_MOST_COUNTS = 1 << 20
"""Of one histogram: 8 MB. One of the engine, from 1 ns to an hour to three digits, has 33,792."""
_MOST_BYTES = 8
"""Of one number. A ninth would be for counts of 2^55 and more."""
_MOST_TOTAL = 1 << 54


Encoded = str | bytes


@dataclass(frozen=True)
class HdrCounts:
    """How many values fell into each of the ranges that an HdrHistogram divides its own into."""

    digits: int
    """Significant decimal digits, 0 to 5."""
    lowest: int
    """The least value that is distinguished from 0."""
    highest: int
    """The largest value that it can hold."""
    counts: Counts
    """By index, up to the last that is not 0, or some zeros more."""

    @property
    def half(self) -> int:
        """Ranges of equal width before the width doubles."""
        return 1 << (self._magnitude - 1)

    @property
    def unit_magnitude(self) -> int:
        """The width of the narrowest range, as a power of 2."""
        return self.lowest.bit_length() - 1

    @property
    def capacity(self) -> int:
        """The indices that values up to `highest` need."""
        doublings = (self.highest >> (self.unit_magnitude + self._magnitude)).bit_length()
        return (doublings + 2) * self.half

    @property
    def _magnitude(self) -> int:
        return max(1, math.ceil(math.log2(2 * 10**self.digits)))

    @classmethod
    def decode(cls, content: bytes) -> HdrCounts:
        """Raises ValueError for anything but one whole histogram of at most 2^20 counts."""
        if len(content) < _OUTER.size:
            raise ValueError("it is too short")
        cookie, length = _OUTER.unpack_from(content)
        if cookie != _OUTER_COOKIE:
            raise ValueError(f"it begins with {cookie:#x}, an HdrHistogram V2 with {_OUTER_COOKIE:#x}")
        if length != len(content) - _OUTER.size:
            raise ValueError(f"{len(content) - _OUTER.size} bytes follow where {length} should")
        try:
            return cls._inflated(content[_OUTER.size :])
        except zlib.error as error:
            raise ValueError(str(error)) from error

    @classmethod
    def _inflated(cls, stream: bytes) -> HdrCounts:
        """Nothing is unpacked beyond the size that the header allows."""
        inflate = zlib.decompressobj()
        head = inflate.decompress(stream, _INNER.size)
        if len(head) < _INNER.size:
            raise ValueError("its header is cut off")
        cookie, length, offset, digits, lowest, highest, _ = _INNER.unpack(head)
        if cookie != _INNER_COOKIE or offset:
            raise ValueError(f"its counts are in an encoding that is not read here ({cookie:#x}, {offset})")
        if digits > 5 or not 1 <= lowest <= highest // 2 or highest >= 1 << 63:
            raise ValueError(f"it cannot go from {lowest} to {highest} with {digits} digits")
        empty = cls(digits, lowest, highest, np.zeros(0, np.int64))
        if empty.unit_magnitude + empty._magnitude > 62:
            raise ValueError(f"{digits} digits of {lowest} are more than 63 bits hold")
        if empty.capacity > _MOST_COUNTS:
            raise ValueError(f"it would have {empty.capacity} counts, at most {_MOST_COUNTS} are read")
        if length > _MOST_BYTES * empty.capacity:
            raise ValueError(f"{length} bytes are too many for {empty.capacity} counts")
        body = inflate.decompress(inflate.unconsumed_tail, length + 1)
        if len(body) != length or not inflate.eof or inflate.unused_data:
            raise ValueError(f"its counts do not have the {length} bytes that its header names")
        return replace(empty, counts=_spread(_numbers(body), empty.capacity))

    def encode(self) -> bytes:
        """The counts up to the last that is not 0."""
        body = _bytes(_runs(self.counts))
        header = (_INNER_COOKIE, len(body), 0, self.digits, self.lowest, self.highest, 1.0)
        stream = zlib.compress(_INNER.pack(*header) + body)
        return _OUTER.pack(_OUTER_COOKIE, len(stream)) + stream

    def __add__(self, other: HdrCounts) -> HdrCounts:
        """Raises ValueError when the two do not divide values into the same ranges, or hold too many."""
        if (self.digits, self.unit_magnitude) != (other.digits, other.unit_magnitude):
            raise ValueError("histograms of different precision cannot be added up")
        short, long = sorted((self.counts, other.counts), key=len)
        counts = long.copy()
        counts[: len(short)] += short
        _check_total(counts)
        return replace(self, highest=max(self.highest, other.highest), counts=counts)


def _numbers(body: bytes) -> Counts:
    """The ZigZag LEB128 numbers: seven bits a byte, the lowest first, the last byte without the top bit."""
    content = np.frombuffer(body, np.uint8)
    if not len(content):
        return np.zeros(0, np.int64)
    ends = np.flatnonzero(content < 0x80)
    if not len(ends) or ends[-1] != len(content) - 1:
        raise ValueError("its last count is cut off")
    starts = np.concatenate(([0], ends[:-1] + 1))
    lengths = ends - starts + 1
    if lengths.max() > _MOST_BYTES:
        raise ValueError("one of its counts is too large")
    shifts = 7 * (np.arange(len(content)) - np.repeat(starts, lengths))
    zigzag = np.bitwise_or.reduceat((content & 0x7F).astype(np.int64) << shifts, starts)
    numbers: Counts = (zigzag >> 1) ^ -(zigzag & 1)
    return numbers


def _spread(numbers: Counts, capacity: int) -> Counts:
    """The counts by index: a negative number is a run of zeros."""
    widths = np.where(numbers < 0, -numbers, 1)
    after = np.cumsum(np.minimum(widths, capacity + 1))
    if len(after) and after[-1] > capacity:
        raise ValueError(f"it has more than {capacity} counts")
    used = numbers > 0
    places = (after - widths)[used]
    counts = np.zeros(int(places[-1]) + 1 if len(places) else 0, np.int64)
    counts[places] = numbers[used]
    _check_total(counts)
    return counts


def _runs(counts: Counts) -> Counts:
    """The numbers that stand for the counts; a run of one zero is that zero."""
    places = np.flatnonzero(counts)
    zeros = np.diff(places, prepend=-1) - 1
    pairs = np.stack((np.where(zeros == 1, 0, -zeros), counts[places]), axis=1)
    needed = np.stack((zeros > 0, np.ones(len(places), np.bool_)), axis=1)
    numbers: Counts = pairs[needed]
    return numbers


def _bytes(numbers: Counts) -> bytes:
    zigzag = (numbers << 1) ^ (numbers >> 63)
    groups = zigzag[:, None] >> (7 * np.arange(_MOST_BYTES))
    lengths = np.maximum(1, np.count_nonzero(groups, axis=1))[:, None]
    order = np.arange(_MOST_BYTES)
    marked = (groups & 0x7F) | np.where(order < lengths - 1, 0x80, 0)
    content: bytes = marked[order < lengths].astype(np.uint8).tobytes()
    return content


def _check_total(counts: Counts) -> None:
    if counts.sum(dtype=np.float64) > _MOST_TOTAL:
        raise ValueError("it counts more values than can be added up")


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
        """As the engine reports histograms."""
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
