"""What others do on a server that is not mydyno's."""

from __future__ import annotations

import polars as pl
import pytest

from mydyno.lab.load import messages
from mydyno.lab.trial.external import changed_meanwhile, other_traffic, without_host
from mydyno.machine.proc import ProcessCounters

IDLE = messages.HostCounters(cpu={}, context_switches=0, disks={})
CLIENT = ProcessCounters(
    cpu_user_s=0.0,
    cpu_system_s=0.0,
    rss_bytes=0,
    threads=1,
    voluntary_switches=None,
    involuntary_switches=None,
    read_bytes=None,
    write_bytes=None,
)


def sample(second: int) -> messages.Sample:
    return messages.Sample(
        type="sample", t_ns=second * 10**9, status={}, server=None, client=CLIENT, host=IDLE
    )


def interval(queries: int, errors: int = 0) -> messages.Interval:
    return messages.Interval(
        type="interval", t_ns=0, phase=0, from_ns=0, to_ns=10**9, queries=queries, transactions=0,
        errors=errors, connections=2, p50_ns=None, p95_ns=None, p99_ns=None, max_ns=None, warmup=False,
    )  # fmt: skip


@pytest.mark.parametrize("questions", [1012.0, 1040.0, None])
def test_our_own_statements_and_a_little_monitoring_are_no_remark(questions: float | None) -> None:
    samples = [sample(second) for second in range(11)]
    assert list(other_traffic(questions, [interval(600), interval(399, 1)], samples)) == []


def test_more_than_that_is_a_remark_with_the_number() -> None:
    (remark,) = other_traffic(3011.0, [interval(1000)], [sample(second) for second in range(11)])
    assert remark.check == "other-traffic"
    assert "about 2,000 statements in 10 s, the load 1,011" in remark.message


def test_nothing_is_said_of_a_load_that_does_not_report_its_statements() -> None:
    assert list(other_traffic(5000.0, [], [sample(0), sample(1)])) == []


def test_only_asked_settings_that_changed_are_reported() -> None:
    before = {"sort_buffer_size": "1", "other": "1", "kept": "1"}
    after = {"sort_buffer_size": "2", "other": "2", "kept": "1"}
    (line,) = changed_meanwhile({"sort_buffer_size": 1, "kept": 1}, before, after)
    assert line.startswith("sort_buffer_size: 1 at the start of the load and 2 at its end")


def test_the_counters_of_this_machine_are_not_taken_for_the_server_s() -> None:
    frame = pl.DataFrame(
        {"t_s": [0.0], "status.Uptime": [1], "host.cpu.idle_s": [1.0], "disk.sda.reads": [1]}
    )
    assert without_host(frame).columns == ["t_s", "status.Uptime"]
