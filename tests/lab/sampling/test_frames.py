"""Raw messages become tables without losing or inventing anything."""

from __future__ import annotations

import polars as pl

from lab.results.builders import phase
from lab.sampling.builders import interval, sample
from mydyno.lab.sampling.frames import interval_frame, sample_frame


def test_a_sample_becomes_a_row_with_a_column_for_each_reading() -> None:
    frame = sample_frame([sample(1.5, {"Queries": "7", "Threads_running": "2"}, writes=3)])
    row = frame.row(0, named=True)
    assert (row["t_s"], row["status.Queries"], row["status.Threads_running"]) == (1.5, 7, 2)
    assert (row["server.threads"], row["client.rss_bytes"], row["disk.sda.writes"]) == (3, 1 << 20, 3)
    assert row["host.context_switches"] == 1000
    assert frame.schema["status.Queries"] == pl.Int64
    assert frame.schema["server.cpu_user_s"] == pl.Float64


def test_samples_are_sorted_by_time_whatever_order_they_came_in() -> None:
    frame = sample_frame([sample(t, {"Queries": str(int(t))}) for t in (2, 0, 1)])
    assert frame["t_s"].to_list() == [0.0, 1.0, 2.0]
    assert frame["status.Queries"].to_list() == [0, 1, 2]


def test_text_has_no_column_and_a_missing_reading_is_null() -> None:
    frame = sample_frame(
        [sample(0, {"Rpl_status": "AUTH_MASTER", "Queries": "1"}), sample(1, {}, server_cpu_s=None)]
    )
    assert "status.Rpl_status" not in frame.columns
    assert "client.read_bytes" not in frame.columns, "never readable: no column"
    assert frame["status.Queries"].to_list() == [1, None]
    assert frame["server.cpu_user_s"].to_list() == [0.0, None]


def test_a_server_that_did_not_answer_leaves_nulls() -> None:
    silent = sample(1).model_copy(update={"status": None})
    frame = sample_frame([sample(0, {"Queries": "1"}), silent, sample(2, {"Queries": "3"})])
    assert frame["status.Queries"].to_list() == [1, None, 3]


def test_a_value_beyond_63_bits_turns_its_column_into_floats() -> None:
    frame = sample_frame([sample(0, {"X": "1"}), sample(1, {"X": str(2**64 - 1)})])
    assert frame["status.X"].to_list() == [1.0, float(2**64 - 1)]


def test_each_sample_knows_the_phase_that_was_under_way() -> None:
    phases = [phase(0), phase(1)]
    assert (phases[0].ended_s, phases[1].started_s) == (2.6, 3.0)
    frame = sample_frame([sample(t) for t in (0, 1, 2.8, 3, 9)], phases)
    assert frame["phase"].to_list() == [0, 0, None, 1, None]


def test_no_samples_make_an_empty_frame_that_still_has_its_time() -> None:
    assert sample_frame([]).schema == {"t_s": pl.Float64, "phase": pl.Int32}
    assert sample_frame([]).height == 0


def test_an_interval_has_its_rates_and_keeps_null_for_no_query() -> None:
    frame = interval_frame([interval(1, 1.5, 0, p95_ns=None), interval(0, 1, 200)])
    assert frame["from_s"].to_list() == [0.0, 1.0]
    assert frame["queries_per_second"].to_list() == [200.0, 0.0]
    assert frame["transactions_per_second"].to_list() == [100.0, 0.0]
    assert frame["p95_ns"].to_list() == [95_000, None]


def test_an_interval_without_length_has_no_rate() -> None:
    assert interval_frame([interval(1, 1, 5)])["queries_per_second"].to_list() == [None]


def test_no_intervals_make_an_empty_frame_with_all_columns() -> None:
    assert interval_frame([]).schema == interval_frame([interval(0, 1, 5)]).schema
