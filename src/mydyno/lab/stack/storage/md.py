"""The output of md and mdadm as values; and mdadm's command lines."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mydyno.core.raid import RAID_LEVELS, REDUNDANT, STRIPED
from mydyno.core.units import parse_bytes
from mydyno.lab.spec.arrays import Array as Shape
from mydyno.lab.spec.arrays import layout_shown


@dataclass(frozen=True)
class Member:
    """One line of the table that ends `mdadm --detail`."""

    device: str
    """Empty for a place that no disk fills."""
    state: str
    """`active sync`, `faulty`, `spare rebuilding`, `removed`..."""

    @property
    def in_sync(self) -> bool:
        return self.state.startswith("active sync")


@dataclass(frozen=True)
class Detail:
    """`mdadm --detail`: what the kernel has, as its own words."""

    level: str
    state: tuple[str, ...]
    """`clean`, `active`, `degraded`, `recovering`, `resyncing`..."""
    layout: str | None
    chunk: int | None
    """Bytes; None for a level without stripes."""
    policy: str | None
    """`resync`, `bitmap`, `ppl`, `none`."""
    members: tuple[Member, ...]
    progress: str | None
    """`12% complete` while it is rebuilt or synchronised."""


def create_command(
    device: str,
    shape: Shape,
    members: Sequence[str],
    *,
    bitmap: str | None,
    policy: str | None,
    assume_clean: bool,
) -> list[str]:
    """The command line of mdadm for an array.

    RAID 0 and linear have nothing to be clean and no bitmap, and mdadm refuses their options; one disk
    needs --force; the others get the bitmap as an option, since mdadm by itself gives one to large arrays.
    """
    argv = ["mdadm", "--create", device, "--run", "--metadata=1.2", "--homehost=none"]
    argv += [f"--level={shape.raid}", f"--raid-devices={len(members)}"]
    if shape.chunk is not None and shape.raid in STRIPED:
        argv.append(f"--chunk={shape.chunk // 1024}K")
    if shape.layout is not None:
        argv.append(f"--layout={shape.layout}")
    if shape.raid in REDUNDANT:
        internal = policy_wanted(shape, bitmap, policy) == "bitmap"
        argv.append(f"--bitmap={'internal' if internal else 'none'}")
        if policy is not None:
            argv.append(f"--consistency-policy={policy}")
        if assume_clean:
            argv.append("--assume-clean")
    if len(members) == 1:
        argv.append("--force")
    return [*argv, *members]


def parse_detail(text: str) -> Detail:
    """Reads `mdadm --detail`."""
    values = {
        match[1]: match[2].strip() for match in re.finditer(r"^ *([A-Z][\w -]*?) : (.*)$", text, re.MULTILINE)
    }
    chunk = values.get("Chunk Size")
    return Detail(
        level=values.get("Raid Level", ""),
        state=tuple(word.strip() for word in values.get("State", "").split(",") if word.strip()),
        layout=values.get("Layout"),
        chunk=parse_bytes(chunk) if chunk else None,
        policy=values.get("Consistency Policy"),
        members=tuple(_members(text)),
        progress=values.get("Rebuild Status") or values.get("Resync Status"),
    )


def _members(text: str) -> list[Member]:
    """The table below `Number Major Minor RaidDevice State`."""
    rows = re.finditer(
        r"^ +(?:\d+|-) +\d+ +\d+ +(?:\d+|-) +([a-z][^/\n]*?)(?: +(/\S+))?\s*$", text, re.MULTILINE
    )
    return [Member(row[2] or "", row[1].strip()) for row in rows]


def policy_wanted(shape: Shape, bitmap: str | None, policy: str | None) -> str | None:
    """How the copies are kept consistent, in md's word; None for an array without any."""
    if shape.raid not in REDUNDANT:
        return None
    return policy or ("bitmap" if bitmap == "internal" else "resync")


def differences(shape: Shape, policy: str | None, detail: Detail, members: Sequence[str]) -> list[str]:
    """Where the array is not as configured, a clause each; `policy` as of `policy_wanted`."""
    differing = []
    level = RAID_LEVELS[shape.raid].md_name
    if detail.level != level:
        differing.append(f"its level is {detail.level}, not {level}")
    if shape.chunk is not None and shape.raid in STRIPED and detail.chunk != shape.chunk:
        differing.append(f"its chunk is {detail.chunk} bytes, not {shape.chunk}")
    layout = layout_shown(shape)
    if layout is not None and detail.layout != layout:
        differing.append(f"its layout is {detail.layout}, not {layout}")
    if policy is not None and detail.policy != policy:
        differing.append(f"its consistency policy is {detail.policy}, not {policy}")
    active = sorted(member.device for member in detail.members if member.in_sync)
    if active != sorted(members):
        differing.append(
            f"its active members are {', '.join(active) or 'none'}, not {', '.join(sorted(members))}"
        )
    unwell = [word for word in detail.state if word not in ("clean", "active")]
    if unwell:
        differing.append(f"it is {', '.join(unwell)}")
    return differing


def sync_progress(mdstat: str, name: str) -> str | None:
    """How far the array `name` is with its (first) synchronisation, as /proc/mdstat says; None: at rest."""
    match = re.search(rf"^{re.escape(name)} : .*\n((?: .*\n?)*)", mdstat, re.MULTILINE)
    for line in (match[1] if match else "").splitlines():
        moving = re.search(r"(?:resync|recovery|reshape|check)\s*=\s*.*", line)
        if moving:
            return " ".join(moving[0].split())
    return None


def summary(detail: Detail, device: str) -> Mapping[str, str]:
    """What of an array belongs into results."""
    described = {
        "array": f"md {detail.level} of {len(detail.members)} ({device})",
        "array state": ", ".join(detail.state),
    }
    if detail.chunk is not None:
        described["chunk"] = f"{detail.chunk // 1024}K"
    if detail.layout not in (None, "-unknown-"):
        described["layout"] = str(detail.layout)
    if detail.policy not in (None, "none"):
        described["consistency policy"] = str(detail.policy)
    return described
