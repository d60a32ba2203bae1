"""One step that a finding recommends, as data: what `apply` carries out and `prove` measures."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from mydyno.core.record import Record


class SetVariable(Record):
    """A server variable: in an option file of mydyno's own, and at once where the server takes it."""

    kind: Literal["server variable"] = "server variable"
    name: str
    """In this release's own name."""
    value: str
    """As an option file takes it: `1G`, `ON`, `O_DIRECT`."""
    was: str | None
    """In force when the facts were read; None: not known."""
    restart: bool
    """Whether only a restart brings it."""

    @property
    def target(self) -> str:
        return f"variable {self.name}"

    def sentence(self) -> str:
        return f"{self.name} = {self.value}" + (f" (now {self.was})" if self.was is not None else "")


class RemoveVariable(Record):
    """A line of an option file that should go: ignored, deprecated, or refused by the next release."""

    kind: Literal["remove server variable"] = "remove server variable"
    name: str
    file: str | None
    line: int | None
    was: str | None

    @property
    def target(self) -> str:
        return f"variable {self.name}"

    def sentence(self) -> str:
        place = f"{self.file}:{self.line}" if self.file else "the option file"
        return f"take {self.name} out of {place}"


class SetSysctl(Record):
    kind: Literal["sysctl"] = "sysctl"
    name: str
    """`vm.swappiness`."""
    value: str
    was: str | None

    @property
    def target(self) -> str:
        return f"sysctl {self.name}"

    def sentence(self) -> str:
        return f"{self.name} = {self.value}" + (f" (now {self.was})" if self.was is not None else "")


QueueAttribute = Literal["scheduler", "read_ahead_kb", "nr_requests"]


class SetQueue(Record):
    """An attribute of a disk's queue: /sys/block/DISK/queue/ATTRIBUTE now, a udev rule for later."""

    kind: Literal["disk queue"] = "disk queue"
    disk: str
    """Kernel name, `sda`."""
    attribute: QueueAttribute
    value: str
    was: str | None

    @property
    def target(self) -> str:
        return f"queue {self.disk}/{self.attribute}"

    def sentence(self) -> str:
        now = f" (now {self.was})" if self.was is not None else ""
        return f"{self.attribute} of {self.disk} = {self.value}{now}"


class SetArray(Record):
    """/sys/block/ARRAY/md/ATTRIBUTE now, a udev rule for later."""

    kind: Literal["array"] = "array"
    array: str
    attribute: Literal["stripe_cache_size"]
    value: str
    was: str | None

    @property
    def target(self) -> str:
        return f"array {self.array}/{self.attribute}"

    def sentence(self) -> str:
        now = f" (now {self.was})" if self.was is not None else ""
        return f"{self.attribute} of {self.array} = {self.value}{now}"


class SetMountOptions(Record):
    """Options of a mount: remounted now, in /etc/fstab for later."""

    kind: Literal["mount options"] = "mount options"
    mount_point: str
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    was: tuple[str, ...] | None

    @property
    def target(self) -> str:
        return f"mount {self.mount_point} {','.join((*self.add, *self.remove))}"

    def sentence(self) -> str:
        steps = [f"with {','.join(self.add)}"] if self.add else []
        steps += [f"without {','.join(self.remove)}"] if self.remove else []
        return f"mount {self.mount_point} {' and '.join(steps)}"


class SetUnit(Record):
    """A property of the server's systemd unit, in a drop-in: takes effect at the server's next start."""

    kind: Literal["systemd unit"] = "systemd unit"
    unit: str
    """`mariadb.service`."""
    name: str
    """`LimitNOFILE`."""
    value: str
    was: str | None

    @property
    def target(self) -> str:
        return f"unit {self.unit}/{self.name}"

    def sentence(self) -> str:
        now = f" (now {self.was})" if self.was is not None else ""
        return f"{self.name}={self.value} for {self.unit}{now}"


class SetSysfs(Record):
    """A kernel switch that no sysctl covers: written now, by a tmpfiles.d line at each boot."""

    kind: Literal["kernel switch"] = "kernel switch"
    path: Literal[
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "/sys/kernel/mm/transparent_hugepage/defrag",
    ]
    value: str
    was: str | None

    @property
    def target(self) -> str:
        return f"sysfs {self.path}"

    def sentence(self) -> str:
        now = f" (now {self.was})" if self.was is not None else ""
        return f"{self.value} > {self.path}{now}"


class ByHand(Record):
    """What mydyno does not do by itself: rebuild an array, add an index, set what a managed service owns."""

    kind: Literal["by hand"] = "by hand"
    says: str
    """What to do, one sentence."""
    commands: tuple[str, ...] = ()
    """Exact statements or commands, when there are any."""

    @property
    def target(self) -> str:
        return f"by hand {self.says}"

    def sentence(self) -> str:
        return self.says


Change = Annotated[
    SetVariable
    | RemoveVariable
    | SetSysctl
    | SetQueue
    | SetArray
    | SetMountOptions
    | SetUnit
    | SetSysfs
    | ByHand,
    Field(discriminator="kind"),
]
