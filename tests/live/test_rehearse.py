"""A rehearsal on two schemas and on two releases: what differs is found, and nothing else is."""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from live.engine import ask
from live.mydyno_process import MEASURED, Workplace
from live.releases import SMALL, release
from live.test_performance_schema import run
from live.test_replay import options_of
from mydyno.lab.results.store import Lab
from mydyno.lab.stack import RunningServer

pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]

PROGRAMS = Path(sys.executable).parent
DUMP = shutil.which("mariadb-dump") or shutil.which("mysqldump")
KINDS = (
    "SELECT id, note FROM orders WHERE customer = {n}",
    "SELECT n FROM items WHERE id = 2",
    "UPDATE orders SET note = 'changed' WHERE id = {n} + 1",
    "INSERT INTO notes VALUES ({n}, 'x')",
    "SELECT NOW()",
)
ROWS = ",".join(f"({number},{number % 50},'n')" for number in range(1, 5001))
DATA = (
    "CREATE DATABASE shop",
    "USE shop",
    "CREATE TABLE orders (id INT PRIMARY KEY, customer INT, note VARCHAR(20), KEY by_customer (customer))",
    f"INSERT INTO orders VALUES {ROWS}",
    "CREATE TABLE items (id INT PRIMARY KEY, n INT)",
    "INSERT INTO items VALUES (1, 1), (2, 2)",
    "CREATE TABLE notes (id INT PRIMARY KEY, text VARCHAR(20))",
)
FROM_DUMP = ("--data", "shop.sql")
FAULTS = """ALTER TABLE shop.orders DROP KEY by_customer;
UPDATE shop.items SET n = 9 WHERE id = 2;
ALTER TABLE shop.notes ADD COLUMN extra INT;
"""


def slow_log(statements: list[str]) -> str:
    lines = ["/usr/sbin/mariadbd, Version: 10.11.6-MariaDB. started with:\n"]
    lines += ["Tcp port: 0  Unix socket: x\nTime\t\t    Id Command\tArgument\n"]
    for number, sql in enumerate(statements):
        lines.append(
            f"# Time: 260101  0:00:{number // 10:02d}\n# User@Host: app[app] @ localhost []\n"
            "# Thread_id: 1  Schema: shop  QC_hit: No\n"
            "# Query_time: 0.000200  Lock_time: 0.000000  Rows_sent: 1  Rows_examined: 1\n"
            f"SET timestamp={1767225600 + number // 10};\n{sql};\n"
        )
    return "".join(lines)


def shop_in(folder: Path, kinds: tuple[str, ...] = KINDS) -> Path:
    """The folder, with a trace of 100 statements, a dump and a schema change."""
    (folder / "shop.sql").write_text("".join(f"{statement};\n" for statement in DATA))
    (folder / "faults.sql").write_text(FAULTS)
    log = folder / "slow.log"
    log.write_text(slow_log([kinds[number % len(kinds)].format(n=number) for number in range(100)]))
    capture = [PROGRAMS / "mydyno-engine", "trace", "capture", log, "--out", folder / "shop.trace"]
    subprocess.run(capture, check=True, capture_output=True)
    return folder


@pytest.fixture
def place(lab: Path) -> Path:
    return shop_in(lab.parent)


def rehearse(place: Path, *options: str, repeats: int = 2) -> dict[str, Any]:
    command = [PROGRAMS / "mydyno", "rehearse", "shop.trace", "--lab", "lab", "--speed", "max"]
    command += ["--repeats", str(repeats), "--json", *options]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode in MEASURED, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def check_the_planted_faults(comparison: dict[str, Any]) -> None:
    """The other statements return the same, and the index that is gone shows in the plans."""
    failed, other, *rest = comparison["statements"]
    assert "notes" in failed["text"]
    assert [each["number"] for each in failed["fails"]] == [1136]
    assert "items" in other["text"]
    assert other["other_result"]["executions"] == 20
    (indexed,) = [each for each in rest if "customer" in each["text"]]
    assert [plan["rows"][0]["key"] for plan in indexed["plans"]] == ["by_customer", None]
    assert not any(each["fails"] or each["other_result"] for each in rest)
    assert "1 fails, 1 returns other rows" in comparison["headline"]


def test_planted_faults_are_found_and_named_first(place: Path) -> None:
    answer = rehearse(place, *FROM_DUMP, "--schema-change", "faults.sql", "--html", "page.html")
    (comparison,) = answer["comparisons"]
    check_the_planted_faults(comparison)
    assert "by_customer" in (place / "page.html").read_text()


