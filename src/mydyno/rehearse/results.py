"""The results of one replay as arrays (docs/reference/replay-results.md)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mydyno.core.errors import LabError

REPLAYED, SKIPPED, LOST = 1, 2, 3
WRITE = 2
ORDER_BY = 2
STATEMENTS, FINGERPRINTS, ERRORS = "statements.npy", "fingerprints.jsonl", "errors.jsonl"
_FIELDS = frozenset(
    [
        "statement",
        "fingerprint",
        "service_us",
        "rows",
        "affected",
        "ordered",
        "unordered",
        "error",
        "warnings",
        "flags",
        "outcome",
        "class",
    ]
)


@dataclass(frozen=True)
class Shape:
    """A fingerprint, as a replay writes it."""

    id: str
    text: str
    example: str
    schema: str | None
    messages: Mapping[int, str]
    """By error number."""


@dataclass(frozen=True)
class Replayed:
    """One trial: `records` has one element for each statement of the trace, in the order of the trace."""

    side: str
    block: int
    records: NDArray[Any]
    shapes: Mapping[int, Shape]

    @cached_property
    def result(self) -> NDArray[np.uint64]:
        """The checksum that counts: with the order of rows where the statement has an ORDER BY."""
        ordered = (self.records["flags"] & ORDER_BY) != 0
        return np.where(ordered, self.records["ordered"], self.records["unordered"])

    @cached_property
    def replayed(self) -> NDArray[np.bool_]:
        return np.asarray(self.records["outcome"] == REPLAYED)

    @cached_property
    def failed(self) -> NDArray[np.bool_]:
        return np.asarray(self.replayed & (self.records["error"] != 0))


def read_replay(folder: Path, side: str, block: int) -> Replayed:
    """Raises LabError when the folder does not hold the results of a replay, whole."""
    try:
        records = np.load(folder / STATEMENTS, mmap_mode="r")
        missing = _FIELDS - set(records.dtype.names or ())
        if missing:
            raise ValueError(f"it has no {', '.join(sorted(missing))}")
        messages: dict[str, dict[int, str]] = {}
        for each in _entries(folder / ERRORS):
            messages.setdefault(each["id"], {})[each["error"]] = each["message"]
        shapes = {
            int(each["id"], 16): _shape(each, messages.get(each["id"], {}))
            for each in _entries(folder / FINGERPRINTS)
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LabError(f"{folder} has no readable results of a replay: {error}") from error
    return Replayed(side, block, records, shapes)


def _entries(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def _shape(entry: Mapping[str, Any], messages: Mapping[int, str]) -> Shape:
    return Shape(entry["id"], entry["text"], entry["example"], entry["schema"], messages)
