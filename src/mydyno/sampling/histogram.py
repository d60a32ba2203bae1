"""HdrHistograms as the engine sends them: read, merge, and ask for quantiles.

Format: HdrHistogram V2 with DEFLATE (HdrHistogram, AbstractHistogram.encodeIntoCompressedByteBuffer;
described in the wiki of HdrHistogram.NET, "Encoded Histogram format"). A bucket is at most
10^-significant_digits of its value wide, so that is the relative error of a quantile.
"""

from __future__ import annotations

import base64
import binascii
import math
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

_COMPRESSED_COOKIE = 0x1C849314
_COOKIE = 0x1C849313
_HEADER = struct.Struct(">iiiiqqd")


@dataclass(frozen=True)
class Histogram:
    """`counts[i]` values fell into bucket i; the buckets follow from the other two fields."""

    lowest: int
    """Values below this are not told apart."""
    significant_digits: int
    counts: NDArray[np.int64]

    @classmethod
    def decode(cls, text: str) -> Self:
        """From base64. Raises ValueError when it is no HdrHistogram V2."""
        try:
            packed = base64.b64decode(text, validate=True)
            cookie, length = struct.unpack_from(">ii", packed)
            if cookie != _COMPRESSED_COOKIE:
                raise ValueError(f"not a compressed HdrHistogram V2 (cookie {cookie:#x})")
            raw = zlib.decompress(packed[8 : 8 + length])
            cookie, length, _, digits, lowest, _, _ = _HEADER.unpack_from(raw)
        except (binascii.Error, struct.error, zlib.error) as error:
            raise ValueError(f"not an HdrHistogram: {error}") from error
        if cookie != _COOKIE or not 1 <= digits <= 5 or lowest < 1:
            raise ValueError(f"not an HdrHistogram V2 (cookie {cookie:#x})")
        return cls(lowest, digits, _counts(raw[_HEADER.size : _HEADER.size + length]))

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    def quantile(self, share: float) -> int | None:
        """The value that `share` (0 to 1) of the recorded ones do not exceed: the upper end of its bucket,
        as the engine reports it. None when nothing was recorded."""
        if self.total == 0:
            return None
        wanted = max(1, math.ceil(share * self.total - 1e-9))
        return self._upper_end(int(np.searchsorted(np.cumsum(self.counts), wanted)))

    def _upper_end(self, index: int) -> int:
        # Buckets come in groups that double their width; each group but the first has half_count of them.
        half_bits = math.ceil(math.log2(2 * 10**self.significant_digits)) - 1
        group = (index >> half_bits) - 1
        place = index & ((1 << half_bits) - 1)
        if group < 0:
            group = 0
        else:
            place += 1 << half_bits
        shift = group + self.lowest.bit_length() - 1
        return ((place + 1) << shift) - 1


def merge(histograms: Iterable[Histogram]) -> Histogram:
    """All values of several histograms in one. Raises ValueError when there is none or their buckets
    differ."""
    first, *others = histograms
    size = max(one.counts.size for one in (first, *others))
    counts = np.zeros(size, dtype=np.int64)
    for one in (first, *others):
        if (one.lowest, one.significant_digits) != (first.lowest, first.significant_digits):
            raise ValueError("histograms with different buckets cannot be merged")
        counts[: one.counts.size] += one.counts
    return Histogram(first.lowest, first.significant_digits, counts)


def _counts(payload: bytes) -> NDArray[np.int64]:
    """Zigzag LEB128 numbers, at most 9 bytes each; -n stands for n empty buckets."""
    counts: list[int] = []
    position = 0
    while position < len(payload):
        value = shift = 0
        for byte in range(9):
            if position >= len(payload):
                raise ValueError("not an HdrHistogram: its counts end in the middle of a number")
            bits = payload[position]
            position += 1
            if byte == 8:
                value |= bits << shift
                break
            value |= (bits & 0x7F) << shift
            shift += 7
            if not bits & 0x80:
                break
        signed = (value >> 1) ^ -(value & 1)
        if signed < 0:
            counts.extend([0] * -signed)
        else:
            counts.append(signed)
    return np.array(counts, dtype=np.int64)
