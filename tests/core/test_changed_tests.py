"""tools/changed_tests.py: which tests `make check` runs for which changes."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

TOOL = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "changed_tests.py"))
FILES = {
    "tests/lab/plan/test_order.py": "from mydyno.core.units import (\n    Bytes,\n)\n",
    "tests/lab/plan/good/one.yaml": "",
    "tests/lab/stack/test_undo.py": "from mydyno.core import units\n",
    "tests/core/test_units.py": "    from mydyno.core import errors, units\n",
    "tests/core/test_errors.py": "from mydyno.core.errors import LabError\n",
}


@pytest.mark.parametrize(
    ("changed", "wanted"),
    [
        (["src/mydyno/lab/plan/order.py"], ["tests/lab/plan"]),
        (["src/mydyno/lab/plan/deep/a.css"], ["tests/lab/plan"]),
        (["src/mydyno/core/units.py"], ["tests/core", "tests/lab/plan/test_order.py"]),
        (["src/mydyno/page/units.py"], []),
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
