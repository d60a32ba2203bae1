"""The check of `make lint` that finds files of a crate that use each other in a circle."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "check_crates.py"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_crates", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["check_crates"] = module
    spec.loader.exec_module(module)
    return module


def crate(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        place = folder / f"{name.replace('__', '/')}.rs"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return folder


def test_files_that_use_each_other_by_way_of_a_third_are_a_circle(tool: ModuleType, tmp_path: Path) -> None:
    source = crate(
        tmp_path,
        lib="pub mod a;\npub mod b;\npub mod c;\n",
        a="use crate::{b::{B, other as else_}, c};\n",
        b="pub struct B;\nfn f() { crate::c::g() }\n",
        c="use super::a::A;\n",
    )
    (circle, *_) = tool.circles(source)
    assert set(circle) <= {"a.rs", "b.rs", "c.rs"}
    assert circle[0] == circle[-1]


def test_a_re_export_leads_to_the_file_that_defines_the_name(tool: ModuleType, tmp_path: Path) -> None:
    lib = "mod parts;\n"
    parts = "mod one;\nmod two;\npub use two::Two as Second;\n"
    one = "use super::Second;\n"
    assert (
        list(tool.circles(crate(tmp_path / "a", lib=lib, parts__mod=parts, parts__one=one, parts__two="")))
        == []
    )
    two = "use super::one::One;\n"
    found = list(
        tool.circles(crate(tmp_path / "b", lib=lib, parts__mod=parts, parts__one=one, parts__two=two))
    )
    assert [sorted(set(circle)) for circle in found] == [["parts/one.rs", "parts/two.rs"]]


def test_tests_comments_and_a_module_with_its_own_parts_are_no_circle(
    tool: ModuleType, tmp_path: Path
) -> None:
    tests = "#[cfg(test)]\nmod tests {\n    use crate::b::B;\n}\n"
    source = crate(
        tmp_path,
        lib="mod a;\nmod b;\n",
        a="mod part;\nuse part::Part;\n// use crate::b::B;\n" + tests,
        a__part="use super::A;\n",
        b="use crate::a::A;\n",
    )
    assert list(tool.circles(source)) == []


def test_the_crates_have_none(tool: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert tool.main() == 0
    assert capsys.readouterr().out == "no circles of files in the crates\n"
