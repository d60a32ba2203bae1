"""What a setup needs of its environment, and what each one offers from this machine: local, uml, vm, ssh.

Pure: the facts about the machine come in. Sources for the kernels: reiserfs was removed in 6.13, md's
`linear` was removed in 6.8 and came back in 6.14 (kernelnewbies.org, "Linux 6.8", "6.13", "6.14").
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import get_args

from mydyno.core.document.tree import Location
from mydyno.core.facts import FarStorageFacts, GroundFacts, StorageFacts
from mydyno.core.grounds import KINDS, HostKind
from mydyno.core.raid import level_title
from mydyno.lab.spec import FileSystem, Host, Setup, Volume, kernel_version

FILESYSTEMS = tuple(kind for kind in get_args(FileSystem) if kind != "raw")
CAPABILITIES = ("boots", "md", "linear", *FILESYSTEMS, "throttling", "real disks")
"""What may be required of an environment. `boots`: it can be used at all."""
DISKS = "disks"
"""What is required of another machine besides, which can be used without it: that storage can be built."""
FILES = "disks of files"
"""The same of virtual disks."""
_FAR = (DISKS, FILES)

MAKERS = {
    "ext2": "mke2fs", "ext3": "mke2fs", "ext4": "mke2fs", "xfs": "mkfs.xfs", "btrfs": "mkfs.btrfs",
    "jfs": "mkfs.jfs", "reiserfs": "mkreiserfs", "f2fs": "mkfs.f2fs",
}  # fmt: skip
"""File system -> the program that makes it."""
PACKAGES = {
    "mdadm": "mdadm", "mke2fs": "e2fsprogs", "mkfs.xfs": "xfsprogs", "mkfs.btrfs": "btrfs-progs",
    "mkfs.jfs": "jfsutils", "mkreiserfs": "reiserfsprogs", "mkfs.f2fs": "f2fs-tools", "fio": "fio",
}  # fmt: skip
"""Program -> its Debian package."""

_REISERFS_GONE = (6, 13)
_LINEAR_GONE = ((6, 8), (6, 14))


@dataclass(frozen=True)
class Offer:
    """Whether an environment has a capability; when not, why, and how to get it where that is possible."""

    has: bool
    why: str = ""
    hint: str | None = None
    program: str | None = None
    """The program of this machine that is all that it lacks."""


@dataclass(frozen=True)
class Need:
    """A requirement of a setup on its environment: which capability, in which words, and where it says so."""

    capability: str
    what: str
    location: Location


HAS = Offer(True)
_ON_A_FLEET = Offer(False, "they are named by their ids, each a disk of one machine", "host: ssh:NAME")
_A_FILE = Offer(False, "a guest's disks are files")
_NO_AGENT = Offer(False, "mydyno-agent is not installed", "pip install . again, or name it in MYDYNO_AGENT")
_TO_FETCH = "apt-get and dpkg-deb with Debian's package sources, to fetch one"


def needs_of(setup: Setup) -> Iterator[Need]:
    """What the environment of this setup must have; nothing for this machine without storage and limits."""
    at: Location = ("setup",)
    if setup.host.kind != "local" or setup.storage is not None:
        yield Need("boots", f"host {setup.host.kind}", (*at, "host"))
    if setup.host.kind == "ssh" and setup.storage is not None:
        yield Need(DISKS, "storage", (*at, "host"))
        if any(not volume.disks.devices for volume in setup.storage.volumes.values()):
            yield Need(FILES, "storage", (*at, "host"))
    for name, volume in setup.storage.volumes.items() if setup.storage else ():
        yield from _of_volume(volume, (*at, "storage", name))


def _of_volume(volume: Volume, at: Location) -> Iterator[Need]:
    if volume.raid != "none":
        yield Need("linear" if volume.raid == "linear" else "md", level_title(volume.raid), (*at, "raid"))
    if volume.filesystem != "raw":
        yield Need(volume.filesystem, volume.filesystem, (*at, "filesystem"))
    for key in ("iops", "bandwidth"):
        if getattr(volume.disks, key) is not None:
            yield Need("throttling", f"a limit of {key}", (*at, "disks", key))
    if volume.disks.devices:
        yield Need("real disks", "real disks", (*at, "disks", "devices"))


def offer(capability: str, ground: HostKind, facts: GroundFacts, kernel: str | None = None) -> Offer:
    """What `ground` has to say to one capability, with the kernel of that version where it has several.

    Of `ssh` whether it can be used at all: what it has is each machine's (`far_offer`).
    """
    match ground:
        case "local":
            return _local(capability, facts)
        case "uml":
            return _uml(capability, facts, kernel)
        case "vm":
            return _vm(capability, facts, kernel)
        case "ssh":
            return _ssh(facts)


def far_facts(host: Host, facts: GroundFacts) -> Mapping[str, FarStorageFacts]:
    """Those of the other machines on which a setup with this host is built; of a fleet all."""
    return {name: there for name, there in facts.others.items() if host.is_fleet or name == host.name}


def offers_to(capability: str, host: Host, facts: GroundFacts) -> Iterator[tuple[str | None, Offer]]:
    """What the environment that a setup names has to say: of other machines each with its name."""
    if host.kind != "ssh" or capability == "boots":
        yield None, offer(capability, host.kind, facts, host.kernel)
        return
    if host.is_fleet and capability == "real disks":
        yield None, _ON_A_FLEET
        return
    for name, there in far_facts(host, facts).items():
        yield name, far_offer(capability, there)


def far_offer(capability: str, facts: FarStorageFacts) -> Offer:
    """What another machine has to say to one capability."""
    match capability:
        case "disks":
            return _far_disks(facts)
        case "disks of files":
            return _far_files(facts)
        case _:
            return _of_kernel(capability, f"its kernel {facts.kernel}", facts)


def _far_disks(facts: FarStorageFacts) -> Offer:
    if not facts.root:
        return Offer(
            False,
            f"disks and mounts need root, and mydyno is {facts.user} there",
            "a destination in hosts.yaml that is root's, as root@db1.example",
        )
    if not facts.private_mounts:
        why = "it does not permit a mount namespace (unshare --mount)"
        return Offer(False, why, "a machine or a container with the capability CAP_SYS_ADMIN")
    return HAS


def _far_files(facts: FarStorageFacts) -> Offer:
    if not facts.loops:
        return Offer(False, f"its kernel {facts.kernel} has no loop devices", "modprobe loop there")
    if not facts.direct:
        why = f"the file system of {facts.folder} has no direct I/O: disks in it would be memory"
        return Offer(False, why, "`folder` in hosts.yaml on ext4, xfs or btrfs")
    return HAS


def able(need: Need, setup: Setup, facts: GroundFacts) -> list[HostKind]:
    """The other environments of this machine that meet the need; one that does not boot has to
    be exchanged for one that meets all needs of the setup."""
    everything = need.capability in ("boots", *_FAR)
    wanted = [each.capability for each in needs_of(setup)] if everything else [need.capability]
    kernel = setup.host.kernel
    return [
        ground
        for ground in KINDS
        # Another machine is one that hosts.yaml names.
        if ground not in (setup.host.kind, "ssh")
        and not (ground == "local" and kernel)
        and all(
            offer(capability, ground, facts, kernel).has
            for capability in ("boots", *wanted)
            if capability not in _FAR
        )
    ]


def disks_needed(setup: Setup) -> int:
    """The disks of all volumes."""
    return sum(volume.disks.number for volume in setup.storage.volumes.values()) if setup.storage else 0


def default_kernel(ground: HostKind, facts: GroundFacts) -> str | None:
    """The kernel that `ground` runs when no version is configured; None when it has none."""
    return {"local": facts.kernel, "uml": facts.uml_kernel, "vm": facts.vm_kernel, "ssh": None}[ground]


def is_fetched(setup: Setup, facts: GroundFacts) -> str | None:
    """The User-Mode Linux kernel that has to be downloaded for this setup; None: it is here, or none is."""
    version = setup.host.kernel or facts.uml_kernel
    return version if setup.host.kind == "uml" and not has_kernel(version, facts.uml_kernels) else None


def has_kernel(version: str, kernels: tuple[str, ...]) -> bool:
    """Whether 6.1 is among 6.1.176 and 5.10."""
    return any(kernel == version or kernel.startswith(f"{version}.") for kernel in kernels)


def _local(capability: str, facts: GroundFacts) -> Offer:
    running = f"this machine's kernel {facts.kernel}"
    match capability:
        case "boots":
            if not facts.root:
                return Offer(False, "building storage on this machine itself needs root")
            if not facts.agent:
                return _NO_AGENT
            if not facts.loops:
                return Offer(False, f"{running} has no loop devices", "modprobe loop")
            return HAS
        case _:
            return _of_kernel(capability, running, facts)


def _of_kernel(capability: str, running: str, facts: StorageFacts) -> Offer:
    """What a machine itself has, whose kernel is called `running`."""
    match capability:
        case "md" | "linear":
            if not facts.md:
                return Offer(False, f"{running} has no md")
            return _mdadm(facts) if capability == "md" else _linear(facts.kernel, _mdadm(facts))
        case "throttling":
            missing = "cgroup v1's blkio is not there and cannot be mounted (cgroup v2 uses io)"
            return HAS if facts.throttling else Offer(False, missing)
        case "real disks":
            return HAS if facts.root else Offer(False, "writing to real disks needs root")
        case _:
            if capability not in facts.filesystems:
                return Offer(False, f"{running} has no {capability}")
            return _maker(capability, facts)


def _uml(capability: str, facts: GroundFacts, kernel: str | None) -> Offer:
    version = kernel or facts.uml_kernel
    match capability:
        case "boots":
            if not facts.agent:
                return _NO_AGENT
            # One of three numbers names a kernel that is here, or none.
            if has_kernel(version, facts.uml_kernels):
                return HAS
            if not _in_a_suite(version, facts):
                return _no_suite(version, facts)
            if facts.fetches and version.count(".") == 1:
                return HAS
            there = ", ".join(facts.uml_kernels) or "none"
            why = f"there is no User-Mode Linux kernel {version} (there is {there})"
            return Offer(False, why, None if facts.fetches else _TO_FETCH)
        case "md":
            return _mdadm(facts)
        case "linear":
            return _linear(version, _mdadm(facts))
        case "throttling":
            return HAS
        case "real disks":
            return _A_FILE
        case _:
            # The guest's root is this machine's own, with this machine's programs.
            return _kept(capability, version, _maker(capability, facts))


def _vm(capability: str, facts: GroundFacts, kernel: str | None) -> Offer:
    version = kernel or default_kernel("vm", facts)
    match capability:
        case "boots":
            if not facts.agent:
                return _NO_AGENT
            if not facts.qemu:
                hint = "apt-get install qemu-system-x86 qemu-utils"
                return Offer(False, "QEMU or its qemu-img is not installed", hint)
            if facts.vm_kernel is None or version is None:
                return Offer(False, "no guest image is built", "mydyno images build")
            if not has_kernel(version, facts.vm_kernels):
                if not _in_a_suite(version, facts):
                    return _no_suite(version, facts)
                hint = f"mydyno images build --kernel {version}"
                return Offer(False, f"there is no guest kernel {version}", hint)
            return HAS
        case "md" | "throttling":
            return HAS
        case "linear":
            return _linear(version, HAS)
        case "real disks":
            return _A_FILE
        case _:
            return _kept(capability, version, HAS)


def _ssh(facts: GroundFacts) -> Offer:
    if not facts.ssh:
        return Offer(False, "the ssh of OpenSSH is not installed", "apt-get install openssh-client")
    return HAS if facts.agent else _NO_AGENT


def _in_a_suite(version: str, facts: GroundFacts) -> bool:
    """Whether a Debian suite has, or may have, this kernel: sid's is newer than the settled ones."""
    settled = facts.suite_kernels
    return (
        not settled
        or version in settled
        or version.count(".") != 1
        or kernel_version(version) > max(map(kernel_version, settled))
    )


