"""A QEMU machine as a value, and the command line that starts it. Nothing here touches the world."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Accelerator = Literal["kvm", "tcg"]
"""The CPU's own virtualisation, or QEMU's translation of every instruction."""

CHANNEL = "mydyno"
"""The name of the serial port that the agent in the guest listens on."""

ROOT_SERIAL = "root"

# Below it are the root, the serial ports and the shared folders, so that the root is the first disk.
_FIRST_SLOT = 0x10

_ACCESS = {
    "passthrough": "security_model=passthrough",
    "mapped-xattr": "security_model=mapped-xattr",
    # Shows owners, modes and links as they are, and needs no root for it.
    "read-only": "security_model=none,readonly=on",
}

_ACCELERATION = {"kvm": "kvm", "tcg": "tcg,thread=multi"}


@dataclass(frozen=True)
class DiskImage:
    """A file that is a disk of the guest. `serial` names it there and to QEMU: data0, log1."""

    serial: str
    file: Path
    format: Literal["raw", "qcow2"] = "raw"


@dataclass(frozen=True)
class SharedFolder:
    """A folder of this machine that the guest mounts by 9p. `tag` names it there."""

    tag: str
    folder: Path
    access: Literal["passthrough", "mapped-xattr", "read-only"]
    """How owners and modes are kept: as they are, which needs root here, or in extended attributes; what is
    read-only shows them as they are."""


@dataclass(frozen=True)
class Machine:
    """Everything that a guest is started with, but the descriptors that it inherits."""

    name: str
    """Is alone among QEMU's arguments, so that a stray process is found by it."""
    kernel: Path
    initrd: Path
    root: Path
    accelerator: Accelerator
    memory_bytes: int
    cpus: int
    disks: tuple[DiskImage, ...] = ()
    folders: tuple[SharedFolder, ...] = ()


def command_line(machine: Machine, *, channel: int, control: int, console: Path) -> list[str]:
    """QEMU's argv. `channel` and `control` are inherited descriptors of connected sockets.

    The guest has no network card. `-no-reboot` and `panic=-1` make a kernel that panics end QEMU.
    """
    argv = [
        "qemu-system-x86_64",
        *("-name", machine.name),
        *base(machine.accelerator),
        *("-smp", str(machine.cpus)),
        *("-m", f"{machine.memory_bytes // 2**20}M"),
        *("-kernel", str(machine.kernel)),
        *("-initrd", str(machine.initrd)),
        *("-append", kernel_line("rdinit=/mydyno/mydyno-agent -- init /config.json")),
        *("-chardev", f"file,id=console,path={escaped(console)},append=on", "-serial", "chardev:console"),
        *("-chardev", f"socket,id=control,fd={control}", "-mon", "chardev=control,mode=control"),
        *("-device", "virtio-serial-pci", "-chardev", f"socket,id=channel,fd={channel}"),
        *("-device", f"virtserialport,chardev=channel,name={CHANNEL}"),
        *_disk(DiskImage(ROOT_SERIAL, machine.root), "read-only=on", ""),
    ]
    for number, disk in enumerate(machine.disks):
        # Straight to the file, past this machine's page cache; from a thread pool, since Linux's native
        # asynchronous I/O falls back to blocking where blocks of a sparse file are not there yet.
        argv += _disk(disk, "cache=none,aio=threads,discard=unmap", _place(number))
    for folder in machine.folders:
        place = f"local,id={folder.tag},path={escaped(folder.folder)},{_ACCESS[folder.access]}"
        argv += ["-fsdev", place, "-device", f"virtio-9p-pci,fsdev={folder.tag},mount_tag={folder.tag}"]
    return argv


def base(accelerator: Accelerator) -> Sequence[str]:
    """What every start of QEMU has here: no devices but those named, no display, no user's settings."""
    return (
        *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *("-machine", "q35", "-accel", _ACCELERATION[accelerator], "-cpu", "max"),
    )


def kernel_line(rest: str) -> str:
    """The kernel's command line. Mitigations against other users of the CPU guard nothing in a guest
    that has one user, and double the price of a system call under TCG. The timer check counts ticks for 10 ms
    of the host's time: on a busy host it fails under TCG and the guest hangs ("8254 timer not connected to
    IO-APIC", github.com/cirros-dev/cirros issue 69). Under KVM the kernel leaves it out by itself."""
    return f"console=ttyS0 quiet panic=-1 mitigations=off no_timer_check {rest}"


def escaped(path: Path) -> str:
    """A path as a value inside a comma-separated option of QEMU."""
    return str(path).replace(",", ",,")


def _disk(disk: DiskImage, options: str, place: str) -> list[str]:
    drive = f"file={escaped(disk.file)},format={disk.format},if=none,id=drive-{disk.serial},{options}"
    device = f"virtio-blk-pci,id={disk.serial},serial={disk.serial},drive=drive-{disk.serial}{place}"
    return ["-drive", drive, "-device", device]


def _place(number: int) -> str:
    """Where on the PCI bus a disk is: eight share a slot, since there are 32 slots and more disks."""
    return f",multifunction=on,addr={_FIRST_SLOT + number // 8:#x}.{number % 8}"
