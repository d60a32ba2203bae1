"""Foreign programs as children: found or named, told no password in the open, ended with us."""

from __future__ import annotations

import os
import signal
import stat
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from mydyno.core.errors import EngineError, MissingToolError, UsageError
from mydyno.core.secrets import Secret
from mydyno.lab.load.external import External
from mydyno.lab.load.external.program import Child, Closed, Line, PrivateFolder
from mydyno.lab.load.external.slap import Slap
from mydyno.lab.load.external.sysbench import Sysbench
from mydyno.lab.load.job import Job, Phase, Target, closed_loop, events, open_loop, rounds, think, timed
from mydyno.lab.workload.external_program import ExternalSlap, ExternalSysbench

PASSWORD = "s3cret with, comma #and 'quote"
TARGET = Target(user="bench", password=Secret(PASSWORD), database="db", socket=Path("/run/s.sock"))
OPEN = Target(user="bench", password=Secret(""), database="db", host="127.0.0.1", port=3307)
TIMED = Phase(8, closed_loop(), timed(2.0, 10.0))
COUNTED = Phase(8, closed_loop(), rounds(25))


@pytest.fixture
def folder() -> Iterator[PrivateFolder]:
    folder = PrivateFolder()
    yield folder
    folder.remove()
    assert not folder.path.exists()


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand-ins that only know their version, first on PATH."""
    says = {
        "sysbench": "sysbench 1.0.20",
        "mariadb-slap": "mariadb-slap  Ver 1.0 Distrib 10.11.19-MariaDB, for debian-linux-gnu (x86_64)",
    }
    for name, version in says.items():
        install(tmp_path, name, f"echo '{version}'")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path


def install(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def sysbench(folder: PrivateFolder, target: Target = TARGET, seed: int = 1, **keys: object) -> Sysbench:
    options = ExternalSysbench.model_validate({"script": "oltp_read_only", **keys})
    return Sysbench(options, Job(target=target, seed=seed, workload={}), folder)


def slap(folder: PrivateFolder, target: Target = TARGET, **keys: object) -> Slap:
    return Slap(ExternalSlap.model_validate(keys), Job(target=target, seed=1, workload={}), folder)


def test_a_missing_program_is_reported_with_its_package(
    folder: PrivateFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingToolError, match="apt-get install sysbench"):
        sysbench(folder)
    with pytest.raises(
        MissingToolError, match=r"mariadb-slap or mysqlslap.*\n.*apt-get install mariadb-client"
    ):
        slap(folder)


def test_another_sysbench_is_refused_by_what_it_says(folder: PrivateFolder, programs: Path) -> None:
    install(programs, "sysbench", "echo 'sysbench 0.4.12:  multi-threaded system evaluation benchmark'")
    with pytest.raises(MissingToolError, match=r"0\.4\.12"):
        sysbench(folder)


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("mysqlslap  Ver 8.0.36 for Linux on x86_64 (MySQL Community Server - GPL)", "8.0.36"),
        ("mysqlslap  Ver 1.0 Distrib 5.5.62, for debian-linux-gnu (x86_64)", "5.5.62"),
        ("mariadb-slap from 11.8.2-MariaDB, client 1.0 for debian-linux-gnu (x86_64)", "11.8.2-MariaDB"),
    ],
)
def test_the_version_is_found_in_what_each_release_prints(
    folder: PrivateFolder, programs: Path, line: str, version: str
) -> None:
    install(programs, "mariadb-slap", f"echo '{line}'")
    assert slap(folder).program.version == version


@pytest.mark.usefixtures("programs")
def test_no_password_is_in_any_argument_or_on_a_disk_and_the_program_can_read_it(
    folder: PrivateFolder,
) -> None:
    one, other = sysbench(folder), slap(folder)
    commands = [one.argv(TIMED), one.argv(COUNTED), other.argv(COUNTED)]
    assert not [word for command in commands for word in command if "s3cret" in word]
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    assert list(folder.path.iterdir()) == [], "what SIGKILL leaves behind holds no password"
    files = [word.partition("=")[2] for command in commands for word in command if "/fd/" in word]
    assert len(files) == 3
    for file in files:
        # The clients of MySQL and MariaDB ignore an option file that everybody may write.
        assert stat.S_IMODE(Path(file).stat().st_mode) == 0o600
        lines: SimpleQueue[Line | Closed] = SimpleQueue()
        assert Child(["cat", file], folder, lines.put).end().exit_code == 0
        said = [line.text for line in iter(lines.get, Closed()) if isinstance(line, Line)]
        assert any(PASSWORD in line for line in said)


@pytest.mark.usefixtures("programs")
def test_without_a_password_sysbench_needs_no_file(folder: PrivateFolder) -> None:
    command = sysbench(folder, OPEN).argv(TIMED)
    assert list(folder.path.iterdir()) == []
    assert {"--mysql-host=127.0.0.1", "--mysql-port=3307", "--mysql-user=bench"} <= set(command)


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("password", ['with "quote', "two\nlines", "x" * 300])
def test_a_password_that_sysbench_cannot_read_is_refused_without_being_shown(
    folder: PrivateFolder, password: str
) -> None:
    target = Target(user="u", password=Secret(password), database="db", socket=Path("/run/s.sock"))
    with pytest.raises(EngineError) as caught:
        sysbench(folder, target)
    assert password not in str(caught.value)


@pytest.mark.usefixtures("programs")
def test_a_timed_phase_warms_up_by_a_checkpoint(folder: PrivateFolder) -> None:
    command = sysbench(folder, tables=2, prepared=False, options={"skip_trx": True}).argv(TIMED)
    assert {"--threads=8", "--time=12", "--report-checkpoints=2", "--histogram=on"} <= set(command)
    assert {"--tables=2", "--db-ps-mode=disable", "--skip-trx=on"} <= set(command)
    assert command[-2:] == ["oltp_read_only", "run"]
    cold = sysbench(folder).argv(Phase(8, closed_loop(), timed(0.0, 10.0)))
    assert not [word for word in cold if "checkpoint" in word]


@pytest.mark.usefixtures("programs")
def test_rounds_are_events_of_all_threads_together(folder: PrivateFolder) -> None:
    assert {"--events=200", "--time=0"} <= set(sysbench(folder).argv(COUNTED))
    assert "--number-of-queries=200" in slap(folder).argv(COUNTED)


@pytest.mark.usefixtures("programs")
def test_a_seed_is_never_the_one_that_means_the_time_of_day(folder: PrivateFolder) -> None:
    for seed, given in ((1, 1), (7, 7), (2**31 - 1, 2**31 - 1), (2**31, 1), (0, 2**31 - 1), (2**64 - 1, 3)):
        assert f"--rand-seed={given}" in sysbench(folder, seed=seed).argv(TIMED)


@pytest.mark.usefixtures("programs")
def test_what_the_programs_cannot_do_is_refused(folder: PrivateFolder) -> None:
    one, other = sysbench(folder), slap(folder)
    for phase, result in (
        (Phase(1, open_loop("fixed", 10.0), timed(0.0, 1.0)), "evenly spaced"),
        (Phase(1, open_loop("poisson", 0.5), timed(0.0, 1.0)), "whole rates"),
        (Phase(1, closed_loop(), timed(0.5, 1.0)), "whole seconds"),
        (Phase(1, closed_loop(), {"kind": "split", "events": 5}), "split"),
    ):
        with pytest.raises(UsageError, match=result):
            one.check(phase)
    for phase, result in (
        (TIMED, "no time limit"),
        (Phase(1, open_loop("poisson", 5.0), rounds(1)), "closed loops"),
        (Phase(3, closed_loop(), events(100)), "3 clients cannot share 100 statements"),
    ):
        with pytest.raises(UsageError, match=result):
            other.check(phase)
    one.check(TIMED)
    other.check(COUNTED)
    other.check(Phase(4, closed_loop(), events(100)))


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("shape", [{"active": 1}, {"think": think("constant", 0.1)}, {"ramp_s": 1.0}])
def test_shapes_that_only_our_own_engine_has_are_refused(shape: dict[str, Any]) -> None:
    phase = replace(COUNTED, **shape)
    with pytest.raises(UsageError, match="does not support"):
        External(Job(target=TARGET, seed=1, workload={}, phases=(phase,)), ExternalSlap())


@pytest.mark.usefixtures("programs")
def test_mysqlslap_reads_no_option_file_but_ours_and_makes_up_statements_unless_given_some(
    folder: PrivateFolder,
) -> None:
    command = slap(folder, load_type="write", storage_engine="aria").argv(COUNTED)
    assert command[1].startswith("--defaults-file=")
    assert {"--auto-generate-sql-load-type=write", "--engine=aria", "--iterations=1"} <= set(command)
    own = slap(folder, options={"query": "SELECT 1", "compress": False}).argv(COUNTED)
    assert {"--query=SELECT 1", "--skip-compress"} <= set(own)
    assert "--auto-generate-sql" not in own


def start(folder: PrivateFolder, tmp_path: Path, text: str) -> tuple[Child, SimpleQueue[Line | Closed]]:
    heard: SimpleQueue[Line | Closed] = SimpleQueue()
    return Child([str(install(tmp_path, "program", text))], folder, heard.put), heard


def hear_out(heard: SimpleQueue[Line | Closed]) -> list[str]:
    said = []
    while isinstance(one := heard.get(timeout=30), Line):
        said.append(one.text)
    return said


def test_a_child_has_a_home_of_its_own_and_none_of_our_environment(
    folder: PrivateFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MYSQL_PWD", "s3cret")
    child, heard = start(folder, tmp_path, "pwd; env; echo complaint >&2; exit 3")
    said = hear_out(heard)
    assert said[0] == str(folder.path)
    assert f"HOME={folder.path}" in said
    assert not [line for line in said if "s3cret" in line]
    assert "complaint" in said
    assert child.end().exit_code == 3


def test_the_cpu_time_of_a_child_is_that_of_its_whole_life(folder: PrivateFolder, tmp_path: Path) -> None:
    child, heard = start(
        folder, tmp_path, "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo x; read never"
    )
    hear_out(heard)
    ended = child.end()
    assert ended.exit_code != 0, "its standard input is empty"
    assert ended.user_s > 0.01


def test_a_child_ends_when_it_is_asked_to(folder: PrivateFolder, tmp_path: Path) -> None:
    child, heard = start(folder, tmp_path, "echo up; exec sleep 600")
    first = heard.get(timeout=30)
    assert isinstance(first, Line)
    assert first.text == "up"
    child.terminate()
    assert hear_out(heard) == []
    assert child.end().exit_code == -signal.SIGTERM


def test_a_child_that_closes_its_output_and_goes_on_is_killed(
    folder: PrivateFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mydyno.lab.load.external.program._ENDS_WITHIN_S", 0.2)
    child, heard = start(folder, tmp_path, "exec >&- 2>&-; exec sleep 600")
    hear_out(heard)
    before = time.monotonic()
    assert child.end().exit_code == -signal.SIGKILL
    assert time.monotonic() - before < 10
