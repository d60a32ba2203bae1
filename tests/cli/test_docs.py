import re
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest

from mydyno.cli.main import app
from mydyno.core.errors import ExitCode

ROOT = Path(__file__).parents[2]


def test_the_documented_command_line_is_the_real_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "tools")
    program = runpy.run_path(str(ROOT / "tools" / "document_cli.py"))
    assert (ROOT / "docs" / "cli.md").read_text() == program["document"](), "run: make docs"
    assert (ROOT / "docs" / "mydyno.1").read_text() == program["manual"](), "run: make docs"


def test_the_manual_page_has_every_section_command_and_exit_code() -> None:
    lines = (ROOT / "docs" / "mydyno.1").read_text().splitlines()
    sections = [line.removeprefix(".SH ") for line in lines if line.startswith(".SH ")]
    assert sections[:5] == ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS"]
    assert sections[5:] == ["EXIT STATUS", "ENVIRONMENT", "FILES", "SEE ALSO"]
    documented = re.findall(r"^## mydyno (.+)$", (ROOT / "docs" / "cli.md").read_text(), re.MULTILINE)
    assert [f".SS mydyno {name}".replace("-", r"\-") for name in documented] == [
        line for line in lines if line.startswith(".SS ")
    ]
    known = {".", '.\\"', ".TH", ".SH", ".SS", ".PP", ".TP", ".nf", ".fi", ".RS", ".RE", ".B", ".I", ".BR"}
    assert {line.split()[0] for line in lines if line.startswith((".", "'"))} <= known
    assert [line for line in lines if re.fullmatch(r"\\fB\d+\\fR", line)] == [
        rf"\fB{code:d}\fR" for code in ExitCode
    ]


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_the_manual_page_is_formatted_without_a_warning() -> None:
    page = ROOT / "docs" / "mydyno.1"
    done = subprocess.run(
        ["groff", "-man", "-Tascii", "-ww", "-P-c", page], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert "mydyno - a dynamometer for MySQL and MariaDB" in done.stdout
    assert "--install-completion" in re.sub(".\b", "", done.stdout)


def test_the_help_and_the_documentation_have_every_exit_code() -> None:
    table = (ROOT / "docs" / "cli.md").read_text().split("## Environment")[0]
    told = (app.info.epilog or "").removeprefix("Exit codes: ").rstrip(".").split(" · ")
    assert [int(each.split()[0]) for each in told] == list(ExitCode)
    assert [int(code) for code in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)] == list(ExitCode)


def test_every_file_that_the_documentation_points_to_exists() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} points to {target}"


def test_every_source_that_the_documentation_names_exists() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for named in re.findall(r"`((?:src|crates|tests|tools|benchmarks)/[\w./-]+)`", page.read_text()):
            assert (ROOT / named).exists(), f"{page.name} names {named}"


def test_the_experiment_in_the_readme_is_one_that_mydyno_takes() -> None:
    from mydyno.lab import spec

    text, _, _ = re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(text.splitlines()) <= 24
    shown = spec.loads(text, "README.md")
    shipped = spec.load(ROOT / "experiments" / "thread-cache.yaml")
    assert shown.workload == shipped.workload
    assert shown.factors == shipped.factors
    assert shown.setup == shipped.setup


def test_the_storage_in_the_readme_is_taken_with_any_load() -> None:
    from mydyno.lab import spec

    _, text, _ = re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    load = "workload: {oltp04: {}, connections: 1, each: {rounds: 1}}\n"
    shown = spec.loads(f"experiment: shown\n{text}\n{load}", "README.md")
    levels = [shown.variant(levels).setup.storage for levels in shown.combinations()]
    assert [storage.data.raid for storage in levels if storage is not None] == [0, 5, 10]


def test_the_releases_in_the_readme_can_all_be_had() -> None:
    from mydyno.lab import spec
    from mydyno.server.releases import KNOWN

    _, _, text = re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    load = "workload: {oltp04: {}, connections: 1, each: {rounds: 1}}\n"
    shown = spec.loads(f"experiment: shown\n{text}\n{load}", "README.md")
    releases = {shown.variant(levels).setup.server.release for levels in shown.combinations()}
    assert releases == set(KNOWN)
