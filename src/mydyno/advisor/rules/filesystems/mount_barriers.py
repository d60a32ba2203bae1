"""Mounts that do not flush the disk's cache at a sync.

A file system flushes the disk's own cache at each sync, so that what is reported as written is. With
nobarrier (barrier=0) it does not: commits are faster, and at a power cut what lay in the disk's cache is
gone or, worse, out of order, so that neither journal nor redo log can repair it. A disk or controller with
a battery or capacitors reports its cache as safe and is sent no flushes anyway, so the option gains nothing
there. XFS took the option away in Linux 4.19.
"""

from mydyno.advisor.rules import *

_WITHOUT = ("nobarrier", "barrier=0", "barrier=none")
_REMOUNTED = ("ext3", "ext4", "btrfs")
"""Those that change it by a remount, which has to name the default: what is not named stays."""


@Rule(
    checks="whether file systems flush the disk's cache at a sync",
    why="Without barriers a sync ends while the data is in the disk's volatile cache.",
    expected="data that survives a power cut, at the cost of the flushes",
    durability="raises: commits survive a power cut",
    risk="commits become slower on disks whose cache has no battery",
    sources=(
        "ext4(5), barrier; nobarrier",
        "Linux kernel documentation, The SGI XFS Filesystem, removed mount options",
        "Linux kernel documentation, Explicit volatile write back cache control",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    mounted = require(places(system) or None, "the mount options under the server's files")
    without = [
        (filesystem, files) for filesystem, files in mounted if set(_WITHOUT) & set(filesystem.options)
    ]
    if not without:
        return Fine(
            f"{', '.join(filesystem.mount_point for filesystem, _ in mounted)} flush the disks' caches at a "
            "sync"
        )
    storage = system.host.storage if system.host else None
    caches = {
        disk.name: disk.write_cache or "not known"
        for filesystem, _ in without
        for disk in (storage.disks_of(filesystem) if storage else ())
    }
    return finding(
        title=f"A power cut can lose or tear what was committed: {without[0][0].mount_point} has no barriers",
        evidence=(
            *(
                f"{filesystem.mount_point} ({files}): "
                f"{', '.join(word for word in filesystem.options if word in _WITHOUT)}"
                for filesystem, files in without
            ),
            *(f"write cache of {name}: {cache}" for name, cache in caches.items()),
        ),
        recommendation="mount with barriers, which is the default",
        changes=tuple(
            SetMountOptions(
                mount_point=filesystem.mount_point,
                add=("barrier",),
                remove=tuple(word for word in _WITHOUT if word in filesystem.options),
                was=filesystem.options,
            )
            if filesystem.kind in _REMOUNTED
            else ByHand(says=f"remove the option from /etc/fstab, and remount {filesystem.mount_point}")
            for filesystem, _ in without
        ),
        severity=Severity.CRITICAL,
        effect=better("safety", "large"),
        durability="raises",
        durability_says="commits survive a power cut, which they may not now",
    )
