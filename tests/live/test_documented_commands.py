"""Every command that README and docs show is run in a fresh folder with the default lab; the CLI reads all.

What is run is run as it stands, but for the address of the server, which is a private one, and for how long
it takes. What is not run has a reason in ONLY_READ; it is parsed by the real command line, like the examples
of the help.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from cli.test_compare import kept
from cli.test_digest import LOG
from lab.cloud.builders import KEY
from lab.imports.test_run_file import FIRST, SECOND
from lab.report.builders import thread_cache_run
from prove.builders import THREADS, advice
from typer.testing import CliRunner, Result

from live.documented import ROOT, Documented, commands, documented, files, folders, pages, parse
from live.mydyno_process import MEASURED, SHORT, call, faults
from live.packets import pcap
from live.releases import release
from live.uml import NEEDS_KERNEL
from mydyno.cli import login_options
from mydyno.cli.main import app
from mydyno.core.errors import ExitCode
from mydyno.lab.load.smack import settings as smack_settings
from mydyno.lab.results.store import Lab
from mydyno.lab.stack import RunningServer

pytestmark = pytest.mark.live

SERVER_CONFIG = {"performance_schema": True}
WORDS = ("alphabet", "dictionary", "vocabulary")
SMACK = ROOT / "src" / "mydyno" / "lab" / "workload" / "smack"
ONE_TRIAL = re.sub(r"factors:\n.*\n", "", SHORT).replace("repeats: 2", "repeats: 1")
ONE_TRIAL = re.sub("each: .*", "each: {rounds: 20}", ONE_TRIAL)  # However slow the machine is.


ONLY_READ = {
    r"^prove (?!.*--dry-run)": "runs for hours; --dry-run of it is run",
    r"^(apply|rollback)\b(?!.*--dry-run)": "changes this machine; tests/live/test_apply.py has images",
    r"--ssh (?!local|none)": "needs another machine; tests/live/test_survey.py has one",
    r"--hosts": "needs another machine; tests/live/test_other_host.py has one",
    r"--launcher slurm": "needs a cluster; tests/live/test_slurm.py has one",
    r"^tune": "takes minutes; tests/live/test_tune.py has a short search",
    r"^replay": "needs the data of its trace; tests/live/test_replay.py has both",
    r"^serve": "runs until it is interrupted; tests/live/test_serve.py has it",
    r"^doctor --clean": "removes what mydyno has on this machine; it has a test",
    r"^rehearse": "replays on several private servers; tests/live/test_rehearse.py has it",
    r"^synthesize": "wants tables with rows; tests/live/test_synthesize.py has it",
    r"--ask-password": "needs a terminal",
    r"^(images|servers) (add|build|fetch|remove)": "fetches packages from the network",
}
"""Pattern of the arguments -> why a command of the pages is read by the CLI, and not run."""

SHORTER = (
    (r"^(mydyno (?:facts|advise)\b)(?!.*--(?:for|facts))", r"\1 --for 1s"),  # They watch for 10 s.
    (r"--for \d+[smh]", "--for 1s"),
    (r"--for \d+(?![\dsmh])", "--for 1"),
    (r"--seconds \d+", "--seconds 1"),
    (r"--connections (64|1,10,100)\b", "--connections 4"),
    (r"--size demo\b", "--size toy"),
    (r"--queries 10000\b", "--queries 100"),
    (r"--iterations 5\b", "--iterations 1"),
    (r"smack 40 1000\b", "smack 2 10"),
    (r"--warehouses \d+", "--warehouses 1"),
    (r"--rounds 1000\b", "--rounds 20"),
    (r"--table-size \w+", "--table-size 1000"),
    (r"--max-size \w+", "--max-size 1M"),
)

SHORTER_FILES = (
    (r"warmup: \w+", "warmup: 100ms"),
    (r"measure: \w+", "measure: 300ms"),
    (r"repeats: \d+", "repeats: 2"),
)
"""What is shortened in a file that a page shows."""

SLOWER = """\
# Time: 2026-11-22T03:02:00.000000Z
# User@Host: web[web] @ app1 [10.0.0.11]  Id:    31
# Query_time: 3.500000  Lock_time: 0.000100 Rows_sent: 1  Rows_examined: 9000
SET timestamp=1795316520;
SELECT * FROM customer WHERE name = 'ann';
"""
"""An entry that the filters of the pages find."""


GENERAL = """\
2026-11-22T03:00:00.000001Z\t   31 Connect\tweb@app1 on shop using TCP/IP
2026-11-22T03:00:00.000002Z\t   31 Query\tSELECT * FROM orders WHERE id = 1
2026-11-22T03:00:00.000003Z\t   31 Quit\t
"""


PACKETS = pcap([b"\x03SELECT * FROM orders WHERE id = 1"])


@dataclass(frozen=True)
class Fresh:
    """A folder as a new reader has it, with what the pages take for granted."""

    folder: Path
    server: RunningServer
    dataset: str
    """The name of the one in the lab."""

    def here(self, text: str) -> str:
        """A command as it can be run here."""
        text = text.replace("/tmp/s.sock", "/run/mysqld/mysqld.sock").replace("/tmp/", "")
        text = text.replace("/run/mysqld/mysqld.sock", str(self.server.socket))
        text = text.replace("mysql://monitor@db1", f"mysql://monitor@127.0.0.1:{self.server.port}")
        text = (
            text.replace("/var/log/mysql/", "")
            .replace("/var/lib/mydyno/", "")
            .replace("/data/smack", "smack")
        )
        text = text.replace("oltp-read-only-3f0c5a", self.dataset)
        for pattern, shorter in SHORTER:
            text = re.sub(pattern, shorter, text)
        return text


def make_server_open(server: RunningServer) -> None:
    """The accounts of the pages: root, `bench` and `test` by the socket, and `monitor` with a password."""
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE OR REPLACE USER root@localhost IDENTIFIED BY ''")
        cursor.execute("GRANT ALL ON *.* TO root@localhost WITH GRANT OPTION")
        for user in ("bench", "test"):
            cursor.execute(f"CREATE USER IF NOT EXISTS {user}@localhost IDENTIFIED BY ''")
            cursor.execute(f"GRANT ALL ON *.* TO {user}@localhost")
        cursor.execute("CREATE USER IF NOT EXISTS monitor@'127.0.0.1' IDENTIFIED BY 'secret'")
        cursor.execute("GRANT ALL ON *.* TO monitor@'127.0.0.1'")


@pytest.fixture(scope="module")
def fresh(server: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> Fresh:
    folder = tmp_path_factory.mktemp("fresh")
    shutil.copytree(ROOT / "experiments", folder / "experiments")
    shutil.copy(SMACK / "select-key.smack", folder)
    (folder / ".monitor").write_text("secret\n")
    for name in ("slow.log", "slow.log.1", "last-week.log", "today.log"):
        (folder / name).write_text(LOG + SLOWER)
    for name in ("slow.log.1.gz", "slow.log.2.gz"):
        (folder / name).write_bytes(gzip.compress((LOG + SLOWER).encode()))
    (folder / "general.log").write_text(GENERAL)
    (folder / "port3306.pcap").write_bytes(PACKETS)
    for name in ("shop", "db1", "db2", "monday", "friday"):
        made = mydyno(folder, "capture", "slow.log", "--out", f"{name}.trace")
        assert made.returncode == 0, made.stderr
    for name, text in files().items():
        for pattern, shorter in SHORTER_FILES:
            text = re.sub(pattern, shorter, text)
        (folder / name).write_text(text)
    shutil.copy(folder / "experiments" / "thread-cache.yaml", folder / "borrowed.yaml")
    shutil.copy(SMACK / "update-select.smack", folder)
    (folder / "smack").mkdir()
    (folder / "smack" / "words.dat").write_text(
        "".join(f"{word:12}," + "p" * 25 + ",1,2\n" for word in WORDS)
    )
    (folder / "sysbench.csv").write_text("raid,threads,qps\n5,8,90\n5,8,91\n10,8,110\n10,8,111\n")
    (folder / "old.csv").write_text("filesystem,p95\nxfs,2.5\nxfs,2.6\next4,2.4\next4,2.7\n")
    for name, text in (("3.23", FIRST), ("4.0", SECOND)):
        (folder / f"RUN-mysql-{name}-Linux_2.4").write_text(text)
    (folder / ".ssh").mkdir()
    (folder / ".ssh" / "id_ed25519.pub").write_text(f"{KEY} reader@here\n")
    login = f"[client]\nuser=bench\nsocket={server.socket}\n"
    (folder / ".my.cnf").write_text(login)
    (folder / "advice.json").write_text(advice(THREADS).to_json())
    done = mydyno(folder, "run", "experiments/thread-cache.yaml", "--size", "toy", "--no-report")
    assert done.returncode in (0, 7), done.stderr
    places = (("thread-cache", "lab"), ("oltp", "lab"), ("oltp", "old-lab"), ("oltp", "new-lab"))
    for experiment, lab in places:
        for day in (1, 2):
            made = thread_cache_run(repeats=3, connections=(10,), levels=(8, 450), invalid=(), seed=day)
            made = replace(made, experiment=replace(made.experiment, name=experiment))
            name = kept(folder / lab, made, f"{day}{places.index((experiment, lab))}" * 8, day=day)
            if (experiment, lab, day) == ("oltp", "lab", 1):
                assert mydyno(folder, "baseline", "pin", name, "--as", "main").returncode == 0
    make_server_open(server)
    [dataset] = json.loads(mydyno(folder, "datasets", "list", "--json").stdout)
    fresh = Fresh(folder, server, dataset["name"])
    make_folders(fresh)
    return fresh


def make_folders(fresh: Fresh) -> None:
    """Those that the pages make with mkdir; one that is not below the fresh folder is not ours to make."""
    for name in {name for _, text in pages() for name in folders(text)}:
        path = fresh.folder / Path(fresh.here(name).replace("~", str(fresh.folder)))
        if path.is_relative_to(fresh.folder):
            path.mkdir(parents=True, exist_ok=True)


def mydyno(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    with contextlib.chdir(folder):
        return call(*arguments)


def why_absent(name: str) -> str | None:
    """Installs a release; why it cannot be had."""
    try:
        release(name)
    except pytest.skip.Exception as why:
        return str(why)
    return None


def why_only_read(words: str) -> str | None:
    return next((why for pattern, why in ONLY_READ.items() if re.search(pattern, words)), None)


ALL = documented()
RUN = [each for each in ALL if each.page != "help" and why_only_read(each.text[7:]) is None]
RELEASES = {name for each in RUN for name in re.findall(r"--(?:release|changed-from) (\S+)", each.text)}
"""The pages say that these must be installed."""


def test_the_pages_have_commands_in_all_kinds_of_blocks() -> None:
    fenced = "```sh\nmydyno runs\n```\n\n```console\n$ mydyno load a \\\n  --b\n```\n"
    indented = "\n    mydyno facts  --for 3 > x.json   explained\n"
    found = [" ".join(each.split()) for each in commands(fenced + indented)]
    assert found == ["mydyno runs", "mydyno load a --b", "mydyno facts --for 3 > x.json"]
    assert len(ALL) > 150


def test_folders_that_a_page_makes_are_seen_in_all_kinds_of_blocks() -> None:
    fenced = (
        "mkdir none\n\n```sh\nmkdir -p /tmp/a b/c   # two\n$ sudo mkdir -m 700 -p d && mydyno runs\n```\n"
    )
    assert list(folders(fenced + "\n    mkdir 'e f'   explained\n")) == ["/tmp/a", "b/c", "d", "e f"]


def test_the_command_line_reads_every_documented_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in files().items():
        Path(name).write_text(text)
    wrong = []
    for each in ALL:
        try:
            # The folder of a system's image has to be there.
            parse([word.replace("/mnt/image", str(tmp_path)) for word in each.words()])
        except SystemExit as error:
            if error.code:
                wrong.append(f"{each}: {error}")
        except BaseException as error:
            if type(error).__name__ != "Exit":  # --help ends so.
                wrong.append(f"{each}: {error!r}")
    assert wrong == []


def test_every_reason_not_to_run_a_command_is_one_of_a_command() -> None:
    texts = [each.text[7:] for each in ALL]
    unused = [pattern for pattern in ONLY_READ if not any(re.search(pattern, text) for text in texts)]
    assert unused == []


def is_of_a_busy_machine(answer: Result, folder: Path) -> bool:
    """Whether all that is wrong with the run that it names is that other programs had the CPUs."""
    named = re.search(r"/lab/runs/(\S+)", answer.output)
    if answer.exit_code != ExitCode.INVALID_TRIALS or named is None:
        return False
    with Lab.open(folder / "lab", write=False) as lab:
        run = lab.find_run(named[1])  # Which may be an older one: a finished run is not measured again.
        return bool(run.invalid()) and faults(run.trials()) == set()


@pytest.mark.timeout(900)  # It is more than a hundred commands.
def test_every_documented_command_works_in_a_fresh_folder(
    fresh: Fresh, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(fresh.folder)
    monkeypatch.delenv("MYDYNO_LAB", raising=False)
    monkeypatch.setenv("HOME", str(fresh.folder))
    monkeypatch.setenv("MYDYNO_STATE", str(fresh.folder / "state"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setenv("BROWSER", "true")  # The program that opens a page.
    for each_reader in (login_options, smack_settings):
        monkeypatch.setattr(each_reader, "_USUAL_SOCKETS", (str(fresh.server.socket),))
    absent = {name: why for name in RELEASES if (why := why_absent(name))}
    wrong = []
    for each in RUN:
        if any(name in each.text for name in absent):
            continue
        here = Documented(each.page, fresh.here(each.text))
        words = [word.replace("~", str(fresh.folder)) for word in here.words()]
        answer = CliRunner().invoke(app, words)
        if here.output is not None:
            (fresh.folder / here.output).write_text(answer.stdout)
        allowed = {0, 8} if "--fail-if" in each.text else {0, 3} if "doctor" in each.text else {0}
        if answer.exit_code not in allowed and not is_of_a_busy_machine(answer, fresh.folder):
            print(each, answer.exit_code, repr(answer.exception)[:300])
            wrong.append(f"{here}: {answer.exit_code}: {answer.exception!r} {answer.output[-300:]}")
    assert wrong == []
    if absent:
        pytest.skip(f"all commands work but those that need another release: {absent}")


def test_a_load_takes_a_relative_socket(fresh: Fresh) -> None:
    (fresh.folder / "s.sock").symlink_to(fresh.server.socket)
    (fresh.folder / "my.cnf").write_text("[client]\nuser=root\nsocket=s.sock\n")
    for way in (["--socket", "s.sock"], ["--defaults-file", "my.cnf"]):
        done = mydyno(
            fresh.folder,
            *("load", "oltp-point-select", *way),
            *("--seconds", "0.2", "--warmup", "0", "--table-size", "10", "--database", "relative"),
        )
        assert done.returncode == 0, done.stderr


@NEEDS_KERNEL
def test_a_guest_of_user_mode_linux_works_in_a_relative_lab(tmp_path: Path) -> None:
    guest = "setup:\n  host: uml\n  storage: {data: {disks: {size: 512M}, filesystem: xfs}}\n"
    (tmp_path / "guest.yaml").write_text(ONE_TRIAL.replace("setup:\n", guest))
    done = mydyno(tmp_path, "run", "guest.yaml", "--no-report")
    assert done.returncode in MEASURED, done.stderr
    assert (tmp_path / "lab" / "lab.sqlite").is_file()


def test_a_server_here_works_in_a_relative_lab(tmp_path: Path) -> None:
    (tmp_path / "short.yaml").write_text(ONE_TRIAL)
    done = mydyno(tmp_path, "run", "short.yaml", "--no-report", "--lab", "some/lab")
    assert done.returncode in MEASURED, done.stderr
