"""Labs that are served, and one Chromium for all tests of the pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from lab.report.conftest import chromium  # noqa: F401 - a fixture

from mydyno.lab.results.store import Lab
from serve.made import make_run
from serve.site import Site, site


@pytest.fixture(scope="session")
def three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lab with two finished runs of one experiment and one that was broken off."""
    path = tmp_path_factory.mktemp("three") / "lab"
    with Lab.open(path, write=True) as lab:
        make_run(lab, 0, 8, 8)
        make_run(lab, 7, 8, 8, invalid=(3,), text="the client was saturated")
        make_run(lab, 2, 8, 5)
    return path


@pytest.fixture(scope="session")
def served(three: Path) -> Iterator[Site]:
    with site(three) as made:
        yield made
