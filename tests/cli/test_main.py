import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from live.mydyno_process import MYDYNO
from live.mydyno_process import call as mydyno

ROOT = Path(__file__).parents[2]
HEAVY = ("polars", "scipy", "numpy", "altair", "pydantic", "ruamel", "pymysql", "jinja2", "vl_convert")


def test_help_loads_none_of_the_heavy_parts() -> None:
    code = (
        "import sys\nsys.argv = ['mydyno', '--help']\n"
        "from mydyno.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stderr.strip() == "[]"
    assert "doctor" in done.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_ended_by_a_signal_ends_as_by_ctrl_c(number: signal.Signals) -> None:
    process = subprocess.Popen(
        [MYDYNO, "gen-data", "-n", "1000000000", "-f", "%n"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "1\n"
    process.send_signal(number)
    _, result = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in result


@pytest.mark.parametrize(
    "command",
    [
        "doctor",
        "plan",
        "run",
        "report",
        "load",
        "load smack",
        "load sql-bench",
        "load idle",
        "cleanup",
        "datasets",
        "servers add",
        "servers list",
    ],
)
def test_every_command_teaches_by_example(command: str) -> None:
    done = mydyno(*command.split(), "--help")
    assert done.returncode == 0
    assert f"  mydyno {command}" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (["plan", "nowhere.yaml"], 2, "nowhere.yaml"),
        (["plan", str(ROOT / "experiments" / "thread-cache.yaml"), "--size", "tny"], 2, "mean 'toy'?"),
        (["report", "--lab", "/nowhere/lab"], 5, "there is no lab"),
        (["load", "oltp-read-ony", "--socket", "/s"], 2, "did you mean 'oltp-read-only'?"),
        (["load", "oltp-read-only"], 2, "neither --socket nor --host"),
        (["load", "oltp-read-only", "--socket", "/s", "--host", "h"], 2, "exclude each other"),
        (["load", "oltp-read-only", "--socket", "/s", "--poisson"], 2, "--poisson needs --rate"),
        (["load", "oltp-read-only", "--socket", "/s", "--rows", "5"], 2, "No such option: --rows"),
        (["load", "oltp-read-only", "–socket", "/s"], 2, "typographic dash"),
        (["load", "oltp-read-only", "--socket", "/s", "--prepare", "no"], 2, "--prepare no is not known"),
        (["load", "oltp-read-only", "--socket", "/s", "--password-file", "/nowhere"], 2, "/nowhere"),
        (["load", "oltp-read-only", "--socket", "/s", "--ask-password"], 2, "needs a terminal"),
        (["load", "oltp-read-only", "--socket", "/nowhere.sock"], 4, "/nowhere.sock"),
    ],
)
def test_a_wrong_command_line_is_answered_with_what_is_wrong(
    arguments: list[str], code: int, expected: str
) -> None:
    done = mydyno(*arguments)
    assert done.returncode == code, done.stderr
    assert expected in done.stderr
    assert "Traceback" not in done.stderr


def test_the_schema_is_json(tmp_path: Path) -> None:
    assert json.loads(mydyno("schema").stdout)["type"] == "object"


def test_doctor_shows_programs_what_it_shows_people(tmp_path: Path) -> None:
    document = json.loads(mydyno("doctor", "--json", "--lab", str(tmp_path / "lab")).stdout)
    assert {check["name"] for check in document} >= {
        "mydyno",
        "engine",
        "server",
        "machine",
        "lab",
        "leftovers",
        "environment uml",
    }
    assert all(check["verdict"] == "ok" for check in document if check["name"] in ("engine", "server"))
    assert not (tmp_path / "lab").exists()


def test_cleaning_up_where_nothing_is_changes_nothing(tmp_path: Path) -> None:
    done = mydyno("cleanup", "--lab", str(tmp_path / "lab"))
    assert done.returncode == 0
    assert "nothing to clean up" in done.stdout
    assert list(tmp_path.iterdir()) == []
