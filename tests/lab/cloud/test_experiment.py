"""The experiment of the machine: one array, over ssh, and everything else as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lab.cloud.builders import FOUR_DISKS, choices, fixed
from lab.cloud.builders import experiment_text as experiment_document
from mydyno.core.errors import UsageError
from mydyno.lab import spec
from mydyno.lab.cloud.cloud_init import packages_of
from mydyno.lab.cloud.experiment import experiment_text, fix
from mydyno.lab.cloud.folder import files, machine_for

FACTORS = (
    "factors:\n"
    "  array:\n"
    "    RAID 0, 4 disks: {storage.data.raid: 0}\n"
    "    mirror: {storage.data.raid: 1, storage.data.disks.count: 2, server.config.sync_binlog: 0}\n"
    "  server.config.innodb_flush_log_at_trx_commit: [1, 2]\n"
    "claims:\n"
    "  - {factor: array, order: [mirror, 'RAID 0, 4 disks'], said: mirrors are faster}\n"
    "  - {factor: server.config.innodb_flush_log_at_trx_commit, order: ['2', '1'], said: faster}\n"
    "sizes: {toy: {workload.each: {measure: 2s}}}\n"
)


def text(**more: str) -> str:
    one = fixed(**more)
    return experiment_text(one, machine_for(one, choices()))


def test_the_server_runs_over_ssh_and_the_storage_is_as_it_was_assembled() -> None:
    written = spec.loads(text(setup="  limits: {nofile: 1024}\n  cache: cold\n"), "x.yaml")
    assert (written.setup.host.kind, written.setup.host.name) == ("ssh", "mydyno-array")
    assert written.setup.storage is None
    assert written.setup.limits is not None
    assert (written.setup.limits.nofile, written.setup.cache) == (1024, "cold")
    assert written.workload == fixed().experiment.workload


def test_a_factor_of_the_storage_needs_a_level_and_the_other_factors_stay() -> None:
    with pytest.raises(UsageError, match="the factor array varies storage or host") as refused:
        fixed(more=FACTORS)
    assert refused.value.hint == "--level array=LEVEL; its levels: RAID 0, 4 disks, mirror"
    one = fixed(more=FACTORS, levels={"array": "mirror"})
    built = machine_for(one, choices())
    assert len(built.disks) == 2
    written = spec.loads(experiment_text(one, built), "x.yaml")
    assert [factor.name for factor in written.factors] == ["server.config.innodb_flush_log_at_trx_commit"]
    assert written.setup.server.config["sync_binlog"].written == 0, "what else the level sets"
    assert [claim.said for claim in written.claims] == ["faster"]
    assert written.sizes == ()


@pytest.mark.parametrize(
    ("levels", "message", "hint"),
    [
        ({"aray": "mirror"}, "no factor of that name", "did you mean array?"),
        ({"array": "miror"}, "no such level", "did you mean mirror?"),
        ({"server.config.innodb_flush_log_at_trx_commit": "1"}, "no factor of that name", "there are: array"),
    ],
)
def test_a_level_that_is_not_there_is_refused(levels: dict[str, str], message: str, hint: str) -> None:
    with pytest.raises(UsageError, match=message) as refused:
        fixed(more=FACTORS, levels=levels)
    assert refused.value.hint == hint


def test_an_experiment_that_cannot_run_over_ssh_says_what_is_in_the_way() -> None:
    one = fixed(setup="  server: {release: mariadb-11.8}\n")
    message = r"cannot run on another machine as it is: .*server\.release"
    with pytest.raises(UsageError, match=message) as refused:
        experiment_text(one, machine_for(one, choices()))
    assert "docs/reference/hosts.md" in (refused.value.hint or "")


@pytest.mark.parametrize(
    "question",
    [
        "quotes \" and ' and ${x} %{y} : # - [a] \\n {b}",
        *("10", "1e3", "no", "null", "2026-01-31", "two\nlines #"),
    ],
)
def test_every_text_of_the_experiment_survives(question: str) -> None:
    written = spec.loads(text(more=f"question: {json.dumps(question)}\n"), "x.yaml")
    assert written.question == question


def test_the_notes_say_how_to_use_and_destroy_it_and_where_it_differs() -> None:
    one = fixed(FOUR_DISKS.replace("iops: 500", "iops: 200"))
    notes = files(one, machine_for(one, choices("aws")))["README.md"]
    assert [line for line in notes.splitlines() if line.startswith(("tofu", "mydyno"))] == [
        "tofu init",
        "tofu apply",
        "mydyno hosts check --hosts hosts.yaml",
        "mydyno run experiment.yaml --hosts hosts.yaml",
        "tofu destroy",
    ]
    assert "- data: each gp3 disk of 128 GiB does 3,000 IOPS, and the experiment says 200" in notes
    assert "| data | RAID 10 of 4 disks, xfs | 4 x 128 GiB gp3 | 3,000 | none | /srv/mydyno/data |" in notes


def test_fio_has_no_experiment_over_ssh_and_is_installed() -> None:
    text = (
        "experiment: array\nsetup: {host: vm, storage: {data: {disks: {size: 64G}}}}\n"
        "workload:\n  fio: {rw: randwrite, runtime: 10s, size: 1G}\n"
    )
    one = fix(spec.loads(text, "array.yaml"), {})
    built = machine_for(one, choices())
    written = files(one, built)
    assert sorted(written) == ["README.md", "cloud-init.yaml", "main.tf.json"]
    assert "mydyno run experiment.yaml" not in written["README.md"]
    assert "there is no experiment.yaml: run fio on /srv/mydyno/data" in built.notes[-1]
    assert "fio" in packages_of(built)


def test_a_file_that_the_load_reads_is_named_in_the_notes(tmp_path: Path) -> None:
    (tmp_path / "load.yaml").write_text('workload: load\ntransactions:\n  look:\n    - query: "SELECT 1"\n')
    text = experiment_document().replace("oltp-read-only: {}", "file: {path: load.yaml}")
    one = fix(spec.loads(text, str(tmp_path / "array.yaml")), {})
    notes = files(one, machine_for(one, choices()))["README.md"]
    assert "- experiment.yaml reads load.yaml: copy it here" in notes
