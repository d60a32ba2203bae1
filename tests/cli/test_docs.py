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
    assert (ROOT / "docs" / "reference" / "cli.md").read_text() == program["document"](), "run: make docs"
    assert (ROOT / "docs" / "reference" / "mydyno.1").read_text() == program["manual"](), "run: make docs"


def test_the_manual_page_has_every_section_command_and_exit_code() -> None:
    lines = (ROOT / "docs" / "reference" / "mydyno.1").read_text().splitlines()
    sections = [line.removeprefix(".SH ") for line in lines if line.startswith(".SH ")]
    assert sections[:5] == ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS"]
    assert sections[5:] == ["EXIT STATUS", "ENVIRONMENT", "FILES", "SEE ALSO"]
    documented = re.findall(
        r"^## mydyno (.+)$", (ROOT / "docs" / "reference" / "cli.md").read_text(), re.MULTILINE
    )
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
    page = ROOT / "docs" / "reference" / "mydyno.1"
    done = subprocess.run(
        ["groff", "-Kutf8", "-man", "-Tutf8", "-ww", "-P-c", page], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert "mydyno - a dynamometer for MySQL and MariaDB" in done.stdout
    assert "--install-completion" in re.sub(".\b", "", done.stdout)


def test_the_help_and_the_documentation_have_every_exit_code() -> None:
    table = (ROOT / "docs" / "reference" / "cli.md").read_text().split("## Environment")[0]
    result = (app.info.epilog or "").removeprefix("Exit codes: ").rstrip(".").split(" · ")
    assert [int(each.split()[0]) for each in result] == list(ExitCode)
    assert [int(code) for code in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)] == list(ExitCode)


PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")


def anchors(page: Path) -> set[str]:
    """The anchors of its headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_link_and_anchor_of_the_documentation_resolves() -> None:
    broken = []
    for page in PAGES:
        for target, anchor in _LINK.findall(_CODE.sub("", page.read_text())):
            file = page.parent / target if target else page
            if not file.exists() or (anchor and anchor not in anchors(file)):
                broken.append(f"{page.relative_to(ROOT)}: {target}#{anchor}")
    assert broken == []


def test_the_index_has_every_page() -> None:
    index = (ROOT / "docs" / "README.md").read_text()
    pages = [page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")]
    assert [page for page in pages if f"({page})" not in index and page != "README.md"] == []


def test_every_page_of_the_documentation_that_is_named_exists() -> None:
    folders = ("src", "crates", "tests", "tools", "experiments", "benchmarks")
    files = [file for folder in folders for file in (ROOT / folder).rglob("*.*") if file.is_file()]
    kinds = {".py", ".rs", ".yaml", ".toml", ".md", ".sh", ".txt"}
    missing = []
    for file in [*PAGES, ROOT / "Makefile", *(file for file in files if file.suffix in kinds)]:
        for named in re.findall(r"\bdocs/[\w/-]+\.md", file.read_text(errors="replace")):
            if file.name != "CHANGELOG.md" and not (ROOT / named).exists():
                missing.append(f"{file.relative_to(ROOT)}: {named}")
    assert missing == []


def test_every_source_that_the_documentation_names_exists() -> None:
    for page in PAGES:
        for named in re.findall(r"`((?:src|crates|tests|tools|benchmarks)/[\w./-]+)`", page.read_text()):
            assert (ROOT / named).exists(), f"{page.name} names {named}"


def test_the_readme_is_short_and_its_experiment_is_the_shipped_one() -> None:
    from mydyno.lab import spec

    assert len((ROOT / "README.md").read_text().splitlines()) <= 90
    (text,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(text.splitlines()) <= 24
    shown = spec.loads(text, "README.md")
    shipped = spec.load(ROOT / "experiments" / "thread-cache.yaml")
    assert shown.workload == shipped.workload
    assert shown.factors == shipped.factors
    assert shown.setup == shipped.setup
