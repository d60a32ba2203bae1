"""The disks of a volume: virtual ones, which are sparse files, or real ones."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from mydyno.core.document.base import Fault, Section, clash, refuse
from mydyno.core.document.sizes import MEBIBYTE, TEBIBYTE, BandwidthRule, SizeRule
from mydyno.lab.spec.volume_values import SwitchRule

MOST_DISKS = 64
_LARGEST_SIZE = 256 * TEBIBYTE
_STABLE = ("/dev/disk/by-id/", "/dev/disk/by-path/", "/dev/disk/by-partuuid/")
"""Names that stay after a reboot. A label or UUID of a file system goes with what is written."""


def _stable(path: str) -> str:
    if not path.startswith(_STABLE):
        raise refuse(
            Fault("is not a stable disk name", "a link of /dev/disk/by-id, which names the disk itself")
        )
    return path


def _listed(raw: Any) -> Any:
    """A list of a file as the tuple of a frozen section."""
    return tuple(raw) if isinstance(raw, list) else raw


class Device(Section):
    """A real block device."""

    id: Annotated[str, AfterValidator(_stable)] = Field(
        description="Its stable name: a link below /dev/disk/by-id (`ls -l /dev/disk/by-id`).",
        json_schema_extra={"pattern": "^/dev/disk/by-(id|path|partuuid)/"},
        examples=["/dev/disk/by-id/nvme-MAKER_MODEL_SERIAL"],
    )
    serial: Annotated[str, Field(min_length=1)] | None = Field(
        default=None,
        description="Its serial number (`lsblk -o NAME,SERIAL`). Needed with `wipe: yes`; another disk under "
        "this name is refused.",
    )

    @model_serializer(mode="wrap", when_used="json")
    def _given(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {key: value for key, value in handler(self).items() if value is not None}


class Disks(Section):
    """The disks of one volume: virtual ones, all alike, or real ones."""

    model_config = ConfigDict(
        json_schema_extra={
            "not": {"required": ["devices"], "anyOf": [{"required": ["count"]}, {"required": ["size"]}]}
        }
    )

    count: Annotated[int, Field(ge=1, le=MOST_DISKS)] = Field(default=1, description="How many.")
    size: Annotated[int, SizeRule(16 * MEBIBYTE, _LARGEST_SIZE)] = Field(
        default=0,
        description="Of each one, as `2G`. They are sparse files and take what is written to them.",
    )
    iops: Annotated[int, Field(ge=1, le=10_000_000)] | None = Field(
        default=None,
        description="Reads and writes that each one does in a second: a disk of 7,200 rpm does about 100, a "
        "cloud disk what is paid for. Default: as many as the machine can.",
    )
    bandwidth: Annotated[int, BandwidthRule()] | None = Field(
        default=None,
        description="Bytes that each one moves in a second. Default: as many as the machine can.",
    )
    devices: Annotated[tuple[Device, ...], BeforeValidator(_listed)] = Field(
        default=(),
        description="Real disks of the machine, `{id: /dev/disk/by-id/NAME, serial: TEXT}` each, in the "
        "place of count and size.",
    )
    wipe: Annotated[bool, SwitchRule()] = Field(
        default=False,
        description="Real disks: `yes` builds on a disk that carries something, and destroys it. Without it "
        "a disk with any signature is refused.",
    )

    @classmethod
    def faults(cls, raw: Mapping[str, Any]) -> Iterable[Fault]:
        devices = raw.get("devices")
        if not devices:
            if raw.get("size") is None:
                advice = "for example size: 2G"
                yield Fault("size is missing", advice, at_key=True, show_value=False, whole=True)
            if raw.get("wipe") in (True, "yes"):
                yield clash("wipe", "wipe is given, but only real disks (devices) carry anything", "no wipe")
            return
        for key in ("count", "size"):
            if raw.get(key) is not None:
                yield clash(key, f"{key} is given, but devices names real disks", "one of them")
        seen: set[Any] = set()
        for index, device in enumerate(devices if isinstance(devices, list) else ()):
            if not isinstance(device, Mapping):
                continue
            name = str(device.get("id"))
            if name in seen:
                spot = ("devices", index, "id")
                yield Fault("the disk is given twice", "each disk once", at=spot, whole=True)
            seen.add(name)
            if raw.get("wipe") in (True, "yes") and not device.get("serial"):
                message = "wipe destroys what is on this disk, so its serial number is needed here too"
                allowed = "serial: TEXT, as lsblk -o NAME,SERIAL shows it"
                yield Fault(message, allowed, at=("devices", index), show_value=False, whole=True)

    @property
    def number(self) -> int:
        """How many disks there are, real or virtual."""
        return len(self.devices) or self.count

    @model_serializer(mode="wrap", when_used="json")
    def _given(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without_defaults(self, handler)


def without_defaults(section: Section, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
    """What differs from the defaults: a plan reads as the file does."""
    fields = type(section).model_fields
    return {
        key: value for key, value in handler(section).items() if getattr(section, key) != fields[key].default
    }
