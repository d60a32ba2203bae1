"""tools/changed_tests.py: which tests `make check` runs for which changes."""

from __future__ import annotations

import runpy
import subprocess
from pathlib import Path

import pytest

TOOL = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "changed_tests.py"))
FILES = {
    "tests/lab/plan/test_order.py": "from mydyno.core.units import (\n    Bytes,\n)\n",
    "tests/lab/plan/good/one.yaml": "",
    "tests/lab/stack/test_undo.py": "from mydyno.core import units\n",
    "tests/core/test_units.py": "    from mydyno.core import errors, units\n",
    "tests/core/test_errors.py": "from mydyno.core.errors import LabError\n",
    "tests/cli/test_compare.py": "",
}


@pytest.mark.parametrize(
    ("changed", "wanted"),
    [
        (["src/mydyno/lab/plan/order.py"], ["tests/lab/plan"]),
        (["src/mydyno/lab/plan/deep/a.css"], ["tests/lab/plan"]),
        (["src/mydyno/core/units.py"], ["tests/core", "tests/lab/plan/test_order.py"]),
        (["src/mydyno/page/units.py"], []),
        (["src/mydyno/cli/compare.py"], ["tests/cli/test_compare.py"]),
        (["src/mydyno/cli/load/result.py"], ["tests/cli/test_help.py", "tests/cli/test_main.py"]),
        (["tests/core/test_units.py", "tests/core/test_gone.py"], ["tests/core/test_units.py"]),
        (["tests/lab/plan/good/one.yaml"], ["tests/lab/plan/good"]),
        (["src/mydyno/lab/stack/undo.py", "tests/live/test_kill.py", "README.md"], []),
    ],
)
def test_tests_of_the_same_folder_and_those_that_import_the_module_are_run(
    tmp_path: Path, changed: list[str], wanted: list[str]
) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = TOOL["paths_for"]([Path(name) for name in changed], tmp_path)
    assert [path.as_posix() for path in found] == wanted


def test_a_change_of_rust_code_names_its_package() -> None:
    changed = [
        "crates/digest/src/header.rs",
        "crates/digest/Cargo.toml",
        "crates/engine/src/main.rs",
        "README.md",
    ]
    assert TOOL["crates_of"]([Path(name) for name in changed]) == ["digest", "engine"]


def test_a_change_of_the_lock_file_is_one_of_every_package() -> None:
    assert set(TOOL["crates_of"]([Path("Cargo.lock")])) >= {"agent", "digest", "engine"}


def test_changes_count_from_the_last_tree_that_passed_and_before_that_from_the_main_branch(
    tmp_path: Path,
) -> None:
    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True)

    def changed() -> list[str]:
        return [path.as_posix() for path in TOOL["changed_files"](tmp_path)]

    git("init", "--initial-branch=main")
    (tmp_path / ".gitignore").write_text(".venv\n")
    (tmp_path / "old.py").write_text("1\n")
    git("add", "--all")
    git("commit", "--message=first")
    git("switch", "--create=branch")
    (tmp_path / "committed.py").write_text("2\n")
    git("add", "--all")
    git("commit", "--message=second")
    (tmp_path / "new.py").write_text("3\n")
    assert changed() == ["committed.py", "new.py"]
    passed = tmp_path / TOOL["PASSED"]
    passed.parent.mkdir(parents=True)
    passed.write_text(TOOL["tree"](tmp_path) + "\n")
    assert changed() == []
    (tmp_path / "new.py").write_text("4\n")
    (tmp_path / "old.py").unlink()
    assert changed() == ["new.py", "old.py"]
    passed.write_text("0" * 40 + "\n")
    assert changed() == ["committed.py", "new.py", "old.py"]