def _no_suite(version: str, facts: GroundFacts) -> Offer:
    here = ", ".join(facts.suite_kernels)
    return Offer(
        False, f"no suite of Debian has the kernel {version}", f"host.kernel: one of {here}, or sid's"
    )


def _mdadm(facts: StorageFacts) -> Offer:
    return HAS if "mdadm" in facts.programs else _not_installed("mdadm")


def _maker(filesystem: str, facts: StorageFacts) -> Offer:
    program = MAKERS[filesystem]
    return HAS if program in facts.programs else _not_installed(program)


def _not_installed(program: str) -> Offer:
    hint = f"apt-get install {PACKAGES[program]}"
    return Offer(False, f"{program} is not installed", hint, program)


def _kept(filesystem: str, kernel: str | None, otherwise: Offer) -> Offer:
    """reiserfs is not in every kernel."""
    if filesystem == "reiserfs" and kernel is not None and kernel_version(kernel) >= _REISERFS_GONE:
        return Offer(False, f"kernel {kernel} has no reiserfs: removed in 6.13", "an older host.kernel")
    return otherwise


def _linear(kernel: str | None, otherwise: Offer) -> Offer:
    gone, back = _LINEAR_GONE
    if otherwise.has and kernel is not None and gone <= kernel_version(kernel) < back:
        return Offer(False, f"kernel {kernel} has no linear: removed in 6.8, back in 6.14")
    return otherwise
