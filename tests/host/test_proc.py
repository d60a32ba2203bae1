"""What /proc says, as numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from mydyno.host import proc

BEFORE = "cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 100 0 50 800 50 0 0 0 0 0\nctxt 5\n"
AFTER = "cpu  150 0 100 860 90 0 0 0 0 0\ncpu0 150 0 100 860 90 0 0 0 0 0\nctxt 9\n"


def test_shares_of_cpu_time_between_two_readings_make_a_whole() -> None:
    shares = proc.cpu_shares(BEFORE, AFTER)
    assert shares["idle"] == pytest.approx(0.3)
    assert shares["iowait"] == pytest.approx(0.2)
    assert (shares["user"], shares["system"]) == pytest.approx((0.25, 0.25))
    assert sum(shares.values()) == pytest.approx(1)


def test_without_time_between_there_are_no_shares() -> None:
    assert proc.cpu_shares(BEFORE, BEFORE) == {}


def test_waiting_that_goes_back_counts_as_none() -> None:
    back = AFTER.replace("860 90", "860 40")
    assert proc.cpu_shares(BEFORE, back)["iowait"] == 0


def test_disks_are_told_in_bytes_and_seconds_and_idle_ones_are_left_out() -> None:
    found = proc.disks(
        "   8  0 sda 10 0 80 5 20 0 160 9 0 1500 14 0 0 0 0 0 0\n   7 0 loop0 0 0 0 0 0 0 0 0 0 0 0\n"
    )
    assert found == {"sda": proc.DiskCounters(10, 40_960, 20, 81_920, 1.5)}


def test_a_process_is_read_from_its_own_files() -> None:
    own = Path("/proc/self")
    read = proc.process((own / "status").read_text(), (own / "stat").read_text(), (own / "io").read_text())
    assert read.threads >= 1
    assert read.rss_bytes > 1024**2
    assert read.cpu_user_s > 0
    assert proc.cpu_count(Path("/proc/stat").read_text()) >= 1
