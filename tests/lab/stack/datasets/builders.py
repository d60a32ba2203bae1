"""Datasets on disk without any server: manifests and a file of data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mydyno.lab.stack.datasets import DatasetManifest, DatasetStore, TableContent
from mydyno.lab.stack.datasets.tables import one_checksum

TABLES = {
    "mydyno.sbtest1": TableContent(rows=10_000, checksum=123456),
    "mydyno.sbtest2": TableContent(rows=10_000, checksum=654321),
}

OLD = {
    "format": 1,
    "fingerprint": "0123456789abcdef",
    "release": "MariaDB 10.11.6",
    "settings": {},
    "contents": {"rows": 20_000, "contents": "c0ffee", "seed": 1},
    "facts": {"tables": {"sbtest1": 10_000, "sbtest2": 10_000}},
    "size_bytes": 1 << 20,
    "seconds": 4.2,
}
"""A manifest as the first format had it."""


def manifest(fingerprint: str, **more: Any) -> DatasetManifest:
    return DatasetManifest.model_validate(
        {
            **OLD,
            "format": 2,
            "fingerprint": fingerprint,
            "workload": "oltp-read-only",
            "tables": TABLES,
            "checksum": one_checksum(TABLES),
            **more,
        }
    )


def put(lab: Path, fingerprint: str, **more: Any) -> Path:
    """A whole dataset in the lab's store."""
    folder = DatasetStore(lab).place(fingerprint)
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "ibdata1").write_bytes(b"pages")
    manifest(fingerprint, **more).write(folder)
    return folder


def put_old(lab: Path) -> Path:
    """A whole dataset of the first format."""
    folder = put(lab, str(OLD["fingerprint"]))
    (folder / "manifest.json").write_text(json.dumps(OLD))
    return folder
