"""Frozen datasets: what is known of one, where they are kept, and whether one is still what it was."""

from mydyno.lab.stack.datasets.manifest import DatasetManifest, TableContent
from mydyno.lab.stack.datasets.store import DatasetEntry, DatasetStore

__all__ = ["DatasetEntry", "DatasetManifest", "DatasetStore", "TableContent"]
