"""Releases in packages of npm and Maven, MySQL 5.5 to 8.0 and MariaDB 10.1 to 11.4: each measures a trial."""

from __future__ import annotations

import platform

import pytest

from live.mydyno_process import MEASURED, Workplace, faults
from live.releases import SMALL, release
from mydyno.lab.results.store import Lab
from mydyno.server.releases import KNOWN
from mydyno.server.releases.packaged import Packaged

pytestmark = [
    pytest.mark.live,
    pytest.mark.timeout(900),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the packages are for x86_64"),
]

EXPERIMENT = """
experiment: packaged
setup: {server: {release: NAME, config: {innodb_buffer_pool_size: 32M, innodb_log_file_size: 24M}}}
workload:
  oltp-read-write: {tables: 1, table_size: 2k}
  connections: [2]
  think: 5ms
  each: {warmup: 100ms, measure: 1s}
sampling: {every: 100ms}
design: {repeats: 1, seed: 5}
"""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name == SMALL else pytest.mark.slow)
        for name, known in KNOWN.items()
        if isinstance(known.provider, Packaged)
    ],
)
def test_a_packaged_release_measures_a_trial_with_another_redo_log_than_its_dataset(
    name: str, workplace: Workplace
) -> None:
    release(name)
    file = workplace.folder / "packaged.yaml"
    file.write_text(EXPERIMENT.replace("NAME", name))
    done = workplace.run("run", str(file), "--no-report")
    assert done.returncode in MEASURED, done.stderr
    with Lab.open(workplace.lab, write=False) as lab:
        (trial,) = lab.find_run("packaged").trials()
    assert faults([trial]) == set(), trial.invalidities
    assert trial.server_version == KNOWN[name].version
    assert trial.phases[0].queries > 0
