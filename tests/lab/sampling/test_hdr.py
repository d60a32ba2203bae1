"""HdrHistogram's encoding: what is written is read again, and what does harm is refused in little memory."""

from __future__ import annotations

import random
import struct
import tracemalloc
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from mydyno.lab.sampling.histograms import HdrCounts

RUNS = some.lists(
    some.tuples(some.integers(0, 3000), some.one_of(some.integers(1, 300), some.integers(1, 1 << 48))),
    max_size=40,
)
MIB = 1 << 20


def of(*runs: tuple[int, int], digits: int = 3, lowest: int = 1, highest: int = 1 << 60) -> HdrCounts:
    """Zeros and the count behind them, so often."""
    values = [value for zeros, count in runs for value in [*[0] * zeros, count]]
    made = HdrCounts(digits, lowest, highest, np.array(values, np.int64))
    return HdrCounts(digits, lowest, highest, made.counts[: made.capacity])


def encoded(
    body: bytes,
    *,
    length: int | None = None,
    cookie: int = 0x1C849313,
    offset: int = 0,
    digits: int = 3,
    lowest: int = 1,
    highest: int = 3_600_000_000_000,
) -> bytes:
    length = len(body) if length is None else length
    header = struct.pack(">IIIIQQd", cookie, length, offset, digits, lowest, highest, 1.0)
    return wrapped(zlib.compress(header + body, 9))


def wrapped(stream: bytes) -> bytes:
    return struct.pack(">II", 0x1C849314, len(stream)) + stream


@given(RUNS, some.integers(0, 4), some.integers(1, 1 << 20))
def test_what_is_written_is_read_again(runs: list[tuple[int, int]], digits: int, lowest: int) -> None:
    made = of(*runs, digits=digits, lowest=lowest)
    read = HdrCounts.decode(made.encode())
    used = np.flatnonzero(made.counts)
    assert read.counts.tolist() == made.counts[: used[-1] + 1 if len(used) else 0].tolist()
    assert (read.digits, read.lowest, read.highest) == (made.digits, made.lowest, made.highest)
    assert read.encode() == made.encode()


@given(RUNS, RUNS)
def test_a_sum_has_the_counts_of_both(left: list[tuple[int, int]], right: list[tuple[int, int]]) -> None:
    one, other = of(*left), of(*right)
    both = one + other
    assert both.counts.sum() == one.counts.sum() + other.counts.sum()
    assert both.encode() == (other + one).encode()
    assert (both.counts[: len(one.counts)] >= one.counts).all()


def test_histograms_to_different_limits_are_added_and_those_of_different_precision_are_not() -> None:
    assert (of((5, 7), highest=1000) + of((2000, 9))).counts.sum() == 16
    for other in (of((5, 7), digits=2), of((5, 7), lowest=2)):
        with pytest.raises(ValueError, match="different precision"):
            of((5, 7)) + other


def test_an_hour_of_nanoseconds_to_three_digits_has_the_counts_of_the_engine() -> None:
    assert of(highest=3_600_000_000_000).capacity == 33_792


LARGE = b"\xff" * 7 + b"\x7f"
REFUSED = {
    "a body that expands": (
        lambda: wrapped(zlib.compress(bytes(200 * MIB), 9)),
        "an encoding that is not read",
    ),
    "counts that expand": (lambda: encoded(bytes(200 * MIB)), "bytes are too many"),
    "more counts than named": (lambda: encoded(bytes(200 * MIB), length=100), "do not have the 100 bytes"),
    "fewer counts than named": (lambda: encoded(b"\x02", length=100), "do not have the 100 bytes"),
    "a stream behind the stream": (lambda: wrapped(zlib.compress(b"") * 1000), "header is cut off"),
    "most precise, widest": (
        lambda: encoded(b"", digits=5, highest=(1 << 63) - 1),
        "counts, at most 1048576",
    ),
    "a coarse unit": (lambda: encoded(b"", lowest=1 << 58, highest=1 << 62), "more than 63 bits"),
    "too many digits": (lambda: encoded(b"", digits=2**32 - 1), "with 4294967295 digits"),
    "nothing told apart": (lambda: encoded(b"", lowest=0), "from 0 to"),
    "the other way round": (lambda: encoded(b"", lowest=10, highest=9), "from 10 to 9"),
    "beyond 63 bits": (lambda: encoded(b"", highest=1 << 63), "to 9223372036854775808"),
    "shifted": (lambda: encoded(b"", offset=1), "an encoding that is not read"),
    "counts of fixed width": (lambda: encoded(b"", cookie=0x1C849383), "an encoding that is not read"),
    "a run of too many zeros": (lambda: encoded(LARGE + b"\x02"), "more than 33792 counts"),
    "many such runs": (lambda: encoded(LARGE * 30_000), "more than 33792 counts"),
    "one count too many": (lambda: encoded(b"\x02" * 33_793), "more than 33792 counts"),
    "a count of nine bytes": (lambda: encoded(b"\xff" * 8 + b"\x01"), "one of its counts is too large"),
    "a long count": (lambda: encoded(b"\x80" * 10_000 + b"\x01"), "one of its counts is too large"),
    "a count cut off": (lambda: encoded(b"\x02\x80"), "last count is cut off"),
    "counts that overflow": (
        lambda: encoded((b"\xfe" + LARGE[1:]) * 1000),
        "more values than can be added up",
    ),
    "no zlib": (lambda: wrapped(b"nothing of the kind"), "incorrect header check"),
    "an older version": (lambda: struct.pack(">II", 0x1C849302, 0), "begins with 0x1c849302"),
    "bytes behind the end": (lambda: encoded(b"") + b"x", "bytes follow where"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_hostile_histogram_is_refused_in_little_memory(name: str) -> None:
    make, words = REFUSED[name]
    content = make()
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=words):
            HdrCounts.decode(content)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 16 * MIB


def test_any_changed_byte_gives_a_histogram_or_one_error() -> None:
    good = of((3, 1), (40, 500), (1, 1 << 30), (0, 2)).encode()
    inner = zlib.decompress(good[8:])
    chance = random.Random(1)
    read = 0
    for number in range(3000):
        changed = bytearray(inner if number % 2 else good)
        for _ in range(chance.randint(1, 3)):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        try:
            found = HdrCounts.decode(wrapped(zlib.compress(bytes(changed))) if number % 2 else bytes(changed))
        except ValueError:
            continue
        read += 1
        assert (found.counts >= 0).all()
        assert HdrCounts.decode(found.encode()).counts.tolist() == found.counts.tolist()
    assert read > 0
