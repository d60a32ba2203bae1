"""The file that keeps what trials took: it is never in the way."""

from __future__ import annotations

from pathlib import Path

from mydyno.lab.plan import TrialTime
from mydyno.lab.trial import lab_times
from mydyno.lab.trial.lab_times import add_time, read_times


def time(seconds: float) -> TrialTime:
    return TrialTime(point="p", ground="uml", program="fio", clocked=1, assumed=2, seconds=seconds)


def test_times_come_back_oldest_first_and_damaged_lines_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "times.jsonl"
    assert read_times(path) == ()
    add_time(path, time(1))
    with path.open("a") as file:
        file.write('{"point": "cut\nnull\n')
    add_time(path, time(2))
    assert read_times(path) == (time(1), time(2))


def test_the_file_is_cut_to_the_last_trials(tmp_path: Path) -> None:
    path = tmp_path / "times.jsonl"
    line = time(0).model_dump_json() + "\n"
    path.write_text(line * (lab_times._LONGEST_BYTES // len(line) + 1))
    add_time(path, time(7))
    assert len(path.read_bytes().splitlines()) == lab_times.KEPT
    assert read_times(path)[-1] == time(7)


def test_a_cache_that_cannot_be_written_disturbs_nobody(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    add_time(tmp_path / "file" / "times.jsonl", time(1))
    assert read_times(tmp_path / "file" / "times.jsonl") == ()
