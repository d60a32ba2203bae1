"""Totals from raw samples; a restart in between is never turned into a number."""

from __future__ import annotations

from lab.sampling.builders import sample
from mydyno.lab.sampling.frames import sample_frame
from mydyno.lab.sampling.series import restarts, totals


def queries(*readings: tuple[float, int, int]) -> list[tuple[float, dict[str, str]]]:
    """(t_s, Uptime, Queries) -> what `sample` wants."""
    return [(t, {"Uptime": str(uptime), "Queries": str(value)}) for t, uptime, value in readings]


def test_a_restart_is_seen_where_the_uptime_goes_back() -> None:
    readings = queries((0, 50, 1000), (1, 51, 1100), (2, 0, 1150), (3, 1, 1160))
    frame = sample_frame([sample(*one) for one in readings])
    assert restarts(frame) == (2.0,)


def test_a_counter_that_was_set_back_alone_has_no_total_and_is_no_restart() -> None:
    readings = [(0.0, {"Uptime": "1", "Bytes_sent": "900"}), (1.0, {"Uptime": "2", "Bytes_sent": "10"})]
    frame = sample_frame([sample(*one) for one in readings])
    assert "Bytes_sent" not in totals(frame)
    assert restarts(frame) == ()


def test_a_restart_shows_in_the_connection_counter_even_when_the_uptime_caught_up() -> None:
    frame = sample_frame(
        [sample(0, {"Uptime": "2", "Connections": "90"}), sample(9, {"Uptime": "5", "Connections": "3"})]
    )
    assert restarts(frame) == (9.0,)


def test_a_restart_behind_samples_without_an_answer_is_still_seen() -> None:
    before, after = ({"Uptime": "50", "Queries": "1000"}, {"Uptime": "1", "Queries": "4"})
    frame = sample_frame([sample(0, before), sample(1), sample(2, after)])
    assert restarts(frame) == (2.0,)
    assert totals(frame) == {}


def test_totals_are_growth_for_counters_and_the_last_value_for_the_rest() -> None:
    first = {"Threads_created": "3", "Max_used_connections": "5", "Threads_running": "1", "Cpu_time": "0.5"}
    last = {"Threads_created": "14", "Max_used_connections": "31", "Threads_running": "7", "Cpu_time": "2.0"}
    assert totals(sample_frame([sample(0, first), sample(1, last)])) == {
        "Threads_created": 11,
        "Max_used_connections": 31,
        "Threads_running": 7,
        "Cpu_time": 1.5,
    }


def test_totals_leave_counters_out_when_the_server_restarted() -> None:
    frame = sample_frame([sample(*one) for one in queries((0, 50, 1000), (1, 0, 2000))])
    assert totals(frame) == {}


def test_totals_of_one_sample_are_its_states() -> None:
    frame = sample_frame([sample(0, {"Queries": "5", "Threads_running": "2"})])
    assert totals(frame) == {"Threads_running": 2}
