"""fio's recorded reports and logs as numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mydyno.core.errors import EngineError
from mydyno.lab.load.fio.report import Latencies, Report, histogram, parse, together, windows

DATA = Path(__file__).parent / "data"
VERSIONS = sorted({file.name.rsplit("-random-writes")[0] for file in DATA.glob("*-random-writes.json")})


@pytest.fixture(params=VERSIONS)
def fio(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def text(fio: str, name: str, suffix: str = "json") -> str:
    file = DATA / f"{fio}-{name}.{suffix}"
    return file.read_text() if file.exists() else ""


def report(fio: str, name: str) -> Report:
    return parse(text(fio, name))


def test_a_rate_of_50_by_each_of_four_jobs_is_100_writes_in_half_a_second(fio: str) -> None:
    found = report(fio, "random-writes")
    assert found.version == fio
    assert found.kinds.keys() == {"write"}
    assert found.ios / found.seconds == pytest.approx(200, rel=0.05)
    log = text(fio, "random-writes", "log")
    assert [w.ios for w in windows(log, 0.5, found.ios, found.seconds)] == pytest.approx([100] * 4, abs=10)


def test_percentiles_are_those_that_fio_prints_of_the_same_bins(fio: str) -> None:
    document = json.loads(text(fio, "random-writes"))["jobs"][0]["write"]["lat_ns"]
    kind = report(fio, "random-writes").kinds["write"]
    ours = histogram(kind.latencies)
    printed = document["percentile"]
    assert ours.count == document["N"] == kind.count
    assert (ours.p50_ns, ours.p90_ns) == (printed["50.000000"], printed["90.000000"])
    assert (ours.p95_ns, ours.p99_ns) == (printed["95.000000"], printed["99.000000"])
    assert ours.p999_ns == min(printed["99.900000"], document["max"])


def test_fsyncs_queued_by_libaio_are_fsyncs_and_no_short_reads(fio: str) -> None:
    raw = json.loads(text(fio, "mixed-with-fdatasync"))["jobs"][0]
    found = report(fio, "mixed-with-fdatasync")
    assert found.kinds["fsync"].count == raw["sync"]["lat_ns"]["N"] > 0
    assert [kind.short for kind in found.kinds.values()] == [0, 0, 0]
    assert found.ios == raw["read"]["total_ios"] + raw["write"]["total_ios"]


def test_jobs_that_run_together_are_one_report(fio: str) -> None:
    found = report(fio, "two-jobs")
    assert found.kinds.keys() == {"read", "write", "fsync"}
    assert found.kinds["read"].count == pytest.approx(2 * found.kinds["write"].count, rel=0.05)
    counts = [w.ios for w in windows(text(fio, "two-jobs", "log"), 0.5, found.ios, found.seconds)]
    assert sum(counts) == found.ios
    assert counts == pytest.approx([75] * 4, abs=5)


def test_an_interrupted_fio_reports_what_it_has_done_after_a_note(fio: str) -> None:
    assert "terminating on signal" in text(fio, "interrupted").partition("{")[0]
    found = report(fio, "interrupted")
    assert found.ios == pytest.approx(100 * found.seconds, rel=0.05)


def test_a_full_disk_is_an_error_with_its_number(fio: str) -> None:
    assert report(fio, "no-space").error == 28


def test_steadiness_is_what_fio_says_of_it(fio: str) -> None:
    assert report(fio, "steady").steady is True
    assert report(fio, "never-steady").steady is False
    assert report(fio, "random-writes").steady is None


def test_a_run_whose_size_ran_out_reports_its_own_length(fio: str) -> None:
    found = report(fio, "size-ran-out")
    assert found.ios == 2 * 1024
    assert 0 < found.seconds < 30
    assert sum(w.ios for w in windows("", 0.5, found.ios, found.seconds)) == found.ios


def test_what_is_no_report_is_refused_and_not_guessed_at(fio: str) -> None:
    with pytest.raises(EngineError, match="cannot be read"):
        parse(text(fio, "wrong-option"))
    with pytest.raises(EngineError, match="cannot be read"):
        parse(text(fio, "random-writes")[:2000])


def test_two_distributions_together_have_the_percentiles_of_all_their_values() -> None:
    fast = Latencies(bins={100: 99}, min_ns=95, max_ns=104, mean_ns=100.0, count=99)
    slow = Latencies(bins={10_000: 1}, min_ns=10_010, max_ns=10_010, mean_ns=10_010.0, count=1)
    whole = histogram(together([fast, slow]))
    assert (whole.count, whole.min_ns, whole.max_ns) == (100, 95, 10_010)
    assert whole.mean_ns == pytest.approx(199.1)
    assert (whole.p50_ns, whole.p99_ns, whole.p999_ns) == (100, 100, 10_000)


def test_no_io_has_no_latency() -> None:
    nothing = histogram(None)
    assert (nothing.count, nothing.p50_ns, nothing.mean_ns) == (0, None, None)


def counts(log: str, ios: int, seconds: float) -> list[tuple[float, float, int]]:
    return [(w.from_s, w.to_s, w.ios) for w in windows(log, 1.0, ios, seconds)]


def test_jobs_that_follow_one_another_in_the_log_are_added_up() -> None:
    log = "1000, 10, 0, 0, 0\n1000, 5, 1, 0, 0\n2000, 20, 0, 0, 0\n1000, 7, 0, 0, 0\n2000, 1, 1, 0, 0\n"
    assert counts(log, 43, 2.0) == [(0, 1, 22), (1, 2, 21)]


def test_a_window_in_which_nothing_was_done_has_no_ios() -> None:
    assert counts("1000, 10, 0, 0, 0\n3000, 30, 0, 0, 0\n", 40, 3.0) == [(0, 1, 10), (1, 2, 0), (2, 3, 30)]


def test_a_reading_that_came_late_counts_for_the_time_since_the_one_before() -> None:
    assert counts("1200, 10, 0, 0, 0\n2000, 10, 0, 0, 0\n", 20, 2.0) == [(0, 1, 10), (1, 2, 10)]


def test_what_is_in_no_line_was_done_last() -> None:
    assert counts("1000, 10, 0, 0, 0\n", 25, 2.3) == [(0, 1, 10), (1, 2.3, 15)]
