"""btrfs's own way to spread over disks, read back: pure. It is never called an array of md."""

from __future__ import annotations

import re
from collections.abc import Mapping


def parse_profiles(text: str) -> dict[str, str]:
    """`btrfs filesystem df`: `Data, RAID10: total=...` -> `data profile` is `raid10`."""
    rows = re.findall(r"^(Data|Metadata), (\w+):", text, re.MULTILINE)
    return {f"{kind.lower()} profile": profile.lower() for kind, profile in rows}


def profile_differences(wanted: Mapping[str, str | None], shown: Mapping[str, str]) -> list[str]:
    """Profiles that are not as configured, a clause each; None: not configured."""
    return [
        f"its {kind} is {shown.get(kind, 'not shown')}, not {profile}"
        for kind, profile in wanted.items()
        if profile is not None and shown.get(kind) != profile
    ]
