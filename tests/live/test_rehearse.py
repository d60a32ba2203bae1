"""A rehearsal on two schemas of one release: planted faults are found, and nothing else is."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.live

PROGRAMS = Path(sys.executable).parent
KINDS = (
    "SELECT id, note FROM orders WHERE customer = {n}",
    "SELECT n FROM items WHERE id = 2",
    "UPDATE orders SET note = 'changed' WHERE id = {n} + 1",
    "INSERT INTO notes VALUES ({n}, 'x')",
    "SELECT NOW()",
)
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


@pytest.fixture
def place(lab: Path) -> Path:
    """A folder with a trace, a dump and a schema change."""
    folder = lab.parent
    rows = ",".join(f"({number},{number % 50},'n')" for number in range(1, 5001))
    (folder / "shop.sql").write_text(
        "CREATE DATABASE shop; USE shop;\n"
        "CREATE TABLE orders (id INT PRIMARY KEY, customer INT, note VARCHAR(20),\n"
        "KEY by_customer (customer));\n"
        f"INSERT INTO orders VALUES {rows};\n"
        "CREATE TABLE items (id INT PRIMARY KEY, n INT); INSERT INTO items VALUES (1, 1), (2, 2);\n"
        "CREATE TABLE notes (id INT PRIMARY KEY, text VARCHAR(20));\n"
    )
    (folder / "faults.sql").write_text(FAULTS)
    log = folder / "slow.log"
    log.write_text(slow_log([KINDS[number % 5].format(n=number) for number in range(100)]))
    capture = [PROGRAMS / "mydyno-engine", "trace", "capture", log, "--out", folder / "shop.trace"]
    subprocess.run(capture, check=True, capture_output=True)
    return folder


def rehearse(place: Path, *options: str) -> dict[str, object]:
    command = [PROGRAMS / "mydyno", "rehearse", "shop.trace", "--data", "shop.sql", "--lab", "lab"]
    command += ["--speed", "max", "--repeats", "2", "--json", *options]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


def test_planted_faults_are_found_and_named_first(place: Path) -> None:
    answer = rehearse(place, "--schema-change", "faults.sql", "--html", "page.html")
    (comparison,) = answer["comparisons"]
    failed, other, *rest = comparison["statements"]
    assert "notes" in failed["text"]
    assert [each["number"] for each in failed["fails"]] == [1136]
    assert "items" in other["text"]
    assert other["other_result"]["executions"] == 20
    (indexed,) = [each for each in rest if "customer" in each["text"]]
    assert [plan["rows"][0]["key"] for plan in indexed["plans"]] == ["by_customer", None]
    assert not any(each["fails"] or each["other_result"] for each in rest)
    assert "1 fails, 1 returns other rows" in comparison["headline"]
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
        # 7: a busy machine may make a trial invalid.
        assert done.returncode in (0, 7), done.stderr
        return " ".join(done.stdout.split())

    assert "1 phase: synthetic trace, put together from statement digests: 100 statements" in shown("plan")
    shown("run")
    (page,) = (place / "lab").rglob("report/*.html")
    assert "It is not a recording of traffic." in page.read_text()


def test_the_same_release_twice_differs_in_nothing(place: Path) -> None:
    (comparison,) = rehearse(place, "--releases", "system,system")["comparisons"]
    assert not any(each["fails"] or each["other_result"] for each in comparison["statements"])
    assert {len(each["plans"]) for each in comparison["statements"]} == {2}
    assert "none fails, returns other rows or is slower" in comparison["headline"]
