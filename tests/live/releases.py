"""Releases that tests run on: what is not in the cache is fetched, or the test is skipped, aloud."""

from __future__ import annotations

import pytest

from mydyno.core.errors import HostError, MissingToolError
from mydyno.server.releases import KNOWN, Installed, ReleaseStore, install

SMALL = "mysql-5.7"
"""The one that is fetched in seconds: 11 MB."""


def release(name: str) -> Installed:
    """One that can be had, from this machine's cache or fetched into it."""
    try:
        return install(ReleaseStore(), name, KNOWN[name].provider, print)
    except (HostError, MissingToolError) as error:
        pytest.skip(f"{name} cannot be had here: {error}")
