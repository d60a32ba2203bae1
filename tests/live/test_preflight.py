"""What is found out about the server binary before anything is started: the real one is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from mydyno import spec
from mydyno.core.facts import HostFacts
from mydyno.host.local import LocalHost
from mydyno.plan import make
from mydyno.spec import SpecErrors
from mydyno.stack import ServerBinary
from mydyno.trial import preflight
from mydyno.trial.preflight import Prepared

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


def test_every_unknown_setting_is_told_at_its_place() -> None:
    with pytest.raises(SpecErrors) as caught:
        checked("thread_cash_size: 8, innodb_bufer_pool_size: 64M")
    first, second = caught.value.problems
    assert first.line == second.line == 3
    assert (first.nearest or "").startswith("thread_cache_size")
    assert (second.nearest or "").startswith("innodb_buffer_pool_size")


def test_a_release_that_nobody_knows_is_told_at_its_place() -> None:
    with pytest.raises(SpecErrors) as caught:
        checked("thread_cache_size: 8}, release: mysql-5.5, network: {port: 0")
    (problem,) = caught.value.problems
    assert (problem.line, problem.value, problem.nearest) == (3, "mysql-5.5", "mysql-5.6")
    assert "neither installed nor to be had" in problem.message


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
