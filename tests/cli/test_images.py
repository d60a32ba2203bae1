"""`mydyno images remove` on kernels of User-Mode Linux, which `images list` shows as `uml 6.1`."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from mydyno.cli.main import app
from mydyno.core.errors import UsageError


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MYDYNO_CACHE", str(tmp_path))
    for version in ("5.10", "6.1"):
        (tmp_path / "uml" / version).mkdir(parents=True)
        (tmp_path / "uml" / version / "linux.uml").write_bytes(b"kernel")
    return tmp_path / "uml"


@pytest.mark.parametrize("names", [["uml 6.1"], ["uml", "6.1"]])
def test_a_uml_kernel_is_removed_by_the_name_that_the_list_shows(kernels: Path, names: list[str]) -> None:
    done = CliRunner().invoke(app, ["images", "remove", *names])
    assert (done.exit_code, done.stdout) == (0, "removed uml 6.1\n")
    assert [path.name for path in kernels.iterdir()] == ["5.10"]


def test_every_image_takes_the_uml_kernels_along(kernels: Path) -> None:
    done = CliRunner().invoke(app, ["images", "remove", "--all"])
    assert done.stdout == "removed uml 5.10\nremoved uml 6.1\n"
    assert list(kernels.iterdir()) == []


def test_a_kernel_that_is_not_there_is_reported_with_those_that_are(kernels: Path) -> None:
    done = CliRunner().invoke(app, ["images", "remove", "uml", "6.2"])
    assert isinstance(done.exception, UsageError)
    assert str(done.exception) == "there is no image uml 6.2\n  hint: built: uml 5.10, uml 6.1"
