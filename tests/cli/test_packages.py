"""What is built for others: the version, the requirements, the source archive and the wheel."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mydyno import __version__
from mydyno.cli.experiment_files import shipped
from mydyno.lab.load.engine import engine_version
from mydyno.lab.workload import builtin_names
from mydyno.machine.programs import find_program

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
RUST_TOOLS = ("cargo", "rustc", "rustup", "cc", "gcc", "clang")
MOST_ENGINE_BYTES = 8 * 2**20
NEEDED = (
    *(f"mydyno/experiments/{name}.yaml" for name in shipped()),
    "mydyno/experiments/imports/sql-bench-2005.csv",
    *(f"mydyno/lab/workload/builtin/{name}.yaml" for name in builtin_names()),
    "mydyno/lab/workload/smack/select-key.smack",
    "mydyno/advisor/rules/kernel/swappiness.py",
    "mydyno/server/variables/variables.toml",
    "mydyno/py.typed",
)


def _templates() -> list[str]:
    package = ROOT / "src" / "mydyno"
    folders = ("page/templates", "serve/templates", "serve/static")
    files = [path for folder in folders for path in (package / folder).iterdir() if path.is_file()]
    return [f"mydyno/{path.relative_to(package)}" for path in files]


def _setup(folder: Path, *words: str) -> None:
    command = [sys.executable, "setup.py", "--quiet", "egg_info", "--egg-base", str(folder), *words]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)


def test_the_version_comes_from_the_cargo_workspace() -> None:
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
    assert __version__ == workspace["package"]["version"]
    assert engine_version() == __version__
    agent = subprocess.run(
        [find_program("mydyno-agent"), "--version"], text=True, capture_output=True, check=True
    )
    assert agent.stdout == f"mydyno-agent {__version__}\n"
    assert "version" in PROJECT["project"]["dynamic"]
    for crate in workspace["members"]:
        assert tomllib.loads((ROOT / crate / "Cargo.toml").read_text())["package"]["version"] == {
            "workspace": True
        }


def test_the_newest_release_in_the_changelog_is_this_version() -> None:
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert re.fullmatch(rf"{re.escape(__version__)} \(\d{{4}}-\d\d-\d\d\)", headings[1])


def test_every_requirement_has_a_range_that_holds_the_pinned_release() -> None:
    lines = (ROOT / "requirements" / "runtime.in").read_text().splitlines()
    pinned = dict(
        re.findall(r"^([\w.-]+)==([\d.]+)", (ROOT / "requirements" / "runtime.txt").read_text(), re.MULTILINE)
    )
    for line in (line for line in lines if not line.startswith("#")):
        match = re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?>=([\d.]+),<(\d+)", line)
        assert match is not None, f"{line} is no range"
        name, low, high = match.groups()
        assert _numbers(low) <= _numbers(pinned[name.replace(".", "-")]) < _numbers(high), line


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.strip(".").split("."))


def test_the_package_has_everything_that_it_reads_and_the_manual_page(tmp_path: Path) -> None:
    _setup(
        tmp_path,
        "build_py",
        "--build-lib",
        str(tmp_path / "lib"),
        "install_data",
        "-d",
        str(tmp_path / "data"),
    )
    built = {str(path.relative_to(tmp_path / "lib")) for path in (tmp_path / "lib").rglob("*")}
    assert set(NEEDED) | set(_templates()) <= built
    sources = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src" / "mydyno").rglob("*.py")}
    assert sources <= built
    assert (tmp_path / "data" / "share" / "man" / "man1" / "mydyno.1").is_file()


def test_the_wheel_has_both_programs_and_they_are_static() -> None:
    programs = {each["target"]: each["args"] for each in PROJECT["tool"]["setuptools-rust"]["bins"]}
    assert set(programs) == {"mydyno-engine", "mydyno-agent"}
    for arguments in programs.values():
        assert "--locked" in arguments
        assert any("+crt-static" in argument for argument in arguments)
    for program in programs:
        shown = subprocess.run(["ldd", find_program(program)], text=True, capture_output=True, check=False)
        assert "=>" not in shown.stdout, f"{program} is not static"


def test_the_engine_is_one_static_binary_of_a_few_megabytes() -> None:
    program = Path(find_program("mydyno-engine"))
    assert program.stat().st_size < MOST_ENGINE_BYTES
    sections = subprocess.run(
        ["readelf", "--dynamic", "--program-headers", program], text=True, capture_output=True, check=True
    ).stdout
    assert "(NEEDED)" not in sections
    assert "INTERP" not in sections, "no dynamic linker"


def test_the_source_archive_has_what_building_it_needs(tmp_path: Path) -> None:
    _setup(tmp_path, "sdist", "--dist-dir", str(tmp_path))
    with tarfile.open(tmp_path / f"mydyno-{__version__}.tar.gz") as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
        links = [member.name for member in archive.getmembers() if member.issym() or member.islnk()]
    assert links == []
    assert {f"src/{name}" for name in (*NEEDED, *_templates())} <= names
    rust = {str(path.relative_to(ROOT)) for path in (ROOT / "crates").rglob("src/**/*.rs")}
    assert rust <= names
    needed = {"Cargo.toml", "Cargo.lock", "setup.py", "pyproject.toml", "LICENSE", "CHANGELOG.md"}
    assert needed | {"requirements/runtime.in", "docs/reference/mydyno.1"} <= names


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """One that the server's user can enter, unlike those of pytest: the programs of PATH are there."""
    with tempfile.TemporaryDirectory(prefix="mydyno-wheel-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.slow
@pytest.mark.live
@pytest.mark.timeout(3600)
def test_the_wheel_runs_the_toy_demo_in_a_fresh_environment_without_rust(open_folder: Path) -> None:
    subprocess.run([ROOT / "tools" / "dist.sh"], check=True)
    (wheel,) = (ROOT / "dist").glob("*.whl")
    assert wheel.name.startswith(f"mydyno-{__version__}-py3-none-linux_")
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
    data = f"mydyno-{__version__}.data"
    programs = {f"{data}/scripts/mydyno-engine", f"{data}/scripts/mydyno-agent"}
    assert programs | {f"{data}/data/share/man/man1/mydyno.1", *NEEDED, *_templates()} <= names
    environment = open_folder / "environment"
    variables = {**os.environ, "PATH": _path_without_rust(open_folder / "bin"), "HOME": str(open_folder)}
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    pip = [
        environment / "bin" / "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--only-binary",
        ":all:",
    ]
    subprocess.run([*pip, wheel], check=True, env=variables)
    work = open_folder / "work"
    work.mkdir()
    run = [environment / "bin" / "mydyno", "run", "thread-cache", "--size", "toy"]
    done = subprocess.run(run, cwd=work, env=variables, text=True, capture_output=True, check=False)
    assert done.returncode in (0, 7), done.stderr  # 7: a trial is invalid where the machine is busy.
    assert list((work / "lab").rglob("report.html"))
    page = environment / "share" / "man" / "man1" / "mydyno.1"
    assert page.is_file()


def _path_without_rust(folder: Path) -> str:
    """A folder with links to every program of PATH but those that compile."""
    folder.mkdir()
    for place in [*os.environ["PATH"].split(os.pathsep), "/usr/sbin", "/sbin"]:
        for program in Path(place).glob("*"):
            if program.name not in (*RUST_TOOLS, "mydyno", "mydyno-engine", "mydyno-agent"):
                link = folder / program.name
                if not link.is_symlink():
                    link.symlink_to(program)
    assert shutil.which("cargo", path=str(folder)) is None
    return str(folder)
