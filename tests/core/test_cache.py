from pathlib import Path

import pytest

from mydyno.core.folders import cache_folder


def test_the_cache_is_where_its_variable_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MYDYNO_CACHE", str(tmp_path))
    assert cache_folder("images") == tmp_path / "images"


def test_else_it_is_the_folder_of_mydyno_in_the_users_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("MYDYNO_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder("images") == tmp_path / "mydyno" / "images"


@pytest.mark.parametrize("given", ["", "not/absolute"])
def test_a_users_cache_that_is_not_an_absolute_path_counts_as_not_given(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: str
) -> None:
    monkeypatch.delenv("MYDYNO_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", given)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder("kernels") == tmp_path / ".cache" / "mydyno" / "kernels"
