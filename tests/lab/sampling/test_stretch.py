"""How far counters went between two samples; nothing is guessed where there were not two."""

from __future__ import annotations

import polars as pl
import pytest

from lab.sampling.builders import cpu, sample
from mydyno.lab.analysis.littles_law import utilisation
from mydyno.lab.sampling.frames import sample_frame
from mydyno.lab.sampling.series import stretch


def frame() -> pl.DataFrame:
    readings = [
        (t, {"Uptime": str(10 + t), "Questions": str(100 * t), "Threads_running": str(t)}) for t in range(6)
    ]
    return sample_frame(
        [
            sample(
                float(t),
                status,
                server_cpu_s=t / 2,
                client_cpu_s=t / 4,
                modes=cpu(idle=t, user=t),
                writes=7 * t,
            )
            for t, status in readings
        ]
    )


def test_counters_grow_from_the_first_to_the_last_sample_within() -> None:
    found = stretch(frame(), 0.5, 4.5)
    assert found is not None
    assert (found.from_s, found.to_s, found.seconds) == (1.0, 4.0, 3.0)
    assert found.growth["status.Questions"] == 300
    assert found.growth["server.cpu_user_s"] == pytest.approx(3 / 2 * 0.75)
    assert found.growth["disk.sda.writes"] == 21
    assert found.growth["host.cpu.user_s"] == 3


def test_a_state_does_not_grow() -> None:
    found = stretch(frame(), 0, 5)
    assert found is not None
    assert not {"status.Threads_running", "server.rss_bytes", "server.threads"} & found.growth.keys()


def test_one_sample_within_reports_nothing() -> None:
    assert stretch(frame(), 0.5, 1.5) is None
    assert stretch(pl.DataFrame(), 0, 5) is None


def test_a_restart_within_leaves_the_machine_and_nothing_of_the_server() -> None:
    readings = [(0.0, "50", "10"), (1.0, "1", "900"), (2.0, "2", "950")]
    samples = [sample(t, {"Uptime": up, "Questions": many}, writes=int(t)) for t, up, many in readings]
    found = stretch(sample_frame(samples), 0, 2)
    assert found is not None
    assert "status.Questions" not in found.growth
    assert "server.cpu_user_s" not in found.growth
    assert found.growth["disk.sda.writes"] == 2


def test_what_was_not_read_at_both_ends_is_left_out() -> None:
    samples = [sample(0.0, {"Questions": "1"}, server_cpu_s=None), sample(1.0, {"Questions": "5"})]
    found = stretch(sample_frame(samples), 0, 1)
    assert found is not None
    assert found.growth["status.Questions"] == 4
    assert "server.cpu_user_s" not in found.growth


def test_cpu_of_a_server_elsewhere_is_unknown_and_not_zero() -> None:
    samples = [sample(0.0, server_cpu_s=None), sample(1.0, server_cpu_s=None)]
    found = stretch(sample_frame(samples), 0, 1)
    assert found is not None
    seen = utilisation(found.growth, found.seconds)
    assert seen is not None
    assert (seen.server_cpus, seen.client_cpus) == (None, 0.0)
    assert seen.steal is None, "no CPU time passed: a share of nothing"
