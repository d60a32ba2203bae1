from pathlib import Path

import pytest

from mydyno.server.releases import ReleaseStore


@pytest.fixture
def store(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> ReleaseStore:
    """The store that mydyno itself would use, empty, in a folder of the test's own."""
    monkeypatch.setenv("MYDYNO_CACHE", str(open_folder / "cache"))
    return ReleaseStore()
