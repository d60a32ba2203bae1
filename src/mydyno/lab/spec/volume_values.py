"""Values of a volume as administrators write them: RAID levels, mount options, schedulers, yes and no."""

import re
import shlex
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic.json_schema import JsonSchemaValue

from mydyno.core.document.base import Fault, refuse
from mydyno.core.document.quantities import Rule
from mydyno.core.nearest import nearest
from mydyno.core.raid import Raid

RAIDS: tuple[Raid, ...] = ("none", "linear", 0, 1, 4, 5, 6, 10)
Scheduler = Literal["none", "mq-deadline", "kyber", "bfq"]
SCHEDULERS: tuple[Scheduler, ...] = ("none", "mq-deadline", "kyber", "bfq")
OLD_SCHEDULERS: dict[str, Scheduler] = {
    "noop": "none", "deadline": "mq-deadline", "cfq": "bfq", "anticipatory": "mq-deadline"
}  # fmt: skip
"""Schedulers of kernels before 5.0, which took the single-queue block layer out, and what took their place
(Linux, Documentation/block/switching-sched.rst)."""

_RAID_WORDS = {
    "stripe": "0",
    "striped": "0",
    "mirror": "1",
    "mirrored": "1",
    "jbod": "linear",
    "single": "none",
}
_ONLY_IN_FSTAB = {
    "nobootwait": "nofail", "defaults": None, "auto": None, "noauto": None, "user": None, "users": None,
    "nouser": None, "owner": None, "group": None, "nofail": None, "_netdev": None, "bootwait": None,
}  # fmt: skip
_OPTION = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*(=[^\s,=]+)?")


@dataclass(frozen=True)
class RaidRule(Rule):
    """A level of md, as a number or as text; `none` for a single disk without an array."""

    schema: ClassVar[JsonSchemaValue] = {"enum": [*RAIDS, "0", "1", "4", "5", "6", "10"]}

    def read(self, raw: Any) -> Raid:
        for level in RAIDS:
            if type(raw) in (str, int) and str(raw).strip() == str(level):
                return level
        raise refuse(Fault("unknown RAID level", ", ".join(map(str, RAIDS)), _likely_level(raw)))


def _likely_level(raw: Any) -> str | None:
    text = raw.lower().strip() if isinstance(raw, str) else ""
    number = re.fullmatch(r"(?:raid|r|level)?[\s_-]*(\d+)", text)
    if number:
        return number[1] if number[1] in map(str, RAIDS) else None
    if text in ("0+1", "1+0", "raid0+1", "raid1+0", "raid 0+1", "raid 1+0"):
        return "10"
    return _RAID_WORDS.get(text) or nearest(text, ("none", "linear"))


@dataclass(frozen=True)
class SchedulerRule(Rule):
    """An I/O scheduler of blk-mq. Names of older kernels are translated; the plan says so."""

    schema: ClassVar[JsonSchemaValue] = {"enum": [*SCHEDULERS, *OLD_SCHEDULERS]}

    def read(self, raw: Any) -> Scheduler:
        if raw in SCHEDULERS:
            return SCHEDULERS[SCHEDULERS.index(raw)]
        if isinstance(raw, str) and raw in OLD_SCHEDULERS:
            return OLD_SCHEDULERS[raw]
        close = nearest(raw, (*SCHEDULERS, *OLD_SCHEDULERS)) if isinstance(raw, str) else None
        raise refuse(Fault("unknown I/O scheduler", ", ".join(SCHEDULERS), close))


@dataclass(frozen=True)
class SwitchRule(Rule):
    """`yes` and `no`, which YAML 1.2 reads as words, as well as `true` and `false`."""

    schema: ClassVar[JsonSchemaValue] = {"enum": [True, False, "yes", "no"]}

    def read(self, raw: Any) -> bool:
        if isinstance(raw, bool):
            return raw
        if raw in ("yes", "no"):
            return bool(raw == "yes")
        close = {"on": "yes", "off": "no", "y": "yes", "n": "no", "1": "yes", "0": "no"}
        raise refuse(Fault("is neither yes nor no", "yes or no", close.get(str(raw).lower())))


@dataclass(frozen=True)
class MountRule(Rule):
    """Mount options, as a list or as one text with commas, the way they stand in fstab."""

    schema: ClassVar[JsonSchemaValue] = {
        "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]
    }

    def read(self, raw: Any) -> tuple[str, ...]:
        if not isinstance(raw, str | list | tuple):
            raise refuse(Fault("is not a list of mount options", "as [noatime, data=writeback]"))
        options = [option.strip() for option in raw.split(",")] if isinstance(raw, str) else list(raw)
        faults = [
            fault
            for index, option in enumerate(options)
            if (fault := _mount_fault(option, () if isinstance(raw, str) else (index,), options[:index]))
        ]
        if faults:
            raise refuse(*faults)
        return tuple(options)

    def write(self, value: tuple[str, ...]) -> list[str]:
        return list(value)


def _mount_fault(option: Any, at: tuple[int, ...], before: list[Any]) -> Fault | None:
    allowed = "options as mount(8) takes them after -o, as noatime or data=writeback"
    if not isinstance(option, str) or not _OPTION.fullmatch(option):
        return Fault(f"has {option!r}, which is not a mount option", allowed, at=at)
    if option in before:
        return Fault(f"has {option} twice", "each option once", at=at)
    if option in _ONLY_IN_FSTAB or option.startswith("x-"):
        instead = _ONLY_IN_FSTAB.get(option)
        today = f" (today's name there is {instead})" if instead else ""
        return Fault(f"has {option}, which is for fstab{today}: no kernel takes it", allowed, at=at)
    if option in ("ro", "loop", "bind", "remount", "move") or option.startswith("loop="):
        return Fault(
            f"has {option}, but mydyno mounts the volume's own device to write on it", allowed, at=at
        )
    return None


@dataclass(frozen=True)
class WordsRule(Rule):
    """Options of a program, as a list or as one text, split as a shell would. None may name a device."""

    schema: ClassVar[JsonSchemaValue] = {
        "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": ["string", "number"]}}]
    }

    def read(self, raw: Any) -> tuple[str, ...]:
        allowed = "options of mkfs, as [-O, ^has_journal] or -O ^has_journal"
        if isinstance(raw, str):
            try:
                words: list[Any] = shlex.split(raw)
            except ValueError:
                raise refuse(Fault("has a quote that is not closed", allowed)) from None
        elif isinstance(raw, list | tuple) and all(type(word) in (str, int) for word in raw):
            words = [str(word) for word in raw]
        else:
            raise refuse(Fault("is not a list of options", allowed))
        for word in words:
            if "/dev/" in word or not word or not word.isprintable():
                raise refuse(Fault(f"has {word!r}: mydyno itself says which device is formatted", allowed))
        return tuple(words)

    def write(self, value: tuple[str, ...]) -> list[str]:
        return list(value)
