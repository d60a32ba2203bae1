from collections.abc import Iterator
from pathlib import Path

import pytest
from lab.stack.builders import folder_for_servers


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that the servers' user may enter, which pytest's own is not when root runs the tests."""
    yield from folder_for_servers()
