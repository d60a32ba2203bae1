"""One step that a finding recommends, as data: what `apply` carries out and `prove` measures."""

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from mydyno.core.record import Record


class _Change(Record):
    """What every kind has: TARGET and SENTENCE are filled in from its fields."""

    TARGET: ClassVar[str]
    """What it changes: `sysctl vm.swappiness`."""
    SENTENCE: ClassVar[str]
    """`{now}` is ` (now OLD)`, or empty where the present value is not known."""
    KERNEL_FILE: ClassVar[str | None] = None

    @property
    def target(self) -> str:
        return self.TARGET.format(**dict(self))

    @property
    def kernel_file(self) -> str | None:
        """The file below /proc or /sys that has the value; None: no such file."""
        return self.KERNEL_FILE.format(**dict(self)) if self.KERNEL_FILE else None

    def sentence(self) -> str:
        was = dict(self).get("was")
        return self.SENTENCE.format(**dict(self), now=f" (now {was})" if was is not None else "")


class SetVariable(_Change):
    """A server variable: in a separate option file, and at once where the server takes it."""

    TARGET, SENTENCE = "variable {name}", "{name} = {value}{now}"
    kind: Literal["server variable"] = "server variable"
    name: str
    """In this release's own name."""
    value: str
    """As an option file takes it: `1G`, `ON`, `O_DIRECT`."""
    was: str | None
    """In force when the facts were read; None: not known."""
    restart: bool
    """Whether only a restart brings it."""


class RemoveVariable(_Change):
    """A line of an option file that should go: ignored, deprecated, or refused by the next release."""

    TARGET, SENTENCE = "variable {name}", "take {name} out of the option file"
    kind: Literal["remove server variable"] = "remove server variable"
    name: str
    file: str | None
    line: int | None
    was: str | None

    def sentence(self) -> str:
        return f"take {self.name} out of {self.file}:{self.line}" if self.file else super().sentence()


class SetSysctl(_Change):
    TARGET, SENTENCE = "sysctl {name}", "{name} = {value}{now}"
    kind: Literal["sysctl"] = "sysctl"
    name: str
    """`vm.swappiness`."""
    value: str
    was: str | None

    @property
    def kernel_file(self) -> str:
        return f"/proc/sys/{self.name.replace('.', '/')}"


QueueAttribute = Literal["scheduler", "read_ahead_kb", "nr_requests"]


class SetQueue(_Change):
    """An attribute of a disk's queue: /sys/block/DISK/queue/ATTRIBUTE now, a udev rule for later."""

    TARGET, SENTENCE = "queue {disk}/{attribute}", "{attribute} of {disk} = {value}{now}"
    KERNEL_FILE = "/sys/block/{disk}/queue/{attribute}"
    kind: Literal["disk queue"] = "disk queue"
    disk: str
    """Kernel name, `sda`."""
    attribute: QueueAttribute
    value: str
    was: str | None


class SetArray(_Change):
    """/sys/block/ARRAY/md/ATTRIBUTE now, a udev rule for later."""

    TARGET, SENTENCE = "array {array}/{attribute}", "{attribute} of {array} = {value}{now}"
    KERNEL_FILE = "/sys/block/{array}/md/{attribute}"
    kind: Literal["array"] = "array"
    array: str
    attribute: Literal["stripe_cache_size"]
    value: str
    was: str | None


class SetMountOptions(_Change):
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
        return f"mount {self.mount_point} {with_and_without(self.add, self.remove)}"


class SetUnit(_Change):
    """A property of the server's systemd unit, in a drop-in: takes effect at the server's next start."""

    TARGET, SENTENCE = "unit {unit}/{name}", "{name}={value} for {unit}{now}"
    kind: Literal["systemd unit"] = "systemd unit"
    unit: str
    """`mariadb.service`."""
    name: str
    """`LimitNOFILE`."""
    value: str
    was: str | None


class SetSysfs(_Change):
    """A kernel switch that no sysctl covers: written now, by a tmpfiles.d line at each boot."""

    TARGET, SENTENCE, KERNEL_FILE = "sysfs {path}", "{value} > {path}{now}", "{path}"
    kind: Literal["kernel switch"] = "kernel switch"
    path: Literal[
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "/sys/kernel/mm/transparent_hugepage/defrag",
    ]
    value: str
    was: str | None


class ByHand(_Change):
    """What mydyno does not do by itself: rebuild an array, add an index, set what a managed service owns."""

    TARGET, SENTENCE = "by hand {says}", "{says}"
    kind: Literal["by hand"] = "by hand"
    says: str
    """What to do, one sentence."""
    commands: tuple[str, ...] = ()
    """Exact statements or commands, when there are any."""


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


def with_and_without(added: Sequence[str], removed: Sequence[str]) -> str:
    """`with noatime and without relatime`."""
    parts = (("with", added), ("without", removed))
    return " and ".join(f"{word} {','.join(options)}" for word, options in parts if options)
