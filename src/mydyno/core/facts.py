"""What a plan needs to know of the machine that it is made for."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class HostFacts:
    """Memory and free disk in bytes; CPUs that the process may use. None: could not be read."""

    memory_bytes: int | None
    cpus: int
    free_disk_bytes: int | None
    shares_blocks: bool | None = None
    """Whether files of the lab can be cloned there without being copied (reflink). None: not tried."""
    others: Mapping[str, "HostFacts"] = field(default_factory=dict)
    """Those of other machines that an experiment names, by their name in hosts.yaml; of a fleet all."""
    kernel: str | None = None
    """Its release, of another machine."""


@dataclass(frozen=True)
class AskedDisk:
    """A real block device as an experiment names it."""

    name: str
    """Its stable name."""
    serial: str | None = None
    wipe: bool = False
    host: str | None = None
    """The other machine whose disk it is, by its name in hosts.yaml; None: this one's."""


@dataclass(frozen=True)
class DiskFacts:
    """Facts of a real block device."""

    description: str
    """One line: model, serial, size, signatures."""
    refusals: tuple[str, ...] = ()
    """Every reason why it must not be built on, a clause each."""


@dataclass(frozen=True)
class StorageFacts:
    """What decides which storage can be built on a machine."""

    root: bool
    """Whether mydyno may mount, attach loop devices and create arrays there."""
    kernel: str
    """As uname(1) prints it."""
    filesystems: frozenset[str]
    """Those that this kernel mounts."""
    md: bool
    """Whether this kernel has md, or a module of it to load."""
    loops: bool
    throttling: bool
    """Whether disks of the machine can be limited: cgroup v1's blkio is there, or can be mounted."""
    programs: frozenset[str]
    """Of mdadm, fio and the makers of file systems: those that are installed."""


@dataclass(frozen=True)
class FarStorageFacts(StorageFacts):
    """The same of another machine, where virtual disks are files in mydyno's folder."""

    user: str
    folder: str
    private_mounts: bool
    """Whether a mount namespace can be made: mounts in it go with its last process."""
    direct: bool
    """Whether files in `folder` can be written past the page cache."""


@dataclass(frozen=True)
class GroundFacts(StorageFacts):
    """What decides which environments this machine has, and what each of them can do."""

    agent: bool
    """Whether mydyno-agent, which runs commands in every environment, is installed."""
    ssh: bool
    """Whether OpenSSH's client is installed."""
    fetches: bool
    """Whether Debian packages can be downloaded and unpacked: a missing User-Mode Linux kernel is."""
    uml_kernels: tuple[str, ...]
    """Versions of the User-Mode Linux kernels that are at hand."""
    uml_kernel: str
    """The version that a guest boots when none is configured, at hand or not."""
    qemu: bool
    """QEMU, and qemu-img for the disks of its guests."""
    kvm: bool | None
    """Whether a guest was seen to boot with KVM; None: it has not been tried."""
    vm_kernels: tuple[str, ...]
    """Versions of the guest kernels that are built."""
    vm_kernel: str | None
    """The version that a guest boots when none is configured, built or not; None: no root is built."""
    disks: Mapping[AskedDisk, DiskFacts] = field(default_factory=dict)
    suite_kernels: tuple[str, ...] = ()
    """Versions whose Debian suite is settled. That of the moving suite, sid, is newer."""
    others: Mapping[str, FarStorageFacts] = field(default_factory=dict)
    """Of the other machines that an experiment names, by their name in hosts.yaml; of a fleet all."""
