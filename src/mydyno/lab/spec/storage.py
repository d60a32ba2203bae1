"""setup.storage: the disks, and what is built of them: array, file system, mount, I/O scheduler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from mydyno.core.document.base import Section, refuse
from mydyno.core.document.sizes import GIBIBYTE, KIBIBYTE, SizeRule
from mydyno.core.raid import ALLOWED, REDUNDANT, STRIPED, WITH_LAYOUTS, Raid
from mydyno.core.server_files import VOLUMES
from mydyno.lab.spec.array_rules import storage_faults, volume_faults
from mydyno.lab.spec.disks import MOST_DISKS, Disks, without_defaults
from mydyno.lab.spec.volume_values import MountRule, RaidRule, Scheduler, SchedulerRule, SwitchRule, WordsRule

FileSystem = Literal["ext2", "ext3", "ext4", "xfs", "btrfs", "jfs", "reiserfs", "f2fs", "raw"]
MEANINGFUL: dict[str, tuple[Raid, ...]] = {
    "chunk": STRIPED,
    "layout": WITH_LAYOUTS,
    "bitmap": REDUNDANT,
    "consistency_policy": REDUNDANT,
    "initial_sync": REDUNDANT,
}
"""Keys that do not apply to all arrays, and the levels to which they do."""
_LIKE_DATA = ("filesystem", "mkfs", "mount", "scheduler", "readahead", "queue_depth")
_HAVE_DEFAULTS = ("filesystem", "mkfs", "mount")
_DISKS_LIKE_DATA = ("size", "iops", "bandwidth")


class Volume(Section):
    """A named piece of storage: its disks, the array of them, and the file system on it."""

    model_config = ConfigDict(json_schema_extra={"required": []})

    disks: Disks = Field(description="The disks.", examples=[{"count": 4, "size": "2G"}])
    raid: Annotated[Raid, RaidRule()] = Field(
        default="none",
        description=f"The md array of the disks: {ALLOWED}; `none` for one disk, and for "
        "btrfs, which spreads over disks by itself.",
    )
    chunk: Annotated[int, SizeRule(4 * KIBIBYTE, GIBIBYTE, "64K")] | None = Field(
        default=None,
        description="What goes to one disk before the next one's turn, as `64K`: a power of two; for RAID 0 "
        "any multiple of 4K. md's default is 512K. Left out where an array has none (RAID 1, linear).",
    )
    layout: str | None = Field(
        default=None,
        description="md's layout: RAID 5 and 6 `left-symmetric` (default) and others, RAID 10 `n2` "
        "(default), `f2`, `o2` and more copies.",
        examples=["left-symmetric"],
    )
    bitmap: Literal["none", "internal"] | None = Field(
        default=None, description="The write-intent bitmap of an array that has redundancy."
    )
    consistency_policy: Literal["resync", "bitmap", "ppl"] | None = Field(
        default=None, description="What md does about writes that a crash cut short; `ppl` is RAID 5's."
    )
    initial_sync: Literal["assume-clean", "await"] = Field(
        default="assume-clean",
        description="`assume-clean`: the new array is taken as consistent, for all its disks are empty. "
        "`await`: the first synchronisation is waited for.",
    )
    fail: Annotated[int, Field(ge=0, le=MOST_DISKS)] = Field(
        default=0, description="So many disks are failed before the load: how fast is a degraded array?"
    )
    rebuild: Annotated[bool, SwitchRule()] = Field(
        default=False,
        description="With `fail`: those disks come back empty, and the array rebuilds under load.",
    )
    filesystem: FileSystem = Field(
        default="ext4",
        description="`raw` is none at all: InnoDB's tablespace on the block device itself.",
    )
    data_profile: str | None = Field(
        default=None,
        description="btrfs: how its data is spread: single, dup, raid0, raid1, raid10, raid5, raid6...",
    )
    metadata_profile: str | None = Field(default=None, description="btrfs: the same for its metadata.")
    mkfs: Annotated[tuple[str, ...], WordsRule()] = Field(
        default=(),
        description="Further options of mkfs, as `[-O, ^has_journal]`. What fits the file system to the "
        "array (sunit and swidth, stride and stripe width) is worked out.",
    )
    mount: Annotated[tuple[str, ...], MountRule()] = Field(
        default=(), description="Mount options, as `[noatime, data=writeback]` or `noatime,data=writeback`."
    )
    scheduler: Annotated[Scheduler, SchedulerRule()] | None = Field(
        default=None, description="The I/O scheduler of each disk. Default: the kernel's choice."
    )
    readahead: Annotated[int, SizeRule(4 * KIBIBYTE, GIBIBYTE, "128K")] | None = Field(
        default=None,
        description="Read ahead of the volume's device, as `128K`. Default: the kernel's choice.",
    )
    queue_depth: Annotated[int, Field(ge=4, le=65_536)] | None = Field(
        default=None, description="Requests that the queue of each disk holds (nr_requests)."
    )

    @field_validator("chunk", "layout", "bitmap", "consistency_policy", "initial_sync")
    @classmethod
    def _only_where_it_means_something(cls, value: Any, info: ValidationInfo) -> Any:
        """An experiment may vary the level as well; the plan notes where they are left out."""
        name = str(info.field_name)
        idle = info.data.get("raid", 0) not in MEANINGFUL[name]
        return cls.model_fields[name].default if idle else value

    @model_validator(mode="after")
    def _makes_sense(self, info: ValidationInfo) -> Volume:
        faults = () if is_completed_by_levels(info) else tuple(volume_faults(self))
        if faults:
            raise refuse(*faults)
        return self

    @model_serializer(mode="wrap", when_used="json")
    def _given(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without_defaults(self, handler)


class Storage(Section):
    """The volumes of the setup."""

    model_config = ConfigDict(
        json_schema_extra={"allOf": [{"properties": {"data": {"required": ["disks"]}}}]}
    )

    data: Volume = Field(
        description="The volume of the data directory.",
        examples=[{"disks": {"size": "2G"}, "filesystem": "xfs"}],
    )
    log: Volume | None = Field(
        default=None,
        description="A separate volume for the redo log, and for the binary log where that has none. What "
        "it does not say of its disks (size, iops, bandwidth), file system, mount and scheduler is as with "
        "`data`; its array is its own. So with the next three.",
    )
    binlog: Volume | None = Field(default=None, description="A separate volume for the binary log.")
    undo: Volume | None = Field(
        default=None,
        description="A separate volume for InnoDB's undo tablespaces. MySQL before 8.0 and MariaDB before "
        "11.0 have some only in a dataset made with them, and it is.",
    )
    tmp: Volume | None = Field(
        default=None,
        description="A separate volume for temporary files (tmpdir) and InnoDB's temporary tablespaces.",
    )

    @property
    def volumes(self) -> dict[str, Volume]:
        """Those that are there, by name, `data` first."""
        named: dict[str, Volume | None] = {name: getattr(self, name) for name in VOLUMES}
        return {name: volume for name, volume in named.items() if volume is not None}

    @model_validator(mode="after")
    def _makes_sense(self) -> Storage:
        if faults := tuple(storage_faults(self)):
            raise refuse(*faults)
        return self

    @model_validator(mode="before")
    @classmethod
    def _like_data(cls, raw: Any) -> Any:
        others = [name for name in VOLUMES[1:] if isinstance(raw, dict) and isinstance(raw.get(name), dict)]
        if not others:
            return raw
        try:
            data = Volume.model_validate(raw.get("data")).model_dump(mode="json")
        except ValidationError:
            # A fault of data is reported once: the others are looked at with disks that are right.
            data = {"disks": {"size": "256T"}}
        return {**raw, **{name: _completed(raw[name], data) for name in others}}

    @model_serializer(mode="wrap", when_used="json")
    def _given(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        given = {key: value for key, value in handler(self).items() if value is not None}
        for name in self.volumes.keys() - {"data"}:
            # A default, where data has another value, has to be written, or that would be taken over.
            own = {key: getattr(self.volumes[name], key) for key in _HAVE_DEFAULTS if key in given["data"]}
            plain = {key: list(value) if isinstance(value, tuple) else value for key, value in own.items()}
            given[name] = plain | given[name]
        return given


def is_completed_by_levels(info: ValidationInfo) -> bool:
    """Whether this is an experiment's own section, which no trial sees without the levels of its factors."""
    return bool(info.context and info.context.get("factors"))


def _completed(volume: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """A volume with what it takes over from the data volume."""
    taken = {key: data[key] for key in _LIKE_DATA if key in data and data[key] != "raw"}
    if volume.get("filesystem", taken.get("filesystem")) != taken.get("filesystem"):
        taken = {key: value for key, value in taken.items() if key not in ("filesystem", "mkfs", "mount")}
    disks = volume.get("disks", {})
    if isinstance(disks, dict) and "devices" not in disks:
        disks = {key: data["disks"][key] for key in _DISKS_LIKE_DATA if key in data["disks"]} | disks
    return {**taken, **volume, "disks": disks}
