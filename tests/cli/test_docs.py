import re
import runpy
from pathlib import Path

from mydyno.cli.main import app
from mydyno.core.errors import ExitCode

ROOT = Path(__file__).parents[2]


def test_the_documented_command_line_is_the_real_one() -> None:
    document = runpy.run_path(str(ROOT / "tools" / "document_cli.py"))["document"]
    assert (ROOT / "docs" / "cli.md").read_text() == document(), "run: make docs"


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
