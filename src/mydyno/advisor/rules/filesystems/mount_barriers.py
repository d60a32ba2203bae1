"""Mounts that do not tell the disk to keep what was synced.

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


def _judge(system: System, _: Targets) -> Judgement:
    found = places(system)
    if not found:
        return Unknown("the mount options under the server's files")
    without = [(each, files) for each, files in found if set(_WITHOUT) & set(each.options)]
    if not without:
        return Fine(f"{', '.join(each.mount_point for each, _ in found)} flush the disks' caches at a sync")
    storage = system.host.storage if system.host else None
    caches = {
        disk.name: disk.write_cache or "not known"
        for each, _ in without
        for disk in (storage.disks_of(each) if storage else ())
    }
    return RULE.finding(
        title=f"A power cut can lose or tear what was committed: {without[0][0].mount_point} has no barriers",
        evidence=(
            *(
                f"{each.mount_point} ({files}): "
                f"{', '.join(word for word in each.options if word in _WITHOUT)}"
                for each, files in without
            ),
            *(f"write cache of {name}: {cache}" for name, cache in caches.items()),
        ),
        recommendation="mount with barriers, which is the default",
        changes=tuple(
            SetMountOptions(
                mount_point=each.mount_point,
                add=("barrier",),
                remove=tuple(word for word in _WITHOUT if word in each.options),
                was=each.options,
            )
            if each.kind in _REMOUNTED
            else ByHand(says=f"take the option out of /etc/fstab, and mount {each.mount_point} anew")
            for each, _ in without
        ),
        severity=Severity.CRITICAL,
        effect=better(
            "safety",
            "large",
            "a commit is on the disk when it is reported; commits cost what the disk's flush costs, "
            "which is nothing where its cache has a battery",
        ),
        durability="raises",
        durability_says="commits outlive a power cut, which they may not now",
        risk="commits become slower on disks whose cache has no battery: by as much as was wrongly saved",
    )


RULE = Rule(
    checks="whether file systems flush the disk's cache at a sync",
    why="Without barriers a sync ends while the data lies in the disk's volatile cache.",
    expected="data that a power cut does not tear, at the price of the flushes",
    durability="raises: commits outlive a power cut",
    risk="slower commits without a battery",
    sources=(
        "ext4(5), barrier; nobarrier",
        "Linux kernel documentation, The SGI XFS Filesystem, removed mount options",
        "Linux kernel documentation, Explicit volatile write back cache control",
    ),
    judge=_judge,
)
