"""One Chromium for all tests of the page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lab.report.browser import Browser, browser


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Each page that is opened in it is a new one; the test is skipped where no Chromium runs."""
    with browser() as running:
        yield running
