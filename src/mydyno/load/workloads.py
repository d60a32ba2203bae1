"""The built-in workloads by the names that the command line uses, as the engine takes them."""

from __future__ import annotations

from typing import Any

SMACK = {"smack-select-key": "select-key", "smack-update-select": "update-select"}
SYSBENCH = {
    "oltp-point-select": "oltp_point_select",
    "oltp-read-only": "oltp_read_only",
    "oltp-read-write": "oltp_read_write",
    "oltp-write-only": "oltp_write_only",
}
NAMES = (*SMACK, *SYSBENCH)


def named(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """The engine's `workload` object for a built-in name. Raises KeyError for any other name."""
    if name in SMACK:
        return {"smack": {"scenario": SMACK[name], **options}}
    return {"sysbench": {"script": SYSBENCH[name], **options}}


def kind(name: str) -> str:
    """`smack` or `sysbench`: which family's options apply."""
    return "smack" if name in SMACK else "sysbench"