def test_a_synthetic_trace_is_called_one_by_replay_plan_and_report(place: Path) -> None:
    capture = [PROGRAMS / "mydyno-engine", "trace", "capture", "slow.log", "--out", "made.trace"]
    subprocess.run([*capture, "--synthetic"], cwd=place, check=True, capture_output=True)
    (place / "made.yaml").write_text(
        "experiment: made\nsetup: {data: shop.sql}\n"
        "factors: {server.config.thread_cache_size: [4, 20]}\n"
        "workload: {trace: {path: made.trace, speed: max}}\ndesign: {repeats: 1, seed: 1}\n"
    )

    def shown(*command: str) -> str:
        done = subprocess.run(
            [PROGRAMS / "mydyno", *command, "made.yaml", "--lab", "lab", "--trust"],
            cwd=place,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode in MEASURED, done.stderr
        return " ".join(done.stdout.split())

    assert "1 phase: synthetic trace, put together from statement digests: 100 statements" in shown("plan")
    shown("run")
    (page,) = (place / "lab").rglob("report/*.html")
    assert "It is not a recording of traffic." in page.read_text()


@pytest.mark.slow
def test_the_same_release_twice_differs_in_nothing(place: Path) -> None:
    (comparison,) = rehearse(place, *FROM_DUMP, "--releases", "system,system")["comparisons"]
    assert not any(each["fails"] or each["other_result"] for each in comparison["statements"])
    assert {len(each["plans"]) for each in comparison["statements"]} == {2}
    assert "none fails, returns other rows or is slower" in comparison["headline"]


@pytest.mark.skipif(not DUMP, reason="mariadb-dump is not installed: apt-get install mariadb-client")
def test_a_running_server_is_dumped_as_the_data_and_stays_as_it_was(
    place: Path, server: RunningServer
) -> None:
    run(server, *DATA)
    source = ("--from-server", str(server.socket), *options_of(server, place))
    answer = rehearse(place, *source, "--schema-change", "faults.sql", repeats=1)
    assert answer["data"] == f"a dump of {server.login.address}"
    (comparison,) = answer["comparisons"]
    check_the_planted_faults(comparison)
    (dump,) = (place / "lab" / "dumps").iterdir()
    assert (dump.suffix, dump.stat().st_mode & 0o777) == (".sql", 0o600)
    password = server.login.password.reveal()
    assert password
    assert password not in json.dumps(answer)
    assert [int(rows) for (rows,) in ask(server, "SELECT COUNT(*) FROM shop.notes")] == [0]
    changed = "SELECT COUNT(*) FROM shop.orders WHERE note = 'changed'"
    assert [int(rows) for (rows,) in ask(server, changed)] == [0]


@pytest.mark.slow
def test_what_one_of_two_releases_does_not_understand_fails_there_alone(lab: Path) -> None:
    release(SMALL)
    place = shop_in(lab.parent, (*KINDS[:4], "WITH few AS (SELECT n FROM items) SELECT n FROM few"))
    answer = rehearse(place, *FROM_DUMP, "--releases", f"system,{SMALL}", "--html", "page.html", repeats=1)
    assert list(answer["sides"]) == ["system", SMALL]
    (comparison,) = answer["comparisons"]
    failed, *rest = comparison["statements"]
    assert failed["text"].startswith("with few as")
    assert [(each["number"], each["executions"]) for each in failed["fails"]] == [(1064, 20)]
    assert not any(each["fails"] or each["other_result"] for each in rest)
    assert comparison["headline"].startswith(f"{SMALL} for this trace: of 5 statements 1 fails")
    assert (SMALL, "end-of-life") in {(each["side"], each["rule"]) for each in answer["advice"]}
    assert f"{SMALL} against system" in (place / "page.html").read_text()


@pytest.mark.slow
def test_a_killed_rehearsal_continues_and_repeats_no_finished_trial(workplace: Workplace) -> None:
    folder = shop_in(workplace.folder)
    command = ["rehearse", str(folder / "shop.trace"), "--data", str(folder / "shop.sql")]
    command += ["--schema-change", str(folder / "faults.sql"), "--speed", "max", "--repeats", "3", "--json"]
    process = workplace.start(*command)
    deadline = time.monotonic() + 600
    while not workplace.finished() and process.poll() is None:
        assert time.monotonic() < deadline, "no trial was finished"
        time.sleep(0.02)
    process.kill()
    said, _ = process.communicate()
    workplace.wait_until_no_process_is_left(60)
    known = workplace.finished()
    assert known, said
    with Lab.open(workplace.lab, write=False) as lab:
        (run_of_it,) = lab.runs()
        measured = {each.trial_id for each in run_of_it.attempts() if each.measured}
    done = workplace.run(*command)
    assert done.returncode in MEASURED, done.stderr
    now = workplace.finished()
    assert known.items() <= now.items()
    assert not {trial for trial, attempt in now if trial in measured and attempt > 1}
    assert len({trial for trial, _ in now}) == 6
    (comparison,) = json.loads(done.stdout)["comparisons"]
    check_the_planted_faults(comparison)
    assert workplace.run("cleanup").returncode == 0
    assert workplace.left_outside_the_lab() == []
    assert list((workplace.lab / "run").iterdir()) == []
