"""What /proc says, as numbers."""

from __future__ import annotations

from pathlib import Path

from mydyno.machine import proc


def test_cpu_time_is_reported_in_seconds_by_mode() -> None:
    found = proc.cpu_seconds("cpu  100 0 50 800 50 0 0 7 0 0\ncpu0 100 0 50 800 50 0 0 7 0 0\nctxt 5\n")
    assert (found["user"], found["idle"], found["iowait"], found["steal"]) == (1, 8, 0.5, 0.07)


def test_disks_are_reported_in_bytes_and_seconds_and_idle_ones_are_left_out() -> None:
    found = proc.disks(
        "   8  0 sda 10 0 80 5 20 0 160 9 0 1500 14 0 0 0 0 0 0\n   7 0 loop0 0 0 0 0 0 0 0 0 0 0 0\n"
    )
    assert {name: tuple(vars(disk).values()) for name, disk in found.items()} == {
        "sda": (10, 40_960, 20, 81_920, 1.5)
    }


def test_a_process_is_read_from_its_own_files() -> None:
    own = Path("/proc/self")
    read = proc.process((own / "status").read_text(), (own / "stat").read_text(), (own / "io").read_text())
    assert read.threads >= 1
    assert read.rss_bytes > 1024**2
    assert read.cpu_user_s > 0
    assert proc.cpu_count(Path("/proc/stat").read_text()) >= 1
