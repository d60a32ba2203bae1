"""setup.cache: how warm the caches are when the load begins."""

from __future__ import annotations

from typing import Literal

Cache = Literal["as-cloned", "cold", "scan", "dump"]

AS_CLONED: Cache = "as-cloned"

READING: tuple[Cache, ...] = ("scan", "dump")
"""Those that fill the buffer pool with the tables of the dataset."""
