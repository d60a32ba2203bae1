"""What came with the stalls is told, and nothing where the samples cannot know."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from mydyno.lab.sampling.stall_causes import stall_causes

STALLS = [(10.0, 12.0), (20.0, 22.0), (30.0, 32.0), (40.0, 42.0)]
WITHIN = (0.0, 50.0)


def stalled(t_s: int) -> bool:
    return any(start < t_s <= end for start, end in STALLS)


def samples(**columns: Callable[[int], float | None]) -> pl.DataFrame:
    """A sample a second; each column is what one second adds to a counter."""
    times = range(51)
    frame: dict[str, list[float | None]] = {"t_s": [float(t) for t in times]}
    for name, grows in columns.items():
        total, values = 0.0, []
        for t in times:
            total += grows(t) or 0.0
            values.append(None if grows(t) is None else total)
        frame[f"status.{name}"] = values
    return pl.DataFrame(frame)


@pytest.mark.parametrize(
    ("counter", "words"),
    [
        ("Innodb_buffer_pool_pages_flushed", "bursts of page flushing"),
        ("Innodb_data_fsyncs", "bursts of fsync"),
        ("Innodb_log_waits", "waits for space in the log buffer"),
        ("Innodb_buffer_pool_wait_free", "waits for free pages in the buffer pool"),
    ],
)
def test_a_counter_that_grows_with_the_stalls_is_reported(counter: str, words: str) -> None:
    frame = samples(**{counter: lambda t: 900.0 if stalled(t) else 100.0, "Com_select": lambda t: 5.0})
    assert stall_causes(frame, STALLS, WITHIN) == (words,)


def test_a_counter_that_grows_all_the_time_is_no_cause() -> None:
    assert stall_causes(samples(Innodb_data_fsyncs=lambda t: 100.0), STALLS, WITHIN) == ()


def test_dirty_pages_that_vanish_were_flushed() -> None:
    frame = samples(Innodb_buffer_pool_pages_dirty=lambda t: -400.0 if stalled(t) else 100.0)
    assert stall_causes(frame, STALLS, WITHIN) == ("bursts of page flushing",)


def test_a_checkpoint_age_at_its_limit_comes_first() -> None:
    frame = samples(Innodb_buffer_pool_pages_flushed=lambda t: 900.0 if stalled(t) else 100.0).with_columns(
        pl.when(pl.col("t_s").map_elements(lambda t: stalled(int(t)) or stalled(int(t) + 1), pl.Boolean))
        .then(8100)
        .otherwise(2000)
        .alias("status.Innodb_checkpoint_age"),
        pl.lit(10_000).alias("status.Innodb_checkpoint_max_age"),
    )
    assert stall_causes(frame, STALLS, WITHIN) == (
        "the checkpoint age at 81% of its limit",
        "bursts of page flushing",
    )


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame(),
        pl.DataFrame({"t_s": []}, schema={"t_s": pl.Float64}),
        samples(Innodb_data_fsyncs=lambda t: None),
        samples(Innodb_data_fsyncs=lambda t: 900.0 if stalled(t) else 1.0).gather_every(25),
    ],
    ids=["nothing", "no rows", "unread", "too far apart"],
)
def test_samples_that_do_not_know_say_nothing(frame: pl.DataFrame) -> None:
    assert stall_causes(frame, STALLS, WITHIN) == ()
