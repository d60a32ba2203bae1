"""Every command that README, docs and the help show is read by the real command line; relative paths work."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from live.documented import ROOT, commands, documented, parse
from live.mydyno_process import MYDYNO, SHORT
from live.uml import NEEDS_KERNEL
from mydyno.stack import RunningServer

pytestmark = pytest.mark.live

ALL = documented()
ONE_TRIAL = re.sub(r"factors:\n.*\n", "", SHORT).replace("repeats: 4", "repeats: 1")
ONE_TRIAL = re.sub("each: .*", "each: {rounds: 20}", ONE_TRIAL)  # However slow the machine is.


def test_the_pages_have_commands_in_all_kinds_of_blocks() -> None:
    fenced = "```sh\nmydyno runs\n```\n\n```console\n$ mydyno load a \\\n  --b\n```\n"
    indented = "\n    mydyno facts  --for 3 > x.json   explained\n"
    found = [" ".join(each.split()) for each in commands(fenced + indented)]
    assert found == ["mydyno runs", "mydyno load a --b", "mydyno facts --for 3 > x.json"]
    assert len(ALL) > 150


def test_the_command_line_reads_every_documented_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shop = re.search(
        r"```yaml\n(workload: shop\n.*?)```", (ROOT / "docs/workloads.md").read_text(), re.DOTALL
    )
    assert shop is not None
    Path("shop.yaml").write_text(shop[1])
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


def mydyno(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [MYDYNO, *arguments], cwd=folder, capture_output=True, text=True, timeout=240, check=False
    )


def test_a_load_takes_a_relative_socket(server: RunningServer, tmp_path: Path) -> None:
    (tmp_path / "s.sock").symlink_to(server.socket)
    (tmp_path / "password").write_text(server.admin_password.reveal())
    (tmp_path / "my.cnf").write_text("[client]\nuser=root\nsocket=s.sock\n")
    for way in (["--socket", "s.sock"], ["--defaults-file", "my.cnf"]):
        done = mydyno(
            tmp_path,
            *("load", "oltp-point-select", *way, "--password-file", "password"),
            *("--seconds", "0.2", "--warmup", "0", "--table-size", "10"),
        )
        assert done.returncode == 0, done.stderr


@NEEDS_KERNEL
def test_a_guest_of_user_mode_linux_works_in_a_relative_lab(tmp_path: Path) -> None:
    guest = "setup:\n  host: uml\n  storage: {data: {disks: {size: 512M}, filesystem: xfs}}\n"
    (tmp_path / "guest.yaml").write_text(ONE_TRIAL.replace("setup:\n", guest))
    done = mydyno(tmp_path, "run", "guest.yaml", "--no-report")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "lab" / "lab.sqlite").is_file()


def test_a_server_here_works_in_a_relative_lab(tmp_path: Path) -> None:
    (tmp_path / "short.yaml").write_text(ONE_TRIAL)
    done = mydyno(tmp_path, "run", "short.yaml", "--no-report", "--lab", "some/lab")
    assert done.returncode == 0, done.stderr
