"""What is found out about the server binary before anything is started: the real one is asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from live.releases import release
from mydyno.core.facts import HostFacts
from mydyno.lab import spec
from mydyno.lab.plan import make
from mydyno.lab.spec import SpecErrors
from mydyno.lab.stack import ServerBinary, find_binary, inspect_binary
from mydyno.lab.trial import preflight
from mydyno.lab.trial.preflight import Prepared
from mydyno.machine.local import LocalHost
from mydyno.server.program.values import refused_values
from mydyno.server.releases import binary_of

pytestmark = pytest.mark.live

EXPERIMENT = """
experiment: example
setup: {server: {config: {max_connections: 100, CONFIG}}}
factors: {server.config.thread_cache_size: [1, 2]}
workload: {smack: {scenario: select-key}, connections: [1], each: {rounds: 1}}
"""


def checked(config: str = "thread_cache_size: 8") -> Prepared:
    experiment = spec.loads(EXPERIMENT.replace("CONFIG", config), "example.yaml")
    return preflight.check(experiment, make(experiment, HostFacts(8 * 2**30, 2, 2**40)), LocalHost())


def upgraded(binary: ServerBinary, folder: Path) -> Path:
    """A server like `binary` that calls itself the next release."""
    path = folder / binary.path.name
    path.write_text(
        "#!/bin/sh\n"
        f'case "$*" in *--version*) echo "{path} Ver 99.1.0-MariaDB for Linux on x86_64";;'
        f' *) exec {binary.path} "$@";; esac\n'
    )
    path.chmod(0o755)
    return path


def test_every_unknown_setting_is_reported_at_its_place() -> None:
    with pytest.raises(SpecErrors) as caught:
        checked("thread_cash_size: 8, innodb_bufer_pool_size: 64M")
    first, second = caught.value.problems
    assert first.line == second.line == 3
    assert (first.nearest or "").startswith("'thread_cache_size'")
    assert (second.nearest or "").startswith("'innodb_buffer_pool_size'")


def test_every_value_that_the_server_refuses_or_changes_is_reported_at_its_place() -> None:
    text = EXPERIMENT.replace("factors: {", "factors: {server.config.sync_binlog: [1, -4], ")
    config = (
        "innodb-flush-log-at-trx-commit: 5, transaction_isolation: sometimes, thread_stack: 300000,\n"
        "  innodb_flush_method: O_SLOW, performance_schema: maybe, character_set_server: latin9"
    )
    experiment = spec.loads(text.replace("CONFIG", config), "example.yaml")
    with pytest.raises(SpecErrors) as caught:
        preflight.check(experiment, make(experiment, HostFacts(8 * 2**30, 2, 2**40)), LocalHost())
    result = {problem.message.split(":")[0]: problem for problem in caught.value.problems}
    assert {name: problem.line for name, problem in result.items()} == {
        "innodb_flush_log_at_trx_commit": 3,
        "transaction_isolation": 3,
        "thread_stack": 3,
        "innodb_flush_method": 4,
        "performance_schema": 4,
        "character_set_server": 4,
        "sync_binlog": 5,
    }
    assert "rounds it down to 299008" in result["thread_stack"].message
    assert "does not take the value" in result["transaction_isolation"].message
    assert "does not take the value" in result["innodb_flush_method"].message
    assert result["sync_binlog"].value == "-4"


def test_values_that_the_server_takes_are_taken() -> None:
    checked(
        "innodb_buffer_pool_size: 128M, log_bin: true, sync_binlog: 0, long_query_time: 0.5, sql_mode: '',\n"
        "  innodb_flush_method: fsync, optimizer_switch: 'mrr=on', innodb_max_dirty_pages_pct: 75"
    )


def test_a_server_is_asked_about_a_value_once(monkeypatch: pytest.MonkeyPatch) -> None:
    host = LocalHost()
    runs: list[Sequence[str]] = []
    run = host.run
    monkeypatch.setattr(host, "run", lambda argv, **more: (runs.append(argv), run(argv, **more))[1])
    binary = inspect_binary(host, find_binary())
    asked = [("max_allowed_packet", "64M"), ("net_buffer_length", 16384), ("max_allowed_packet", 5)]
    runs.clear()
    refused = refused_values(host, binary, asked)
    assert list(refused) == ["--max_allowed_packet=5"]
    assert len(runs) == 2, "as many as the values of the setting that has most"
    assert refused_values(host, binary, asked) == refused
    assert len(runs) == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mysql-5.6", "mysql-9.7", "mariadb-10.5", "mariadb-11.8"])
def test_every_release_names_the_values_that_it_refuses(name: str) -> None:
    release(name)
    asked: list[tuple[str, str | int]] = [
        ("innodb_flush_log_at_trx_commit", 5),
        ("innodb_io_capacity", 50),
        ("innodb_io_capacity_max", 4000),
        ("table_open_cache", 2000),
    ]
    refused = refused_values(LocalHost(), binary_of(name), asked)
    assert list(refused) == ["--innodb_flush_log_at_trx_commit=5", "--innodb_io_capacity=50"]
    assert refused["--innodb_io_capacity=50"] == "out of range: this server takes 100 instead"


def test_values_beside_one_that_is_refused_are_checked_too(binary: ServerBinary) -> None:
    asked = [("innodb_flush_method", "O_SLOW"), ("innodb_io_capacity", 50), ("innodb_io_capacity_max", 4000)]
    refused = refused_values(LocalHost(), binary, asked)
    assert list(refused) == ["--innodb_flush_method=O_SLOW", "--innodb_io_capacity=50"]


def test_a_release_that_nobody_knows_is_reported_at_its_place() -> None:
    with pytest.raises(SpecErrors) as caught:
        checked("thread_cache_size: 8}, release: mysql-5.66, network: {port: 0")
    (problem,) = caught.value.problems
    assert (problem.line, problem.value, problem.nearest) == (3, "mysql-5.66", "mysql-5.6")
    assert "neither installed nor available" in problem.message


def test_a_release_that_can_be_had_is_planned_before_it_is_here(
    lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MYDYNO_CACHE", str(lab / "cache"))
    text = EXPERIMENT.replace(
        "server.config.thread_cache_size: [1, 2]", "server.release: [mysql-5.6, system]"
    )
    experiment = spec.loads(text.replace("CONFIG", "thread_cache_size: 8"), "example.yaml")
    prepared = preflight.check(experiment, make(experiment, HostFacts(8 * 2**30, 2, 2**40)), LocalHost())
    assert prepared.missing == ("mysql-5.6",)
    assert list(prepared.binaries) == ["p2"]


def test_another_release_makes_another_run(
    binary: ServerBinary, lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = checked()
    assert checked().plan.fingerprint == before.plan.fingerprint
    monkeypatch.setenv("MYDYNO_SERVER", str(upgraded(binary, lab)))
    after = checked()
    assert {str(one.version) for one in after.binaries.values()} == {"MariaDB 99.1.0"}
    assert after.plan.fingerprint != before.plan.fingerprint
    assert after.plan.trials == before.plan.trials
