"""How busy CPUs and disks were, as shares of what there was."""

from __future__ import annotations

import pytest

from mydyno.lab.analysis.littles_law import utilisation


def test_cpu_modes_are_shares_of_all_cpu_time() -> None:
    modes = {
        "user": 3.0,
        "nice": 1.0,
        "system": 2.0,
        "idle": 8.0,
        "iowait": 4.0,
        "softirq": 1.0,
        "steal": 1.0,
    }
    found = utilisation({f"host.cpu.{mode}_s": value for mode, value in modes.items()}, 10.0)
    assert found is not None
    assert (found.user, found.system, found.iowait, found.steal) == (0.2, 0.15, 0.2, 0.05)
    assert found.busy == pytest.approx(0.35)


def test_a_disk_is_busy_for_a_share_of_the_time_and_idle_ones_are_left_out() -> None:
    found = utilisation({"disk.sda.busy_s": 2.5, "disk.loop0.busy_s": 0.0, "disk.sda.reads": 9}, 10.0)
    assert found is not None
    assert found.disks == {"sda": 0.25}


def test_processes_are_reported_in_cpus() -> None:
    found = utilisation({"server.cpu_user_s": 12.0, "server.cpu_system_s": 3.0}, 10.0)
    assert found is not None
    assert found.server_cpus == 1.5
    assert found.client_cpus is None


def test_a_machine_that_was_not_seen_is_unknown_and_not_idle() -> None:
    found = utilisation({"client.cpu_user_s": 1.0, "client.cpu_system_s": 0.0}, 10.0)
    assert found is not None
    assert (found.user, found.busy, found.iowait, found.disks) == (None, None, None, {})
    assert utilisation({}, 0.0) is None
